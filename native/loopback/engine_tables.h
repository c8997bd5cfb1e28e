// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "abi_guard.h"
#include "engine.h"
#include "handle_table.h"
#include "live_handles.h"

// Engines and batches behind their handles.
namespace gatun::loopback {

using EngineTable = HandleTable<Engine, 2>;
using BatchTable = HandleTable<std::shared_ptr<TransferBatch>, 3>;

// Leaked on purpose: handles may be used while the process exits.
EngineTable& engines();
BatchTable& batches();

// Closes the batches of an engine that is being destroyed.
void close_batches(Engine& engine);

template <typename Answer, typename Body>
Answer on_engine(transfer_engine_t handle, Answer unknown, Body&& body) noexcept {
  return guarded(unknown, [&]() -> Answer {
    const auto engine = engines().pin(reinterpret_cast<uint64_t>(handle));
    return engine ? body(*engine) : unknown;
  });
}

}  // namespace gatun::loopback

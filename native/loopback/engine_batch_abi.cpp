// SPDX-License-Identifier: Apache-2.0
// Batches: allocate, submit, poll, free.
#include <cstring>

#include "codes.h"
#include "engine_notices.h"
#include "engine_tables.h"
#include "faults.h"

namespace gatun::loopback {

BatchTable& batches() {
  static BatchTable* const table = new BatchTable;
  return *table;
}

int64_t live_batches() {
  return batches().live();
}

void close_batches(Engine& engine) {
  for (const uint64_t id : engine.take_batches()) batches().close(id).reset();
}

namespace {

// The real library reserves as many slots and ends the process when it cannot. Unmeasured default.
constexpr size_t kMaxBatchCapacity = 1 << 20;

// Runs on a live batch of a live engine; 1 otherwise.
template <typename Body>
int on_batch(transfer_engine_t handle, batch_id_t id, Body&& body) noexcept {
  return on_engine<int>(handle, kStatusInvalidArgument, [&](Engine& engine) -> int {
    const auto batch = batches().pin(id);
    if (!batch || (*batch)->engine() != reinterpret_cast<uint64_t>(handle)) return kStatusInvalidArgument;
    return body(engine, **batch);
  });
}

bool valid(const transfer_request& request) {
  const bool known = request.opcode == OPCODE_READ || request.opcode == OPCODE_WRITE;
  return known && (request.source != nullptr || request.length == 0);
}

int submit(Engine& engine, TransferBatch& batch, const transfer_request* requests, size_t count,
           std::optional<Notice> notice) {
  if (int code; answered(FaultPoint::kEngineSubmit, code)) return code;
  if (count == 0) return kOk;
  if (requests == nullptr || count > kMaxBatchCapacity)
    return requests == nullptr ? kStatusInvalidArgument : kStatusTooManyRequests;
  if (!batch.has_room(count)) return kStatusTooManyRequests;
  std::vector<Target> targets(count);
  for (size_t i = 0; i < count; i++) {
    if (!valid(requests[i]) || !engine.target_of(requests[i].target_id, targets[i])) return kStatusInvalidArgument;
  }
  if (!engine.has_transport()) return kStatusNoTransport;
  return batch.submit(requests, std::move(targets), std::move(notice));
}

}  // namespace
}  // namespace gatun::loopback

using namespace gatun::loopback;

extern "C" {

batch_id_t allocateBatchID(transfer_engine_t engine, size_t batch_size) {
  if (batch_size > kMaxBatchCapacity) return INVALID_BATCH;
  return on_engine<batch_id_t>(engine, INVALID_BATCH, [&](Engine& live) -> batch_id_t {
    auto batch = std::make_shared<TransferBatch>(reinterpret_cast<uint64_t>(engine), batch_size, live.gate());
    const uint64_t id = batches().open(std::make_unique<std::shared_ptr<TransferBatch>>(std::move(batch)));
    if (id == 0) return INVALID_BATCH;
    live.adopt_batch(id);
    return id;
  });
}

int submitTransfer(transfer_engine_t engine, batch_id_t batch_id, struct transfer_request* requests, size_t count) {
  return on_batch(engine, batch_id, [&](Engine& live, TransferBatch& batch) {
    return submit(live, batch, requests, count, std::nullopt);
  });
}

int submitTransferWithNotify(transfer_engine_t engine, batch_id_t batch_id, struct transfer_request* requests,
                             size_t count, notify_msg_t message) {
  if (count == 0 || message.name == nullptr || message.msg == nullptr) return kStatusInvalidArgument;
  return on_batch(engine, batch_id, [&](Engine& live, TransferBatch& batch) {
    return submit(live, batch, requests, count, Notice{as_utf8(message.name), as_utf8(message.msg)});
  });
}

int getTransferStatus(transfer_engine_t engine, batch_id_t batch_id, size_t task_id, struct transfer_status* status) {
  if (status == nullptr) return kStatusInvalidArgument;
  return on_batch(engine, batch_id, [&](Engine&, TransferBatch& batch) -> int {
    if (int code; answered(FaultPoint::kEngineStatus, code)) return code;
    return batch.poll(task_id, *status);
  });
}

int freeBatchID(transfer_engine_t engine, batch_id_t batch_id) {
  const int code = on_batch(engine, batch_id, [&](Engine&, TransferBatch& batch) -> int {
    const Fault fault = reach(FaultPoint::kEngineFreeBatch);
    if (fault.fails()) return static_cast<int>(fault.code);
    return batch.observed() ? kOk : kStatusBatchBusy;
  });
  if (code != kOk) return code;
  // Not on the batch any more: closing it waits for whoever is.
  return on_engine<int>(engine, kStatusInvalidArgument, [&](Engine& live) {
    if (batches().close(batch_id) == nullptr) return kStatusInvalidArgument;
    live.forget_batch(batch_id);
    return kOk;
  });
}

}  // extern "C"

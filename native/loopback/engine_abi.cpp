// SPDX-License-Identifier: Apache-2.0
// The 27 engine functions: handle and NULL checks, then the engine. Batches are in engine_batch_abi.cpp.
#include <cstdlib>
#include <cstring>
#include <string>

#include "abi_guard.h"
#include "codes.h"
#include "engine_notices.h"
#include "engine_tables.h"
#include "faults.h"

namespace gatun::loopback {

EngineTable& engines() {
  static EngineTable* const table = new EngineTable;
  return *table;
}

int64_t live_engines() {
  return engines().live();
}

}  // namespace gatun::loopback

using namespace gatun::loopback;

namespace {

// Registrations and openings share a shape: a fault point, then the engine.
template <typename Body>
int at_point(transfer_engine_t handle, FaultPoint point, Body&& body) noexcept {
  return on_engine<int>(handle, kEngineInvalidArgument, [&](Engine& engine) -> int {
    if (int code; answered(point, code)) return code;
    return body(engine);
  });
}

segment_id_t open_segment(transfer_engine_t handle, const char* name, bool refresh) {
  if (name == nullptr) return -1;
  return at_point(handle, FaultPoint::kEngineOpenSegment,
                  [&](Engine& engine) { return engine.open_segment(name, refresh); });
}

}  // namespace

extern "C" {

transfer_engine_t createTransferEngine(const char* metadata_conn_string, const char* local_server_name,
                                       const char* ip_or_host_name, uint64_t rpc_port, int auto_discover) {
  (void)rpc_port;
  if (metadata_conn_string == nullptr || local_server_name == nullptr || ip_or_host_name == nullptr) return nullptr;
  return guarded(transfer_engine_t{nullptr}, [&]() -> transfer_engine_t {
    if (std::strcmp(metadata_conn_string, "P2PHANDSHAKE") != 0 || *local_server_name == '\0') return nullptr;
    if (reach(FaultPoint::kEngineCreate).fails()) return nullptr;
    const bool with_transport = auto_discover != 0 || std::getenv("MC_FORCE_TCP") != nullptr;
    auto engine = Engine::open(local_server_name, with_transport);
    return engine == nullptr ? nullptr : reinterpret_cast<transfer_engine_t>(engines().open(std::move(engine)));
  });
}

void destroyTransferEngine(transfer_engine_t engine) {
  guarded(0, [&] {
    const auto closed = engines().close(reinterpret_cast<uint64_t>(engine));
    if (closed != nullptr) close_batches(*closed);
    return 0;
  });
}

int discoverTopology(transfer_engine_t engine) {
  return on_engine<int>(engine, kEngineInvalidArgument, [](Engine&) { return kOk; });
}

int getLocalIpAndPort(transfer_engine_t engine, char* buffer, size_t size) {
  return on_engine<int>(engine, kEngineInvalidArgument, [&](Engine& live) {
    if (buffer == nullptr || size == 0) return kEngineInvalidArgument;
    const size_t copied = live.name().copy(buffer, size - 1);
    buffer[copied] = '\0';
    return kOk;
  });
}

transport_t installTransport(transfer_engine_t engine, const char* protocol, void** args) {
  (void)args;
  static int token;  // an address that says success; never read
  if (protocol == nullptr) return nullptr;
  return on_engine<transport_t>(engine, nullptr, [&](Engine& live) -> transport_t {
    if (std::strcmp(protocol, "tcp") != 0 && std::strcmp(protocol, "loopback") != 0) return nullptr;
    live.install_transport();
    return &token;
  });
}

int uninstallTransport(transfer_engine_t engine, const char* protocol) {
  (void)protocol;
  return on_engine<int>(engine, kEngineInvalidArgument, [](Engine&) { return kOk; });
}

segment_id_t openSegment(transfer_engine_t engine, const char* segment_name) {
  return open_segment(engine, segment_name, false);
}

segment_id_t openSegmentNoCache(transfer_engine_t engine, const char* segment_name) {
  return open_segment(engine, segment_name, true);
}

int closeSegment(transfer_engine_t engine, segment_id_t segment_id) {
  (void)segment_id;
  return on_engine<int>(engine, kEngineInvalidArgument, [](Engine&) { return kOk; });
}

int warmupEfaSegment(transfer_engine_t engine, const char* segment_name) {
  (void)segment_name;
  return on_engine<int>(engine, kEngineInvalidArgument, [](Engine&) { return kOk; });
}

int removeLocalSegment(transfer_engine_t engine, const char* segment_name) {
  if (segment_name == nullptr || *segment_name == '\0') return kEngineInvalidArgument;
  return on_engine<int>(engine, kEngineInvalidArgument, [&](Engine& live) {
    live.forget_segment(segment_name);
    return kOk;
  });
}

int registerLocalMemory(transfer_engine_t engine, void* addr, size_t length, const char* location,
                        int remote_accessible) {
  (void)remote_accessible;
  if (location == nullptr) return kEngineInvalidArgument;
  return at_point(engine, FaultPoint::kEngineRegister, [&](Engine& live) {
    const buffer_entry_t one{addr, length};
    return live.add_regions(&one, 1);
  });
}

int unregisterLocalMemory(transfer_engine_t engine, void* addr) {
  return at_point(engine, FaultPoint::kEngineRegister, [&](Engine& live) { return live.remove_regions(&addr, 1); });
}

int registerLocalMemoryBatch(transfer_engine_t engine, buffer_entry_t* buffers, size_t count, const char* location) {
  if (location == nullptr || (buffers == nullptr && count > 0)) return kEngineInvalidArgument;
  return at_point(engine, FaultPoint::kEngineRegister, [&](Engine& live) { return live.add_regions(buffers, count); });
}

int unregisterLocalMemoryBatch(transfer_engine_t engine, void** addrs, size_t count) {
  if (addrs == nullptr && count > 0) return kEngineInvalidArgument;
  return at_point(engine, FaultPoint::kEngineRegister, [&](Engine& live) { return live.remove_regions(addrs, count); });
}

notify_msg_t* getNotifsFromEngine(transfer_engine_t engine, int* size) {
  if (size == nullptr) return nullptr;
  *size = 0;
  return on_engine<notify_msg_t*>(engine, nullptr, [&](Engine& live) -> notify_msg_t* {
    const auto notices = live.endpoint().drain();
    if (notices.empty()) return nullptr;
    notify_msg_t* const issued = issue_notices(notices);
    *size = static_cast<int>(notices.size());
    return issued;
  });
}

int freeNotifsMsgBuf(notify_msg_t* messages, int size) {
  (void)size;  // remembered
  if (messages == nullptr) return kOk;
  return guarded(kEngineInvalidArgument, [&] { return take_back_notices(messages) ? kOk : kEngineInvalidArgument; });
}

int genNotifyInEngine(transfer_engine_t engine, uint64_t target_id, notify_msg_t message) {
  if (message.name == nullptr || message.msg == nullptr) return kEngineInvalidArgument;
  return at_point(engine, FaultPoint::kEngineNotify, [&](Engine& live) {
    Target target;
    if (target_id > INT32_MAX || !live.target_of(static_cast<int64_t>(target_id), target)) return kEngineMetadata;
    if (std::strlen(message.name) + std::strlen(message.msg) > kMaxNoticeBytes) return kEngineSocket;
    return target.deliver({as_utf8(message.name), as_utf8(message.msg)}) ? kOk : kEngineSocket;
  });
}

// Nothing is cached here: what a peer has registered it is asked with every transfer.
int syncSegmentCache(transfer_engine_t engine) {
  return on_engine<int>(engine, kEngineInvalidArgument, [](Engine&) { return kOk; });
}

int getNicLoadStats(transfer_engine_t engine, nic_load_stat_t* stats, size_t* count) {
  if (stats == nullptr || count == nullptr) return kEngineInvalidArgument;
  return on_engine<int>(engine, kEngineInvalidArgument, [&](Engine&) {
    *count = 0;  // no NICs here
    return kOk;
  });
}

// The real one replaces the process's signal handlers and ends it with _Exit. A library inside somebody's process has
// no business doing that: nothing happens.
void enableGracefulShutdown(transfer_engine_t engine) {
  (void)engine;
}

int showLinks(transfer_engine_t engine, char* buffer, size_t size, int json) {
  if (buffer == nullptr || size == 0) return kEngineInvalidArgument;
  return on_engine<int>(engine, kEngineInvalidArgument, [&](Engine& live) {
    const std::string report = json != 0 ? "{\"local\":\"" + live.name() + "\",\"nics\":[]}"
                                         : "local " + live.name() + "\nno NICs: transfers stay on this machine\n";
    const size_t copied = report.copy(buffer, size - 1);
    buffer[copied] = '\0';
    return kOk;
  });
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "codes.h"
#include "faults.h"
#include "worker_thread.h"

namespace gatun::loopback {
namespace {

// The smallest segment a store of the real library mounts.
constexpr uint64_t kMinSegmentBytes = 16ULL << 20;
// Ports a store gives itself when its host name has none. Here a label: nothing listens.
constexpr int kFirstPort = 12300;
constexpr int kPortCount = 2000;

bool ends_with_port(const std::string& hostname) {
  const size_t colon = hostname.rfind(':');
  if (colon == std::string::npos) return false;
  if (hostname.front() == '[') return colon > 0 && hostname[colon - 1] == ']';
  return hostname.find(':') == colon;  // several colons without brackets: a bare IPv6 address
}

std::string with_port(const std::string& hostname) {
  static std::atomic<int> next{0};
  if (ends_with_port(hostname)) return hostname;
  const bool bare_ipv6 = hostname.front() != '[' && hostname.find(':') != std::string::npos;
  const int port = kFirstPort + next.fetch_add(1, std::memory_order_relaxed) % kPortCount;
  return (bare_ipv6 ? "[" + hostname + "]" : hostname) + ":" + std::to_string(port);
}

uint64_t next_store_id() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

int StoreOptions::check() const {
  if (hostname.empty() || metadata != "P2PHANDSHAKE" || master.empty()) return kInvalidParams;
  constexpr std::array<std::string_view, 3> kProtocols = {"tcp", "loopback", "rpc_only"};
  if (std::find(kProtocols.begin(), kProtocols.end(), protocol) == kProtocols.end()) return kInvalidParams;
  if (protocol == "rpc_only" && (segment_bytes != 0 || local_buffer_bytes != 0)) return kInvalidParams;
  if (segment_bytes != 0 && segment_bytes < kMinSegmentBytes) return kInvalidParams;
  constexpr std::array<std::string_view, 3> kAbsentBackends = {"etcd://", "redis://", "k8s://"};
  for (const std::string_view scheme : kAbsentBackends) {
    if (master.starts_with(scheme)) return kInvalidParams;
  }
  return kOk;
}

Store::Store() : id_(next_store_id()) {}

Store::~Store() {
  if (pool_ == nullptr) return;
  // What it held is lost to the pool at once; other replicas stay. The master is not asked: it may be frozen.
  if (segment_ != nullptr) pool_->unmount(segment_.get());
  pool_->leave();
}

int Store::set_up(const StoreOptions& options) {
  if (const int code = options.check(); code != kOk) return code;
  const std::lock_guard lock(setup_mutex_);
  if (is_set_up()) return kInvalidParams;
  if (const Fault fault = reach(FaultPoint::kSetup); fault.fails()) return static_cast<int>(fault.code);
  auto pool = Pool::attach(options.master);
  // Like every failure of a setup, an unreachable master is -600.
  if (pool->admit() != kOk) return kInvalidParams;
  const std::string hostname = with_port(options.hostname);
  std::shared_ptr<Segment> segment;
  if (options.segment_bytes > 0) {
    segment = Segment::map(hostname, options.segment_bytes);
    if (segment == nullptr) return kInvalidParams;
    pool->mount(segment);
  }
  pool->join();
  hostname_ = hostname;
  pool_ = std::move(pool);
  segment_ = std::move(segment);
  local_buffer_bytes_ = options.local_buffer_bytes;
  ready_.store(true, std::memory_order_release);
  return kOk;
}

int Store::health() {
  if (const Fault fault = reach(FaultPoint::kHealth); fault.fails()) return static_cast<int>(fault.code);
  if (!is_set_up()) return kHealthNotSetUp;
  // Only a store with a segment sends heartbeats: a pure client says healthy for ever.
  const bool down = segment_ != nullptr && pool_->master_state() == MasterState::kDown;
  return down ? kHealthMasterUnreachable : kHealthy;
}

int Store::remove(const char* key, bool force) {
  if (int code; answered(FaultPoint::kRemoveBefore, code)) return code;
  if (const int code = pool_->admit(); code != kOk) return code;
  return pool_->remove(Key(key), force);
}

int64_t Store::remove_matching(const char* pattern, bool force) {
  if (int64_t code; answered(FaultPoint::kRemoveRegexBefore, code)) return code;
  if (const int code = pool_->admit(); code != kOk) return code;
  // Compiling recurses once a term of the pattern, and matching once an alternative.
  int64_t removed = kInvalidParams;
  run_on_large_stack([&] {
    if (const auto compiled = KeyPattern::compile(pattern)) removed = pool_->remove_matching(*compiled, force);
  });
  return removed;
}

int64_t Store::remove_all(bool force) {
  if (int64_t code; answered(FaultPoint::kRemoveAllBefore, code)) return code;
  if (const int code = pool_->admit(); code != kOk) return code;
  return pool_->remove_all(force);
}

int Store::register_buffer(void* buffer, uint64_t bytes) {
  if (int code; answered(FaultPoint::kRegister, code)) return code;
  const auto start = reinterpret_cast<uintptr_t>(buffer);
  if (start + bytes < start) return kInvalidParams;
  const std::lock_guard lock(buffers_mutex_);
  const auto after = buffers_.lower_bound(start);
  if (after != buffers_.end() && after->first < start + bytes) return kInvalidParams;
  if (after != buffers_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second > start) return kInvalidParams;
  }
  buffers_.emplace(start, bytes);
  return kOk;
}

int Store::unregister_buffer(void* buffer) {
  if (int code; answered(FaultPoint::kUnregister, code)) return code;
  const std::lock_guard lock(buffers_mutex_);
  const auto found = buffers_.find(reinterpret_cast<uintptr_t>(buffer));
  if (found == buffers_.end()) return kInvalidParams;
  if (!mutant(Mutant::kUnregisterIgnored)) buffers_.erase(found);
  return kOk;
}

}  // namespace gatun::loopback

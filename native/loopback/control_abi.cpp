// SPDX-License-Identifier: Apache-2.0
// The gatun_loopback_* functions: census, faults, clock, mutants.
#include "abi_guard.h"
#include "clock.h"
#include "codes.h"
#include "faults.h"
#include "live_handles.h"
#include "mutants.h"
#include "pool.h"

using namespace gatun::loopback;

namespace {

template <typename Answer, typename Body>
Answer on_pool(const char* name, Body&& body) noexcept {
  if (name == nullptr) return kInternalError;
  return guarded(static_cast<Answer>(kInternalError), [&]() -> Answer {
    const auto pool = Pool::find(name);
    return pool == nullptr ? kSegmentNotFound : body(*pool);
  });
}

}  // namespace

extern "C" {

int gatun_loopback_abi_version(void) {
  return GATUN_LOOPBACK_ABI_VERSION;
}

int gatun_loopback_census(const char* pool, gatun_loopback_census_t* out) {
  if (out == nullptr) return kInternalError;
  return on_pool<int>(pool, [&](Pool& live) {
    const PoolCensus sum = live.census();
    *out = {.start_id = sum.start_id,
            .role = GATUN_LOOPBACK_ROLE_LEADER,
            .master_state = static_cast<int32_t>(sum.master_state),
            .key_count = sum.key_count,
            .complete_count = sum.counters.complete,
            .put_starts = sum.counters.put_starts,
            .put_ends = sum.counters.put_ends,
            .put_revokes = sum.counters.put_revokes,
            .removed_keys = sum.counters.removed,
            .evicted_keys = sum.counters.evicted,
            .evictions = sum.eviction_passes,
            .allocated_bytes = sum.usage.allocated_bytes,
            .capacity_bytes = sum.usage.capacity_bytes,
            .largest_free_bytes = sum.largest_free_bytes,
            .segment_count = sum.usage.segment_count,
            .store_count = sum.store_count};
    return kOk;
  });
}

int64_t gatun_loopback_list_keys(const char* pool, uint64_t* cursor, char* buffer, size_t size) {
  if (cursor == nullptr || buffer == nullptr) return kInternalError;
  return on_pool<int64_t>(pool, [&](Pool& live) { return live.list_keys(*cursor, buffer, size); });
}

int64_t gatun_loopback_query_key(const char* pool, const char* key) {
  if (key == nullptr) return kInternalError;
  return on_pool<int64_t>(pool, [&](Pool& live) { return live.query(Key(key)); });
}

int64_t gatun_loopback_live_stores(void) {
  return guarded<int64_t>(kInternalError, [] { return live_stores(); });
}
int64_t gatun_loopback_live_engines(void) {
  return guarded<int64_t>(kInternalError, [] { return live_engines(); });
}
int64_t gatun_loopback_live_batches(void) {
  return guarded<int64_t>(kInternalError, [] { return live_batches(); });
}

void gatun_loopback_reset(void) {
  guarded(0, [] {
    release_all_faults();
    switch_mutant(0);
    reset_limits();
    Pool::bring_all_up();
    return 0;
  });
}

int gatun_loopback_fault_arm(const char* point, int action, int64_t argument, uint64_t count) {
  return gatun_loopback_fault_arm_after(point, action, argument, count, 0);
}

int gatun_loopback_fault_arm_after(const char* point, int action, int64_t argument, uint64_t count, uint64_t after) {
  if (point == nullptr) return kInternalError;
  return guarded(kInternalError,
                 [&] { return arm_fault(point, action, argument, count, after) ? kOk : kInvalidParams; });
}

int gatun_loopback_fault_release(const char* point) {
  if (point == nullptr) return kInternalError;
  return guarded(kInternalError, [&] { return release_fault(point) ? kOk : kInvalidParams; });
}

int64_t gatun_loopback_fault_hits(const char* point) {
  return guarded<int64_t>(kInternalError, [&] { return fault_hits(point); });
}

int64_t gatun_loopback_fault_hanging(const char* point) {
  return guarded<int64_t>(kInternalError, [&] { return fault_hanging(point); });
}

const char* gatun_loopback_fault_point(int index) {
  return fault_point_name(index);
}

int gatun_loopback_master_set(const char* pool, int state) {
  if (state < GATUN_LOOPBACK_MASTER_UP || state > GATUN_LOOPBACK_MASTER_FROZEN) return kInvalidParams;
  return on_pool<int>(pool, [&](Pool& live) {
    live.set_master_state(static_cast<MasterState>(state));
    return kOk;
  });
}

int64_t gatun_loopback_master_hanging(const char* pool) {
  return on_pool<int64_t>(pool, [](Pool& live) { return live.hanging(); });
}

int gatun_loopback_master_restart(const char* pool) {
  return on_pool<int>(pool, [](Pool& live) {
    live.restart();
    return kOk;
  });
}

int gatun_loopback_segment_lost(const char* pool, const char* hostname) {
  if (hostname == nullptr) return kInternalError;
  return on_pool<int>(pool, [&](Pool& live) { return live.lose_objects_of(hostname) ? kOk : kSegmentNotFound; });
}

int gatun_loopback_clock_advance(int64_t millis) {
  if (millis < 0) return kInvalidParams;
  advance_clock(millis);
  return kOk;
}

int gatun_loopback_lease_set(int64_t millis) {
  Limits::set_lease_millis(millis);
  return kOk;
}

int gatun_loopback_soft_pin_set(int64_t millis) {
  Limits::set_soft_pin_millis(millis);
  return kOk;
}

int gatun_loopback_put_discard_set(int64_t millis) {
  Limits::set_put_discard_millis(millis);
  return kOk;
}

int gatun_loopback_watermark_set(int64_t percent) {
  if (percent > 100) return kInvalidParams;
  Limits::set_watermark_percent(percent);
  return kOk;
}

int gatun_loopback_mutant(int id) {
  return switch_mutant(id) ? kOk : kInvalidParams;
}
int gatun_loopback_mutant_count(void) {
  return mutant_count();
}
const char* gatun_loopback_mutant_name(int id) {
  return mutant_name(id);
}

}  // extern "C"

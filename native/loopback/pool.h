// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "abi.h"
#include "index.h"
#include "key.h"
#include "key_pattern.h"
#include "object.h"
#include "segment_set.h"

namespace gatun::loopback {

enum class MasterState : int32_t { kUp = 0, kDown = 1, kFrozen = 2 };

// What a get holds while it copies.
struct ReadHold {
  ObjectHold object;
  const std::byte* source = nullptr;
  uint64_t bytes = 0;
  int64_t lease_until = 0;
};

struct PoolCensus {
  uint64_t start_id = 0;
  MasterState master_state = MasterState::kUp;
  uint64_t key_count = 0;
  ShardCounters counters;
  uint64_t eviction_passes = 0;
  SegmentSet::Usage usage;
  uint64_t largest_free_bytes = 0;
  uint64_t store_count = 0;
};

// The in-process counterpart of a master: keys, leases, pins, removal, eviction over the segments of its stores.
// Moves no bytes. Codes are those of the store ABI. Thread-safe. Lock order: eviction, shard, segments, allocator.
class Pool {
 public:
  explicit Pool(std::string name);
  ~Pool();

  // The pool of that name, made when no store is attached to it.
  static std::shared_ptr<Pool> attach(const std::string& name);
  // Null when no store is attached.
  static std::shared_ptr<Pool> find(std::string_view name);
  static void bring_all_up();

  // -- the master's state --
  // 0, or -900 when it is down; waits while it is frozen. Every operation asks once before it starts.
  int admit();
  void set_master_state(MasterState state);
  MasterState master_state() const { return state_.load(std::memory_order_relaxed); }
  int64_t hanging() const { return hanging_.load(std::memory_order_relaxed); }
  void restart();

  // -- stores and their memory --
  void join() { stores_.fetch_add(1, std::memory_order_relaxed); }
  void leave() { stores_.fetch_sub(1, std::memory_order_relaxed); }
  void mount(std::shared_ptr<Segment> segment) { segments_.mount(std::move(segment)); }
  void unmount(const Segment* segment);
  bool lose_objects_of(std::string_view segment_name);

  // -- puts: start, copy, then end or revoke. The object is invisible until it ends well --
  int start_put(const Key& key, uint64_t bytes, const mooncake_replicate_config* config, uint64_t writer,
                ObjectHold& out);
  int end_put(Object& object);
  void revoke_put(Object& object);

  // -- reads; each grants a lease --
  int64_t acquire(const Key& key, uint64_t capacity, int64_t now, ReadHold& out);
  int64_t size(const Key& key, int64_t now);
  bool exists(const Key& key, int64_t now);
  void prefetch(const Key& key) { index_.shard(key.hash).objects.prefetch(key.hash); }

  // -- removal --
  int remove(const Key& key, bool force);
  int64_t remove_matching(const KeyPattern& pattern, bool force);
  int64_t remove_all(bool force);

  // -- eviction --
  void evict_above_watermark();

  // -- census: grants nothing, works in every master state --
  PoolCensus census();
  int64_t query(const Key& key);
  int64_t list_keys(uint64_t& cursor, char* buffer, size_t size);

 private:
  void grant_lease(Object& object, int64_t now);
  bool readable(const Object& object) const;
  Object* find_readable(Shard& shard, const Key& key, int& code);
  // Takes an object out of its shard; its memory is free when the last reader is done.
  void detach(Shard& shard, Object& object);
  void release(Shard& shard, Object& object);
  int removal_code(const Object& object, bool force, int64_t now) const;
  void lose_segment(const Segment* segment);
  // True when the caller should look for room again.
  bool make_room(uint64_t bytes);
  bool evict_locked();

  const std::string name_;
  std::atomic<uint64_t> start_id_;
  std::atomic<MasterState> state_{MasterState::kUp};
  std::atomic<int64_t> hanging_{0};
  std::mutex state_mutex_;
  std::condition_variable thawed_;
  std::atomic<int64_t> stores_{0};
  std::atomic<uint64_t> next_sequence_{1};
  Index index_;
  SegmentSet segments_;
  std::mutex eviction_mutex_;
  std::atomic<int64_t> next_watermark_pass_{0};
  std::atomic<uint64_t> eviction_passes_{0};
};

}  // namespace gatun::loopback

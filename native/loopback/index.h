// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "key.h"
#include "object.h"

namespace gatun::loopback {

// Open addressing with linear probing: one line for the slot, one for the object. Callers hold the shard's lock.
class ObjectMap {
 public:
  Object* find(uint64_t hash, std::string_view key) const;
  // Whether it is in here; looks at the address only, so the object may be gone.
  bool holds(uint64_t hash, const Object* object) const;
  // After this, one insert cannot fail.
  void reserve_one();
  void insert(Object* object);
  void erase(const Object* object);
  uint64_t size() const { return size_; }
  // Brings the line of a hash near without the lock: the address may be stale, which a prefetch does not mind.
  void prefetch(uint64_t hash) const {
    const uint64_t offset = (hash & hint_mask_.load(std::memory_order_relaxed)) * sizeof(Slot);
    __builtin_prefetch(reinterpret_cast<const void*>(hint_slots_.load(std::memory_order_relaxed) + offset));
  }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.object != nullptr) visit(*slot.object);
    }
  }

  // Keeps the objects for which keep answers true and gives the others to gone. Shrinks. Strong guarantee: may throw
  // before keep is asked, not after.
  template <typename Keep, typename Gone>
  void retain(Keep keep, Gone gone) {
    std::vector<Object*> all;
    all.reserve(size_);
    for (const Slot& slot : slots_) {
      if (slot.object != nullptr) all.push_back(slot.object);
    }
    for (Object* const object : all) {
      if (keep(*object)) continue;
      erase(object);
      gone(object);
    }
    if (size_ == 0) clear_slots();
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    Object* object = nullptr;
  };

  void place(Slot slot);
  void clear_slots();
  void publish_hint();

  std::vector<Slot> slots_;
  uint64_t mask_ = 0;
  uint64_t size_ = 0;
  std::atomic<uintptr_t> hint_slots_{0};
  std::atomic<uint64_t> hint_mask_{0};
};

struct ShardCounters {
  uint64_t complete = 0;
  uint64_t put_starts = 0;
  uint64_t put_ends = 0;
  uint64_t put_revokes = 0;
  uint64_t removed = 0;
  uint64_t evicted = 0;
};

// Its own cache lines, so that neighbours do not slow each other.
struct alignas(128) Shard {
  std::mutex mutex;
  ObjectMap objects;
  ShardCounters counters;
};

class Index {
 public:
  // Enough that threads of a large machine seldom meet; a power of two.
  static constexpr uint32_t kShards = 128;

  // The map uses the low bits of the hash, this the high ones.
  Shard& shard(uint64_t hash) { return shards_[hash >> (64 - 7)]; }
  Shard& at(uint32_t i) { return shards_[i]; }
  static_assert(kShards == 1U << 7);

 private:
  std::array<Shard, kShards> shards_;
};

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include "codes.h"
#include "pool.h"

namespace gatun::loopback {
namespace {

// A cursor: shard above, sequence of the last key listed below.
constexpr int kSequenceBits = 48;
constexpr uint64_t kSequenceMask = (1ULL << kSequenceBits) - 1;
constexpr uint64_t kEnd = std::numeric_limits<uint64_t>::max();

}  // namespace

PoolCensus Pool::census() {
  PoolCensus sum;
  sum.start_id = start_id_.load(std::memory_order_relaxed);
  sum.master_state = master_state();
  for (uint32_t i = 0; i < Index::kShards; i++) {
    Shard& shard = index_.at(i);
    const std::lock_guard lock(shard.mutex);
    sum.key_count += shard.objects.size();
    sum.counters.complete += shard.counters.complete;
    sum.counters.put_starts += shard.counters.put_starts;
    sum.counters.put_ends += shard.counters.put_ends;
    sum.counters.put_revokes += shard.counters.put_revokes;
    sum.counters.removed += shard.counters.removed;
    sum.counters.evicted += shard.counters.evicted;
  }
  sum.eviction_passes = eviction_passes_.load(std::memory_order_relaxed);
  sum.usage = segments_.usage();
  sum.largest_free_bytes = segments_.largest_free_bytes();
  sum.store_count = static_cast<uint64_t>(std::max<int64_t>(0, stores_.load(std::memory_order_relaxed)));
  return sum;
}

int64_t Pool::query(const Key& key) {
  Shard& shard = index_.shard(key.hash);
  const std::lock_guard lock(shard.mutex);
  const Object* const object = shard.objects.find(key.hash, key.bytes);
  if (object == nullptr) return kObjectNotFound;
  return object->state == ObjectState::kComplete ? static_cast<int64_t>(object->bytes) : kReplicaIsNotReady;
}

int64_t Pool::list_keys(uint64_t& cursor, char* buffer, size_t size) {
  size_t used = 0;
  int64_t listed = 0;
  while (cursor != kEnd && (cursor >> kSequenceBits) < Index::kShards) {
    const uint64_t shard_number = cursor >> kSequenceBits;
    Shard& shard = index_.at(static_cast<uint32_t>(shard_number));
    const std::lock_guard lock(shard.mutex);
    std::vector<const Object*> rest;
    shard.objects.for_each([&](const Object& object) {
      if (object.state == ObjectState::kComplete && object.sequence > (cursor & kSequenceMask)) rest.push_back(&object);
    });
    std::sort(rest.begin(), rest.end(), [](auto* a, auto* b) { return a->sequence < b->sequence; });
    for (const Object* const object : rest) {
      if (object->key_bytes >= size - used) return listed > 0 ? listed : kBufferOverflow;
      std::memcpy(buffer + used, object->key().data(), object->key_bytes);
      buffer[used + object->key_bytes] = '\0';
      used += object->key_bytes + size_t{1};
      listed++;
      cursor = (shard_number << kSequenceBits) | object->sequence;
    }
    cursor = shard_number + 1 == Index::kShards ? kEnd : (shard_number + 1) << kSequenceBits;
  }
  cursor = kEnd;
  return listed;
}

}  // namespace gatun::loopback

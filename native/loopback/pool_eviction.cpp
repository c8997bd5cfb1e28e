// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "clock.h"
#include "pool.h"

namespace gatun::loopback {
namespace {

// Of the keys, at least one in twenty a pass: a master's default eviction_ratio.
constexpr uint64_t kKeysPerVictim = 20;

// After a pass that did not get below the watermark. Unmeasured default; far shorter than any lease.
constexpr int64_t kFruitlessPauseNanos = 10 * kNanosPerMilli;

struct Candidate {
  bool soft_pinned;
  int64_t idle_since;
  uint64_t sequence;
  uint64_t hash;
  const Object* object;

  // Ordinary objects before soft-pinned ones, the longest idle first.
  auto order() const { return std::tuple(soft_pinned, idle_since, sequence); }
};

bool later(const Candidate& a, const Candidate& b) {
  return a.order() > b.order();
}

bool evictable(const Object& object, int64_t now) {
  if (object.state == ObjectState::kInFlight) return now - object.started_at >= Limits::put_release_nanos();
  if (object.hard_pin && !mutant(Mutant::kEvictedHardPin)) return false;
  return object.lease_until <= now || mutant(Mutant::kEvictionIgnoresLease);
}

bool above(const SegmentSet::Usage& usage) {
  const auto percent = static_cast<uint64_t>(Limits::watermark_percent());
  const uint64_t limit = usage.capacity_bytes / 100 * percent + usage.capacity_bytes % 100 * percent / 100;
  return usage.allocated_bytes > limit;
}

}  // namespace

void Pool::evict_above_watermark() {
  if (!above(segments_.usage()) || now_nanos() < next_watermark_pass_.load(std::memory_order_relaxed)) return;
  // One thread evicts; the others have room and need not wait for it.
  const std::unique_lock lock(eviction_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  evict_locked();
  // All leased or pinned: looking through the whole index again at every put would gain nothing.
  if (above(segments_.usage())) next_watermark_pass_ = now_nanos() + kFruitlessPauseNanos;
}

bool Pool::make_room(uint64_t bytes) {
  // Nothing is gained by evicting for an object that fits no segment.
  if (bytes > segments_.largest_segment_bytes()) return false;
  std::unique_lock lock(eviction_mutex_, std::try_to_lock);
  if (lock.owns_lock()) {
    // Until it fits in one piece, or nothing more may go.
    while (segments_.largest_free_bytes() < bytes) {
      if (!evict_locked()) return false;
    }
    return true;
  }
  // Somebody else is evicting: wait for what that gives.
  lock.lock();
  return true;
}

bool Pool::evict_locked() {
  if (mutant(Mutant::kEvictionNeverStarts)) return false;
  const int64_t now = now_nanos();
  std::vector<Candidate> candidates;
  uint64_t keys = 0;
  for (uint32_t i = 0; i < Index::kShards; i++) {
    Shard& shard = index_.at(i);
    const std::lock_guard lock(shard.mutex);
    keys += shard.objects.size();
    shard.objects.for_each([&](const Object& object) {
      if (!evictable(object, now)) return;
      const bool soft = object.soft_pin && object.soft_pin_until > now && !mutant(Mutant::kSoftPinIgnored);
      candidates.push_back({soft, object.idle_since, object.sequence, object.hash, &object});
    });
  }
  const uint64_t wanted = (keys + kKeysPerVictim - 1) / kKeysPerVictim;
  std::make_heap(candidates.begin(), candidates.end(), later);
  uint64_t evicted = 0;
  while (!candidates.empty() && (evicted < wanted || above(segments_.usage()))) {
    std::pop_heap(candidates.begin(), candidates.end(), later);
    const Candidate victim = candidates.back();
    candidates.pop_back();
    Shard& shard = index_.shard(victim.hash);
    const std::lock_guard lock(shard.mutex);
    if (!shard.objects.holds(victim.hash, victim.object)) continue;
    Object* const object = const_cast<Object*>(victim.object);
    // It may be another object at the same address by now, or have been read meanwhile.
    if (object->sequence != victim.sequence || !evictable(*object, now)) continue;
    shard.counters.evicted++;
    detach(shard, *object);
    evicted++;
  }
  if (evicted > 0) eviction_passes_.fetch_add(1, std::memory_order_relaxed);
  return evicted > 0;
}

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#include "clock.h"
#include "codes.h"
#include "faults.h"
#include "pool.h"

namespace gatun::loopback {
namespace {

Fault reach_middle(uint32_t shard) {
  return shard == Index::kShards / 2 ? reach(FaultPoint::kRemoveAllMiddle) : Fault{};
}

}  // namespace

// 0 when it may go. A put in flight never may: its writer would end a put that nobody knows any more.
int Pool::removal_code(const Object& object, bool force, int64_t now) const {
  const bool obey = !force || mutant(Mutant::kForcedRemovalHonoursLease);
  if (obey && object.lease_until > now && !mutant(Mutant::kUnforcedRemovalIgnoresLease)) return kObjectHasLease;
  if (object.state == ObjectState::kInFlight && !mutant(Mutant::kRemovalOfPutInFlight)) return kReplicaIsNotReady;
  return kOk;
}

int Pool::remove(const Key& key, bool force) {
  const int64_t now = now_nanos();
  Shard& shard = index_.shard(key.hash);
  const std::lock_guard lock(shard.mutex);
  Object* const object = shard.objects.find(key.hash, key.bytes);
  if (object == nullptr) return mutant(Mutant::kRemovalOfMissingSucceeds) ? kOk : kObjectNotFound;
  const int code = removal_code(*object, force, now);
  if (code != kOk || mutant(Mutant::kRemovalLeavesKey)) return code;
  shard.counters.removed++;
  detach(shard, *object);
  return kOk;
}

int64_t Pool::remove_all(bool force) {
  int64_t removed = 0;
  for (uint32_t i = 0; i < Index::kShards; i++) {
    if (const Fault fault = reach_middle(i); fault.fails()) return fault.code;
    const int64_t now = now_nanos();
    Shard& shard = index_.at(i);
    const std::lock_guard lock(shard.mutex);
    const uint64_t before = shard.objects.size();
    shard.objects.retain([&](const Object& object) { return removal_code(object, force, now) != kOk; },
                         [&](Object* object) { release(shard, *object); });
    const uint64_t gone = before - shard.objects.size();
    shard.counters.removed += gone;
    removed += static_cast<int64_t>(gone);
  }
  return removed + (mutant(Mutant::kRemoveAllCountsWrong) ? 1 : 0);
}

int64_t Pool::remove_matching(const KeyPattern& pattern, bool force) {
  int64_t removed = 0;
  for (uint32_t i = 0; i < Index::kShards; i++) {
    if (const Fault fault = reach_middle(i); fault.fails()) return fault.code;
    Shard& shard = index_.at(i);
    // Matching is slow beside everything else here, so it happens on held objects, outside the lock.
    std::vector<ObjectHold> held;
    {
      const std::lock_guard lock(shard.mutex);
      held.reserve(shard.objects.size());
      shard.objects.for_each([&](Object& object) {
        object.hold();
        held.emplace_back(&object);
      });
    }
    std::erase_if(held, [&](const ObjectHold& object) { return !pattern.matches(object->key()); });
    const int64_t now = now_nanos();
    const std::lock_guard lock(shard.mutex);
    for (const ObjectHold& object : held) {
      if (!object->indexed || removal_code(*object.get(), force, now) != kOk) continue;
      detach(shard, *object.get());
      shard.counters.removed++;
      removed++;
    }
  }
  return removed;
}

}  // namespace gatun::loopback

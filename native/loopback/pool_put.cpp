// SPDX-License-Identifier: Apache-2.0
#include "clock.h"
#include "codes.h"
#include "pool.h"

namespace gatun::loopback {
namespace {

// One to find that there is no room, two after evictions: another thread may take the room first.
constexpr int kAttempts = 3;

}  // namespace

int Pool::start_put(const Key& key, uint64_t bytes, const mooncake_replicate_config* config, uint64_t writer,
                    ObjectHold& out) {
  const bool no_replicas = config != nullptr && config->replica_num == 0 && !mutant(Mutant::kZeroReplicasAccepted);
  const bool refused = key.bytes.empty() || no_replicas || (bytes == 0 && !mutant(Mutant::kZeroLengthAccepted));
  const int64_t now = now_nanos();
  Shard& shard = index_.shard(key.hash);
  for (int attempt = 0; attempt < kAttempts; attempt++) {
    if (attempt > 0 && !make_room(bytes)) break;
    {
      const std::lock_guard lock(shard.mutex);
      if (attempt == 0) shard.counters.put_starts++;
      if (refused) return kInvalidParams;
      if (Object* const existing = shard.objects.find(key.hash, key.bytes)) {
        const bool abandoned =
            existing->state == ObjectState::kInFlight && now - existing->started_at >= Limits::put_discard_nanos();
        if (!abandoned && !mutant(Mutant::kExistingKeyOverwritten)) return kObjectAlreadyExists;
        detach(shard, *existing);
      }
      shard.objects.reserve_one();
      ObjectHold created(Object::create(key.hash, key.bytes));
      created->bytes = bytes;
      created->started_at = now;
      created->sequence = next_sequence_.fetch_add(1, std::memory_order_relaxed);
      created->writer = writer;
      created->soft_pin = config != nullptr && config->with_soft_pin != 0;
      created->hard_pin = config != nullptr && config->with_hard_pin != 0;
      // An empty object, which only a mutant makes, still needs a place.
      if (segments_.place(*created.get(), bytes == 0 ? 1 : bytes, config)) {
        created->hold();  // the index's
        shard.objects.insert(created.get());
        out = std::move(created);
        return kOk;
      }
    }
  }
  // What is leased or pinned stays; the caller is told to come back.
  return kNoAvailableHandle;
}

int Pool::end_put(Object& object) {
  Shard& shard = index_.shard(object.hash);
  const std::lock_guard lock(shard.mutex);
  shard.counters.put_ends++;
  if (!object.indexed) {
    // It took too long and was given up, or its segment is gone. Somebody else may have the key now.
    const Object* const other = shard.objects.find(object.hash, object.key());
    if (other == nullptr) return kObjectNotFound;
    return other->writer == object.writer ? kInvalidWrite : kIllegalClient;
  }
  object.state = ObjectState::kComplete;
  shard.counters.complete++;
  // No lease: a fresh object is removable at once. Reads do not extend the soft pin.
  object.idle_since = now_nanos();
  if (object.soft_pin) object.soft_pin_until = object.idle_since + Limits::soft_pin_nanos();
  return kOk;
}

void Pool::revoke_put(Object& object) {
  Shard& shard = index_.shard(object.hash);
  const std::lock_guard lock(shard.mutex);
  shard.counters.put_revokes++;
  if (object.indexed && !mutant(Mutant::kRevokeLeavesKey)) detach(shard, object);
}

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "clock.h"
#include "codes.h"
#include "pool.h"

namespace gatun::loopback {

void Pool::grant_lease(Object& object, int64_t now) {
  if (mutant(Mutant::kLostLease)) return;
  object.lease_until = std::max(object.lease_until, now + Limits::lease_nanos());
  object.idle_since = std::max(object.idle_since, object.lease_until);
}

bool Pool::readable(const Object& object) const {
  return object.state == ObjectState::kComplete || mutant(Mutant::kPutInFlightVisible);
}

Object* Pool::find_readable(Shard& shard, const Key& key, int& code) {
  Object* const object = shard.objects.find(key.hash, key.bytes);
  code = kObjectNotFound;
  if (object == nullptr) return nullptr;
  if (readable(*object)) return object;
  if (!mutant(Mutant::kInFlightReportedMissing)) code = kReplicaIsNotReady;
  return nullptr;
}

int64_t Pool::acquire(const Key& key, uint64_t capacity, int64_t now, ReadHold& out) {
  Shard& shard = index_.shard(key.hash);
  const std::lock_guard lock(shard.mutex);
  int code;
  Object* const object = find_readable(shard, key, code);
  if (object == nullptr) return code;
  grant_lease(*object, now);
  if (capacity < object->bytes && !mutant(Mutant::kShortBufferPartlyWritten)) return kInvalidParams;
  object->hold();
  out.object = ObjectHold(object);
  out.source = object->readable()->bytes();
  out.bytes = object->bytes;
  out.lease_until = now + Limits::lease_nanos();
  return static_cast<int64_t>(object->bytes);
}

int64_t Pool::size(const Key& key, int64_t now) {
  Shard& shard = index_.shard(key.hash);
  const std::lock_guard lock(shard.mutex);
  int code;
  Object* const object = find_readable(shard, key, code);
  if (object == nullptr) return code;
  grant_lease(*object, now);
  return static_cast<int64_t>(object->bytes) + (mutant(Mutant::kSizeOffByOne) ? 1 : 0);
}

bool Pool::exists(const Key& key, int64_t now) {
  Shard& shard = index_.shard(key.hash);
  const std::lock_guard lock(shard.mutex);
  Object* const object = shard.objects.find(key.hash, key.bytes);
  if (object == nullptr || !readable(*object)) return false;
  grant_lease(*object, now);
  return true;
}

}  // namespace gatun::loopback

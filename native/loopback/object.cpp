// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

namespace gatun::loopback {

Object* Object::create(uint64_t hash, std::string_view key) {
  if (key.size() > std::numeric_limits<uint32_t>::max()) throw std::length_error("key");
  void* const memory = ::operator new(sizeof(Object) + key.size());
  auto* const object = new (memory) Object;
  object->hash = hash;
  object->key_bytes = static_cast<uint32_t>(key.size());
  std::memcpy(static_cast<void*>(object + 1), key.data(), key.size());
  return object;
}

void Object::drop() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  free_extents();
  this->~Object();
  ::operator delete(this);
}

void Object::free_extents() {
  if (extents_freed.exchange(true, std::memory_order_acq_rel)) return;
  first.free_extent();
  for (Replica& replica : others) replica.free_extent();
}

void Replica::free_extent() {
  if (segment != nullptr) segment->extents().free(extent.node);
}

const Replica* Object::readable() const {
  if (!first.lost) return &first;
  for (const Replica& replica : others) {
    if (!replica.lost) return &replica;
  }
  return nullptr;
}

bool Object::lose(const Segment* gone) {
  // With no reader and no writer the memory is free at once; else when the last of them drops the object.
  const bool alone = references.load(std::memory_order_acquire) == 1;
  const auto lose_replica = [&](Replica& replica) {
    if (replica.segment.get() != gone) return;
    replica.lost = true;
    if (!alone) return;
    replica.free_extent();
    replica.segment.reset();
  };
  lose_replica(first);
  for (Replica& replica : others) lose_replica(replica);
  return readable() == nullptr;
}

}  // namespace gatun::loopback

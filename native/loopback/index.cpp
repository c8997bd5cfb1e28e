// SPDX-License-Identifier: Apache-2.0
#include "index.h"

namespace gatun::loopback {

Object* ObjectMap::find(uint64_t hash, std::string_view key) const {
  if (size_ == 0) return nullptr;
  for (uint64_t i = hash & mask_;; i = (i + 1) & mask_) {
    const Slot& slot = slots_[i];
    if (slot.object == nullptr) return nullptr;
    if (slot.hash == hash && slot.object->key() == key) return slot.object;
  }
}

bool ObjectMap::holds(uint64_t hash, const Object* object) const {
  if (size_ == 0) return false;
  for (uint64_t i = hash & mask_; slots_[i].object != nullptr; i = (i + 1) & mask_) {
    if (slots_[i].object == object) return true;
  }
  return false;
}

void ObjectMap::reserve_one() {
  // At most three quarters full: longer probes cost more than the memory.
  if (!slots_.empty() && (size_ + 1) * 4 <= slots_.size() * 3) return;
  std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.object != nullptr) place(slot);
  }
  publish_hint();
}

void ObjectMap::place(Slot slot) {
  uint64_t i = slot.hash & mask_;
  while (slots_[i].object != nullptr) i = (i + 1) & mask_;
  slots_[i] = slot;
}

void ObjectMap::insert(Object* object) {
  place({object->hash, object});
  size_++;
}

void ObjectMap::erase(const Object* object) {
  uint64_t hole = object->hash & mask_;
  while (slots_[hole].object != object) hole = (hole + 1) & mask_;
  // Moves back whatever probed past the hole, so that no tombstones pile up.
  for (uint64_t i = (hole + 1) & mask_; slots_[i].object != nullptr; i = (i + 1) & mask_) {
    const uint64_t home = slots_[i].hash & mask_;
    if (((i - home) & mask_) >= ((i - hole) & mask_)) {
      slots_[hole] = slots_[i];
      hole = i;
    }
  }
  slots_[hole] = {};
  size_--;
}

void ObjectMap::clear_slots() {
  std::vector<Slot>().swap(slots_);
  mask_ = 0;
  publish_hint();
}

void ObjectMap::publish_hint() {
  hint_slots_.store(reinterpret_cast<uintptr_t>(slots_.data()), std::memory_order_relaxed);
  hint_mask_.store(mask_, std::memory_order_relaxed);
}

}  // namespace gatun::loopback

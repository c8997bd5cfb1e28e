// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "segment.h"

namespace gatun::loopback {

// One contiguous copy of an object's bytes.
struct Replica {
  std::shared_ptr<Segment> segment;
  ExtentAllocator::Extent extent;
  bool lost = false;  // its segment is gone; the extent stays until nobody reads it

  std::byte* bytes() const { return segment->at(extent.offset); }
  void free_extent();
};

enum class ObjectState : uint8_t { kInFlight, kComplete };

// A key and its bytes. Fields are guarded by the lock of the index shard, but for those set before the object is
// published and never changed after. References: the index holds one, each running reader one, the writer one; the
// memory is reusable when the last is dropped. So a forced removal never tears a running get.
struct Object {
  // Lives in one allocation with its key behind it: a look-up touches one place.
  static Object* create(uint64_t hash, std::string_view key);
  void hold() { references.fetch_add(1, std::memory_order_relaxed); }
  void drop();

  std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_bytes}; }
  // Frees the extents. Only for the last holder, or the mutant that forgets the readers.
  void free_extents();

  // The first replica whose segment is still there, else null. Under the shard's lock.
  const Replica* readable() const;
  // Marks the replicas in a segment that is gone; true when none is left. Under the shard's lock.
  bool lose(const Segment* gone);

  uint64_t hash = 0;
  int64_t lease_until = 0;
  int64_t idle_since = 0;  // when it became, or becomes, nobody's: the end of its put or of its last lease
  uint64_t bytes = 0;
  uint32_t key_bytes = 0;
  std::atomic<uint32_t> references{1};
  ObjectState state = ObjectState::kInFlight;
  bool soft_pin = false;
  bool hard_pin = false;
  bool indexed = true;  // false once the index has let go of it
  int64_t soft_pin_until = 0;
  int64_t started_at = 0;
  uint64_t sequence = 0;  // of the put that made it; unique in its pool
  uint64_t writer = 0;    // store that put it
  Replica first;
  std::vector<Replica> others;
  std::atomic<bool> extents_freed{false};

 private:
  Object() = default;
  ~Object() = default;
};

// A counted hold on an object.
class ObjectHold {
 public:
  ObjectHold() = default;
  // Takes over a reference that is already counted.
  explicit ObjectHold(Object* counted) : object_(counted) {}
  ObjectHold(ObjectHold&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ObjectHold& operator=(ObjectHold&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ObjectHold() { reset(); }
  void reset() {
    if (object_ != nullptr) std::exchange(object_, nullptr)->drop();
  }
  Object* get() const { return object_; }
  Object* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object* object_ = nullptr;
};

}  // namespace gatun::loopback

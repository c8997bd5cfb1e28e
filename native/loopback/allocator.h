// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace gatun::loopback {

// Cuts one segment into extents, one contiguous extent an object. Two-level segregated fit: constant time, neighbours
// joined at once, and the book-keeping is outside the segment, so that a stray write into a page cannot break it.
// Thread-safe.
class ExtentAllocator {
 public:
  static constexpr uint64_t kGrainBytes = 64;  // one cache line

  struct Extent {
    uint32_t node = 0;
    uint64_t offset = 0;
  };

  explicit ExtentAllocator(uint64_t capacity_bytes);

  bool allocate(uint64_t bytes, Extent& out);
  void free(uint32_t node);

  // Rounded up to the grain.
  uint64_t allocated_bytes() const { return allocated_grains_.load(std::memory_order_relaxed) * kGrainBytes; }
  uint64_t capacity_bytes() const { return capacity_grains_ * kGrainBytes; }
  uint64_t largest_free_bytes();

 private:
  static constexpr uint32_t kNone = 0xffff'ffffU;
  static constexpr uint32_t kSubBits = 4;
  static constexpr uint32_t kSubCount = 1U << kSubBits;
  static constexpr uint32_t kLevels = 48;

  struct Node {
    uint64_t offset;  // in grains
    uint64_t size;    // in grains
    uint32_t left;    // neighbours in the segment
    uint32_t right;
    uint32_t previous;  // neighbours in the bin, when free
    uint32_t next;
    bool free;
  };
  struct Bin {
    uint32_t level;
    uint32_t sub;
  };

  static Bin bin_of(uint64_t grains);
  uint32_t find_fit(uint64_t grains) const;
  void link(uint32_t node);
  void unlink(uint32_t node);
  uint32_t new_node(const Node& value);
  void absorb_right(uint32_t node);

  std::mutex mutex_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> spare_nodes_;
  uint64_t level_map_ = 0;
  std::array<uint32_t, kLevels> sub_map_{};
  std::array<std::array<uint32_t, kSubCount>, kLevels> bins_;
  const uint64_t capacity_grains_;
  std::atomic<uint64_t> allocated_grains_{0};
};

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "allocator.h"

namespace gatun::loopback {

// Memory that one store contributes to its pool. It is unmapped when the last object or reader that holds it is gone,
// not when its store is.
class Segment {
 public:
  // Null when the memory cannot be mapped.
  static std::shared_ptr<Segment> map(std::string name, uint64_t bytes);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  const std::string& name() const { return name_; }
  ExtentAllocator& extents() { return extents_; }
  std::byte* at(uint64_t offset) const { return base_ + offset; }

 private:
  Segment(std::string name, std::byte* base, uint64_t bytes)
      : name_(std::move(name)), base_(base), bytes_(bytes), extents_(bytes) {}

  const std::string name_;
  std::byte* const base_;
  const uint64_t bytes_;
  ExtentAllocator extents_;
};

}  // namespace gatun::loopback

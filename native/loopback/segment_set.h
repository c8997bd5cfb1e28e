// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "abi.h"
#include "object.h"
#include "segment.h"

namespace gatun::loopback {

// The segments that the stores of a pool contribute, and the choice among them.
class SegmentSet {
 public:
  void mount(std::shared_ptr<Segment> segment);
  void unmount(const Segment* segment);
  std::vector<std::shared_ptr<Segment>> all() const;
  std::vector<std::shared_ptr<Segment>> named(std::string_view name) const;

  // Best effort: as many replicas as asked, at most one a segment name, fewer when there is no room. False: not one.
  bool place(Object& object, uint64_t bytes, const mooncake_replicate_config* config);

  struct Usage {
    uint64_t allocated_bytes = 0;
    uint64_t capacity_bytes = 0;
    uint64_t segment_count = 0;
  };
  Usage usage() const;
  uint64_t largest_free_bytes() const;
  uint64_t largest_segment_bytes() const;

 private:
  using Segments = std::vector<std::shared_ptr<Segment>>;
  static bool place_in(Object& object, uint64_t bytes, const std::shared_ptr<Segment>& segment);

  mutable std::shared_mutex mutex_;
  Segments segments_;
  std::atomic<uint32_t> turn_{0};  // spreads objects over segments
};

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#include "segment_set.h"

#include <algorithm>
#include <mutex>

namespace gatun::loopback {

void SegmentSet::mount(std::shared_ptr<Segment> segment) {
  const std::unique_lock lock(mutex_);
  segments_.push_back(std::move(segment));
}

void SegmentSet::unmount(const Segment* segment) {
  const std::unique_lock lock(mutex_);
  std::erase_if(segments_, [&](const auto& mounted) { return mounted.get() == segment; });
}

std::vector<std::shared_ptr<Segment>> SegmentSet::all() const {
  const std::shared_lock lock(mutex_);
  return segments_;
}

std::vector<std::shared_ptr<Segment>> SegmentSet::named(std::string_view name) const {
  Segments found = all();
  std::erase_if(found, [&](const auto& segment) { return segment->name() != name; });
  return found;
}

bool SegmentSet::place_in(Object& object, uint64_t bytes, const std::shared_ptr<Segment>& segment) {
  const auto same_name = [&](const Replica& replica) {
    return replica.segment != nullptr && replica.segment->name() == segment->name();
  };
  if (same_name(object.first) || std::any_of(object.others.begin(), object.others.end(), same_name)) return false;
  if (object.first.segment != nullptr) object.others.reserve(object.others.size() + 1);  // may throw before allocating
  ExtentAllocator::Extent extent;
  if (!segment->extents().allocate(bytes, extent)) return false;
  if (object.first.segment == nullptr) {
    object.first = {segment, extent, false};
  } else {
    object.others.push_back({segment, extent, false});
  }
  return true;
}

bool SegmentSet::place(Object& object, uint64_t bytes, const mooncake_replicate_config* config) {
  const std::shared_lock lock(mutex_);
  if (segments_.empty()) return false;
  if (segments_.size() == 1) return place_in(object, bytes, segments_.front());
  const size_t wanted = config == nullptr ? 1 : std::max<size_t>(config->replica_num, 1);
  size_t placed = 0;
  const size_t preferred_count =
      config == nullptr || config->preferred_segments == nullptr ? 0 : config->preferred_segments_count;
  for (size_t i = 0; i < preferred_count && placed < wanted; i++) {
    const char* const name = config->preferred_segments[i];
    if (name == nullptr) continue;
    for (const auto& segment : segments_) {
      if (placed < wanted && segment->name() == name && place_in(object, bytes, segment)) placed++;
    }
  }
  const size_t start = turn_.fetch_add(1, std::memory_order_relaxed);
  for (size_t i = 0; i < segments_.size() && placed < wanted; i++) {
    if (place_in(object, bytes, segments_[(start + i) % segments_.size()])) placed++;
  }
  return placed > 0;
}

SegmentSet::Usage SegmentSet::usage() const {
  const std::shared_lock lock(mutex_);
  Usage sum;
  for (const auto& segment : segments_) {
    sum.allocated_bytes += segment->extents().allocated_bytes();
    sum.capacity_bytes += segment->extents().capacity_bytes();
    sum.segment_count++;
  }
  return sum;
}

uint64_t SegmentSet::largest_free_bytes() const {
  const std::shared_lock lock(mutex_);
  uint64_t largest = 0;
  for (const auto& segment : segments_) largest = std::max(largest, segment->extents().largest_free_bytes());
  return largest;
}

uint64_t SegmentSet::largest_segment_bytes() const {
  const std::shared_lock lock(mutex_);
  uint64_t largest = 0;
  for (const auto& segment : segments_) largest = std::max(largest, segment->extents().capacity_bytes());
  return largest;
}

}  // namespace gatun::loopback

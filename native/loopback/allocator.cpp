// SPDX-License-Identifier: Apache-2.0
#include "allocator.h"

#include <algorithm>
#include <bit>

namespace gatun::loopback {

ExtentAllocator::ExtentAllocator(uint64_t capacity_bytes) : capacity_grains_(capacity_bytes / kGrainBytes) {
  for (auto& level : bins_) level.fill(kNone);
  if (capacity_grains_ > 0) link(new_node({0, capacity_grains_, kNone, kNone, kNone, kNone, true}));
}

// Sizes below kSubCount have a bin each; above, a level is a power of two and a sub-bin a sixteenth of it.
ExtentAllocator::Bin ExtentAllocator::bin_of(uint64_t grains) {
  if (grains < kSubCount) return {0, static_cast<uint32_t>(grains)};
  const auto log = static_cast<uint32_t>(std::bit_width(grains)) - 1;
  return {log - kSubBits + 1, static_cast<uint32_t>((grains >> (log - kSubBits)) & (kSubCount - 1))};
}

uint32_t ExtentAllocator::find_fit(uint64_t grains) const {
  const Bin exact = bin_of(grains);
  // Any extent of a higher bin fits; take the lowest such bin.
  uint32_t subs = sub_map_[exact.level] & ~((2U << exact.sub) - 1);
  if (subs != 0) return bins_[exact.level][static_cast<uint32_t>(std::countr_zero(subs))];
  // Within the exact bin some extents fit: look before breaking a much larger one.
  constexpr int kLook = 8;
  int looked = 0;
  for (uint32_t node = bins_[exact.level][exact.sub]; node != kNone && looked < kLook; node = nodes_[node].next) {
    if (nodes_[node].size >= grains) return node;
    looked++;
  }
  const uint64_t levels = level_map_ & ~((2ULL << exact.level) - 1);
  if (levels != 0) {
    const auto level = static_cast<uint32_t>(std::countr_zero(levels));
    return bins_[level][static_cast<uint32_t>(std::countr_zero(sub_map_[level]))];
  }
  // Nothing above: the whole exact bin, so that the largest free extent is always usable.
  for (uint32_t node = bins_[exact.level][exact.sub]; node != kNone; node = nodes_[node].next) {
    if (nodes_[node].size >= grains) return node;
  }
  return kNone;
}

void ExtentAllocator::link(uint32_t node) {
  const Bin bin = bin_of(nodes_[node].size);
  uint32_t& head = bins_[bin.level][bin.sub];
  nodes_[node].free = true;
  nodes_[node].previous = kNone;
  nodes_[node].next = head;
  if (head != kNone) nodes_[head].previous = node;
  head = node;
  sub_map_[bin.level] |= 1U << bin.sub;
  level_map_ |= 1ULL << bin.level;
}

void ExtentAllocator::unlink(uint32_t node) {
  const Node& taken = nodes_[node];
  const Bin bin = bin_of(taken.size);
  if (taken.previous != kNone) {
    nodes_[taken.previous].next = taken.next;
  } else {
    bins_[bin.level][bin.sub] = taken.next;
    if (taken.next == kNone) {
      sub_map_[bin.level] &= ~(1U << bin.sub);
      if (sub_map_[bin.level] == 0) level_map_ &= ~(1ULL << bin.level);
    }
  }
  if (taken.next != kNone) nodes_[taken.next].previous = taken.previous;
  nodes_[node].free = false;
}

uint32_t ExtentAllocator::new_node(const Node& value) {
  if (!spare_nodes_.empty()) {
    const uint32_t node = spare_nodes_.back();
    spare_nodes_.pop_back();
    nodes_[node] = value;
    return node;
  }
  nodes_.push_back(value);
  // free() must not fail, so there is always room to return every node.
  spare_nodes_.reserve(nodes_.capacity());
  return static_cast<uint32_t>(nodes_.size() - 1);
}

bool ExtentAllocator::allocate(uint64_t bytes, Extent& out) {
  const uint64_t grains = bytes / kGrainBytes + (bytes % kGrainBytes != 0 ? 1 : 0);
  if (grains == 0 || grains > capacity_grains_) return false;
  const std::lock_guard lock(mutex_);
  const uint32_t node = find_fit(grains);
  if (node == kNone) return false;
  if (nodes_[node].size > grains) {
    // The rest first: new_node may throw or move the nodes, and nothing has been changed yet.
    const Node whole = nodes_[node];
    const uint32_t rest = new_node({whole.offset + grains, whole.size - grains, node, whole.right, kNone, kNone, true});
    unlink(node);
    if (whole.right != kNone) nodes_[whole.right].left = rest;
    nodes_[node].right = rest;
    nodes_[node].size = grains;
    link(rest);
  } else {
    unlink(node);
  }
  allocated_grains_.fetch_add(grains, std::memory_order_relaxed);
  out = {node, nodes_[node].offset * kGrainBytes};
  return true;
}

void ExtentAllocator::absorb_right(uint32_t node) {
  const uint32_t gone = nodes_[node].right;
  unlink(gone);
  nodes_[node].size += nodes_[gone].size;
  nodes_[node].right = nodes_[gone].right;
  if (nodes_[node].right != kNone) nodes_[nodes_[node].right].left = node;
  spare_nodes_.push_back(gone);
}

void ExtentAllocator::free(uint32_t node) {
  const std::lock_guard lock(mutex_);
  allocated_grains_.fetch_sub(nodes_[node].size, std::memory_order_relaxed);
  const uint32_t right = nodes_[node].right;
  if (right != kNone && nodes_[right].free) absorb_right(node);
  const uint32_t left = nodes_[node].left;
  if (left == kNone || !nodes_[left].free) {
    link(node);
    return;
  }
  // Join into the left neighbour, which changes bins.
  unlink(left);
  nodes_[left].size += nodes_[node].size;
  nodes_[left].right = nodes_[node].right;
  if (nodes_[left].right != kNone) nodes_[nodes_[left].right].left = left;
  spare_nodes_.push_back(node);
  link(left);
}

uint64_t ExtentAllocator::largest_free_bytes() {
  const std::lock_guard lock(mutex_);
  if (level_map_ == 0) return 0;
  const auto level = static_cast<uint32_t>(std::bit_width(level_map_)) - 1;
  const auto sub = static_cast<uint32_t>(std::bit_width(sub_map_[level])) - 1;
  uint64_t grains = 0;
  for (uint32_t node = bins_[level][sub]; node != kNone; node = nodes_[node].next) {
    grains = std::max(grains, nodes_[node].size);
  }
  return grains * kGrainBytes;
}

}  // namespace gatun::loopback

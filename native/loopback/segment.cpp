// SPDX-License-Identifier: Apache-2.0
#include "segment.h"

#include <sys/mman.h>

namespace gatun::loopback {
namespace {

// A multiple of every Linux page size in use (4, 16, 64 KiB) and the huge page of 4 KiB kernels.
constexpr uint64_t kAlignBytes = 2ULL << 20;

std::byte* map_aligned(uint64_t bytes) {
  const uint64_t reserved = bytes + kAlignBytes;
  if (reserved < bytes) return nullptr;
  void* const raw = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t aligned = (start + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
  const uint64_t before = aligned - start;
  const uint64_t after = reserved - before - bytes;
  if (before > 0) munmap(raw, before);
  if (after > 0) munmap(reinterpret_cast<void*>(aligned + bytes), after);
  // Advice only: without huge pages a fresh segment pays a fault for every small page.
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<std::byte*>(aligned);
}

}  // namespace

std::shared_ptr<Segment> Segment::map(std::string name, uint64_t bytes) {
  // Whole alignment units, so that the mapping can be trimmed and given back on any page size.
  const uint64_t mapped = (bytes + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
  if (mapped < bytes) return nullptr;
  std::byte* const base = map_aligned(mapped);
  if (base == nullptr) return nullptr;
  return std::shared_ptr<Segment>(new Segment(std::move(name), base, bytes));
}

Segment::~Segment() {
  munmap(base_, (bytes_ + kAlignBytes - 1) / kAlignBytes * kAlignBytes);
}

}  // namespace gatun::loopback

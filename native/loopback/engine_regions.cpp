// SPDX-License-Identifier: Apache-2.0
#include "engine_regions.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "codes.h"
#include "mutants.h"

namespace gatun::loopback {

RegionTable::Use::~Use() {
  if (table_ != nullptr) table_->finish(base_);
}

bool RegionTable::overlaps(uintptr_t base, uint64_t bytes) const {
  const auto after = regions_.lower_bound(base);
  if (after != regions_.end() && after->first - base < bytes) return true;
  if (after == regions_.begin()) return false;
  const auto before = std::prev(after);
  return base - before->first < before->second.bytes;
}

int RegionTable::add(uintptr_t base, uint64_t bytes) {
  if (base == 0 || bytes == 0 || base + bytes < base) return kEngineInvalidArgument;
  const std::lock_guard lock(mutex_);
  if (overlaps(base, bytes)) return mutant(Mutant::kEngineAcceptsOverlap) ? kOk : kEngineOverlap;
  regions_.emplace(base, Region{bytes});
  return kOk;
}

int RegionTable::remove(uintptr_t base) {
  std::unique_lock lock(mutex_);
  const auto region = regions_.find(base);
  if (region == regions_.end() || region->second.leaving) return kEngineNotRegistered;
  region->second.leaving = true;  // no new copies
  // A peer may be frozen in the middle of one. 2 s: a copy of gigabytes; unmeasured default.
  constexpr std::chrono::seconds kCopies{2};
  if (!unused_.wait_for(lock, kCopies, [&] { return region->second.users == 0; })) {
    region->second.leaving = false;
    return kEngineBusy;
  }
  regions_.erase(region);
  return kOk;
}

RegionTable::Use RegionTable::use(uint64_t address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (closed_) return {};
  const auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return {};
  const auto region = std::prev(after);
  const uint64_t offset = address - region->first;
  if (region->second.leaving || offset >= region->second.bytes) return {};
  const uint64_t rest = region->second.bytes - offset;
  if (bytes > rest && !mutant(Mutant::kEngineRangeEndUnchecked)) return {};
  region->second.users++;
  return Use(this, region->first, std::min(bytes, rest));
}

void RegionTable::finish(uintptr_t base) {
  const std::lock_guard lock(mutex_);
  if (--regions_.at(base).users == 0) unused_.notify_all();
}

void RegionTable::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  unused_.wait(lock, [&] {
    return std::all_of(regions_.begin(), regions_.end(), [](const auto& entry) { return entry.second.users == 0; });
  });
}

}  // namespace gatun::loopback

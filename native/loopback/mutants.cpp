// SPDX-License-Identifier: Apache-2.0
#include "mutants.h"

#include <array>

namespace gatun::loopback {

std::atomic<int32_t> active_mutant{0};

namespace {

constexpr std::array kNames = {
    "lost lease",
    "put in flight visible",
    "removal of a put in flight",
    "evicted hard pin",
    "existing key refused with a code",
    "existing key overwritten",
    "short buffer partly written",
    "remove_all counts one too many",
    "removal leaves the key",
    "forced removal honours the lease",
    "unforced removal ignores the lease",
    "batch results shifted by one",
    "get returns the capacity instead of the size",
    "error of exists folded into absent",
    "size off by one",
    "eviction never starts",
    "zero length accepted",
    "abandoned put becomes readable",
    "regex removes all",
    "key truncated at 255 bytes",
    "unregister ignored",
    "last byte not copied",
    "soft pin ignored",
    "zero replicas accepted",
    "expired lease unreported",
    "regex anchored",
    "removal of a missing key succeeds",
    "put in flight reported as missing",
    "eviction ignores the lease",
    "memory reused under a reader",
    "revoke leaves the key in flight",
    "engine completes before the copy",
    "engine frees a busy batch",
    "engine accepts overlapping registrations",
    "engine batch capacity unbounded",
    "engine notifies twice",
    "engine last byte not copied",
    "engine range end unchecked",
    "engine batch registration not rolled back",
    "engine silent peer given up",
};
static_assert(kNames.size() + 1 == static_cast<size_t>(Mutant::kCount), "each mutant has a name");

}  // namespace

int mutant_count() {
  return static_cast<int>(kNames.size());
}

const char* mutant_name(int id) {
  return id >= 1 && id <= mutant_count() ? kNames[static_cast<size_t>(id - 1)] : nullptr;
}

bool switch_mutant(int id) {
  if (id < 0 || id > mutant_count()) return false;
  active_mutant.store(id, std::memory_order_relaxed);
  return true;
}

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "clock.h"
#include "codes.h"
#include "faults.h"
#include "store.h"

namespace gatun::loopback {
namespace {

int folded(int code) {
  return code < 0 && mutant(Mutant::kExistsErrorFolded) ? 0 : code;
}

int exists_code(const Fault& fault) {
  return fault.skips() ? 0 : folded(static_cast<int>(fault.code));
}

}  // namespace

int Store::exists(const char* key) {
  if (const Fault fault = reach(FaultPoint::kExists); fault.fails() || fault.skips()) return exists_code(fault);
  if (const int code = pool_->admit(); code != kOk) return folded(code);
  return pool_->exists(Key(key), now_nanos()) ? 1 : 0;
}

int Store::batch_exists(size_t count, const char* const* keys, int* results) {
  if (const int code = pool_->admit(); code != kOk) {
    std::fill_n(results, count, folded(code));
    return kOk;
  }
  // Hashing a few keys ahead lets their index lines arrive while others are looked up.
  constexpr size_t kAhead = 16;
  std::array<std::optional<Key>, kAhead> ahead;
  const int64_t now = now_nanos();
  for (size_t first = 0; first < count; first += kAhead) {
    const size_t here = std::min(kAhead, count - first);
    for (size_t i = 0; i < here; i++) pool_->prefetch(ahead[i].emplace(keys[first + i]));
    for (size_t i = 0; i < here; i++) {
      const Fault fault = reach(FaultPoint::kExists);
      const bool decided = fault.fails() || fault.skips();
      results[first + i] = decided ? exists_code(fault) : (pool_->exists(*ahead[i], now) ? 1 : 0);
    }
  }
  if (mutant(Mutant::kBatchResultsShifted) && count > 1) std::rotate(results, results + 1, results + count);
  return kOk;
}

int64_t Store::size(const char* key) {
  if (int64_t code; answered(FaultPoint::kSize, code)) return code;
  if (const int code = pool_->admit(); code != kOk) return code;
  return pool_->size(Key(key), now_nanos());
}

}  // namespace gatun::loopback

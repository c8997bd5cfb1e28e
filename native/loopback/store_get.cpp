// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "clock.h"
#include "codes.h"
#include "faults.h"
#include "store.h"

namespace gatun::loopback {

struct Store::GetItem {
  ReadHold read;
  CopyTask task{nullptr, nullptr, 0};
  int64_t answer = 0;  // what a good end answers
  int64_t* result = nullptr;
};

int64_t Store::start_get(GetItem& item, const char* key, void* buffer, uint64_t capacity, int64_t now) {
  if (const Fault fault = reach(FaultPoint::kGetBeforeLookup); fault.fails()) return fault.code;
  const int64_t code = pool_->acquire(Key(key), capacity, now, item.read);
  if (code < 0) return code;
  uint64_t copied = item.read.bytes;
  item.answer = static_cast<int64_t>(item.read.bytes);
  if (copied > capacity) {  // only under a mutant
    copied = capacity;
    item.answer = kInvalidParams;
  }
  if (mutant(Mutant::kGetReturnsCapacity)) item.answer = static_cast<int64_t>(capacity);
  if (mutant(Mutant::kLastByteNotCopied) && copied > 0) copied--;
  const Fault fault = reach(FaultPoint::kGetBeforeCopy);
  if (fault.fails()) {
    item.read.object.reset();
    return fault.code;
  }
  item.task = {static_cast<std::byte*>(buffer), item.read.source, fault.skips() ? 0 : copied};
  return kOk;
}

int64_t Store::end_get(GetItem& item, int64_t now) {
  item.read.object.reset();
  if (const Fault fault = reach(FaultPoint::kGetBeforeReturn); fault.fails()) return fault.code;
  // Here the object was held all the while, so the bytes are good; the code is the contract all the same.
  if (now > item.read.lease_until && !mutant(Mutant::kExpiredLeaseUnreported)) return kLeaseExpired;
  return item.answer;
}

int64_t Store::get_into(const char* key, void* buffer, uint64_t capacity) {
  if (const int code = pool_->admit(); code != kOk) return code;
  GetItem item;
  if (const int64_t code = start_get(item, key, buffer, capacity, now_nanos()); code != kOk) return code;
  CopyCrew::instance().copy({&item.task, 1});
  return end_get(item, now_nanos());
}

int Store::batch_get_into(size_t count, const char* const* keys, void* const* buffers, const size_t* capacities,
                          int64_t* results) {
  if (const int code = pool_->admit(); code != kOk) {
    std::fill_n(results, count, code);
    return kOk;
  }
  std::vector<GetItem> items;
  std::vector<CopyTask> tasks;
  items.reserve(count);
  tasks.reserve(count);
  const int64_t started = now_nanos();
  for (size_t i = 0; i < count; i++) {
    GetItem item;
    results[i] = start_get(item, keys[i], buffers[i], capacities[i], started);
    if (results[i] != kOk) continue;
    item.result = &results[i];
    tasks.push_back(item.task);
    items.push_back(std::move(item));
  }
  CopyCrew::instance().copy(tasks);
  const int64_t ended = now_nanos();
  for (GetItem& item : items) *item.result = end_get(item, ended);
  if (mutant(Mutant::kBatchResultsShifted) && count > 1) std::rotate(results, results + 1, results + count);
  return kOk;
}

}  // namespace gatun::loopback

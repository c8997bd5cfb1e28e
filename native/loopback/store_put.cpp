// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "codes.h"
#include "faults.h"
#include "store.h"

namespace gatun::loopback {

// One key on its way through a put. Dropped before its end, it is revoked: no exception leaves a key in flight.
struct Store::PutItem {
  PutItem(Pool& in, const void* from, int* answer)
      : pool(&in), source(static_cast<const std::byte*>(from)), result(answer) {}
  PutItem(PutItem&&) = default;
  PutItem& operator=(PutItem&&) = delete;
  ~PutItem() {
    if (object) pool->revoke_put(*object.get());
  }

  Pool* pool;
  const std::byte* source;
  int* result;
  ObjectHold object;
  bool copies = true;
};

namespace {

// A put copies through the store's local buffer; one that finds no room there is refused, not queued.
class LocalBufferShare {
 public:
  LocalBufferShare(std::atomic<uint64_t>& used, uint64_t capacity, uint64_t bytes) : used_(used), bytes_(bytes) {
    granted_ = bytes <= capacity && used_.fetch_add(bytes, std::memory_order_relaxed) <= capacity - bytes;
    if (bytes <= capacity && !granted_) used_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  LocalBufferShare(const LocalBufferShare&) = delete;
  LocalBufferShare& operator=(const LocalBufferShare&) = delete;
  ~LocalBufferShare() {
    if (granted_) used_.fetch_sub(bytes_, std::memory_order_relaxed);
  }
  bool granted() const { return granted_; }

 private:
  std::atomic<uint64_t>& used_;
  const uint64_t bytes_;
  bool granted_;
};

void add_copies(const Object& object, const std::byte* source, std::vector<CopyTask>& tasks) {
  tasks.push_back({object.first.bytes(), source, object.bytes});
  for (const Replica& replica : object.others) tasks.push_back({replica.bytes(), source, object.bytes});
}

}  // namespace

int Store::start_put(PutItem& item, const char* key, uint64_t bytes, const mooncake_replicate_config* config) {
  if (int code; answered(FaultPoint::kPutBeforeStart, code)) return code;
  const int code = pool_->start_put(Key(key), bytes, config, id_, item.object);
  // Somebody has put it or is about to: a success that writes nothing.
  if (code == kObjectAlreadyExists && !mutant(Mutant::kExistingKeyRefused)) return kOk;
  return code;
}

int Store::before_copy(PutItem& item) {
  const Fault fault = reach(FaultPoint::kPutBeforeCopy);
  if (fault.fails()) {
    pool_->revoke_put(*item.object.get());
    item.object.reset();
    return static_cast<int>(fault.code);
  }
  item.copies = !fault.skips();
  return kOk;
}

int Store::end_put(PutItem& item, int admitted) {
  const Fault fault = reach(FaultPoint::kPutBeforeEnd);
  const ObjectHold object = std::move(item.object);
  // Whoever loses the master or dies here leaves the put in flight.
  if (fault.fails() || fault.skips()) {
    if (mutant(Mutant::kAbandonedPutReadable)) pool_->end_put(*object.get());
    return fault.skips() ? kOk : static_cast<int>(fault.code);
  }
  return admitted == kOk ? pool_->end_put(*object.get()) : admitted;
}

int Store::put_one(const char* key, const void* value, uint64_t bytes, const mooncake_replicate_config* config) {
  if (const int code = pool_->admit(); code != kOk) return code;
  PutItem item(*pool_, value, nullptr);
  if (const int code = start_put(item, key, bytes, config); code != kOk || !item.object) return code;
  if (const int code = before_copy(item); code != kOk) return code;
  if (item.copies) {
    const CopyTask first{item.object->first.bytes(), item.source, bytes};
    CopyCrew::instance().copy({&first, 1});
    for (const Replica& replica : item.object->others) {
      const CopyTask other{replica.bytes(), item.source, bytes};
      CopyCrew::instance().copy({&other, 1});
    }
  }
  const int code = end_put(item, pool_->admit());
  pool_->evict_above_watermark();
  return code;
}

int Store::put(const char* key, const void* value, uint64_t bytes, const mooncake_replicate_config* config) {
  if (bytes == 0 && !mutant(Mutant::kZeroLengthAccepted)) return kInvalidParams;
  const LocalBufferShare share(local_buffer_used_, local_buffer_bytes_, bytes);
  return share.granted() ? put_one(key, value, bytes, config) : kInvalidParams;
}

int Store::put_from(const char* key, const void* buffer, uint64_t bytes, const mooncake_replicate_config* config) {
  // Says success and stores nothing, as the real library does.
  if (bytes == 0 && !mutant(Mutant::kZeroLengthAccepted)) return kOk;
  return put_one(key, buffer, bytes, config);
}

int Store::batch_put_from(size_t count, const char* const* keys, void* const* buffers, const size_t* sizes,
                          const mooncake_replicate_config* config, int* results) {
  if (const int code = pool_->admit(); code != kOk) {
    std::fill_n(results, count, code);
    return kOk;
  }
  // Starts, copies and ends are three passes, as they are three messages to a real master: a batch is in flight as one.
  std::vector<PutItem> items;
  std::vector<CopyTask> tasks;
  items.reserve(count);
  tasks.reserve(count);
  for (size_t i = 0; i < count; i++) {
    PutItem item(*pool_, buffers[i], &results[i]);
    results[i] = start_put(item, keys[i], sizes[i], config);
    if (results[i] == kOk && item.object) items.push_back(std::move(item));
  }
  for (PutItem& item : items) {
    *item.result = before_copy(item);
    if (item.object && item.copies) add_copies(*item.object.get(), item.source, tasks);
  }
  CopyCrew::instance().copy(tasks);
  const int admitted = pool_->admit();
  for (PutItem& item : items) {
    if (item.object) *item.result = end_put(item, admitted);
  }
  if (mutant(Mutant::kBatchResultsShifted) && count > 1) std::rotate(results, results + 1, results + count);
  pool_->evict_above_watermark();
  return kOk;
}

}  // namespace gatun::loopback

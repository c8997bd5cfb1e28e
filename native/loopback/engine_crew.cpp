// SPDX-License-Identifier: Apache-2.0
#include "engine_crew.h"

#include <algorithm>

#include "worker_thread.h"

namespace gatun::loopback {
namespace {

// At least two, so that one hung or delayed task does not stop the others; large copies use the copy crew besides.
// Unmeasured defaults.
constexpr size_t kMinWorkers = 2;
constexpr size_t kMaxWorkers = 4;

}  // namespace

// Leaked on purpose: its threads may copy while the process exits.
TransferCrew& TransferCrew::instance() {
  static TransferCrew* const crew = new TransferCrew;
  return *crew;
}

TransferCrew::TransferCrew() {
  const size_t wanted = std::clamp(usable_cores(), kMinWorkers, kMaxWorkers);
  for (size_t i = 0; i < wanted; i++) {
    if (start_worker("gatun-transfer", [this] { carry_out(); })) worker_count_++;
  }
}

void TransferCrew::enqueue(std::shared_ptr<TransferBatch> batch, TransferTask* task) {
  if (worker_count_ == 0) {
    batch->run(*task);  // a system that refuses threads still transfers
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(batch), task});
  }
  work_.notify_one();
}

void TransferCrew::carry_out() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return !queue_.empty(); });
    Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    item.batch->run(*item.task);
    item.batch.reset();
    lock.lock();
  }
}

}  // namespace gatun::loopback

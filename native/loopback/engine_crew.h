// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "engine_batch.h"

namespace gatun::loopback {

// The threads that carry out transfers, one task a thread at a time. All engines of the process share them.
class TransferCrew {
 public:
  static TransferCrew& instance();

  // The batch stays alive until its task is done.
  void enqueue(std::shared_ptr<TransferBatch> batch, TransferTask* task);

 private:
  struct Item {
    std::shared_ptr<TransferBatch> batch;
    TransferTask* task;
  };

  TransferCrew();
  void carry_out();

  size_t worker_count_ = 0;
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Item> queue_;
};

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "abi.h"
#include "engine_endpoint.h"
#include "engine_peer.h"

namespace gatun::loopback {

// Lets destroyTransferEngine stop what its batches still have queued and wait for what runs.
class TransferGate {
 public:
  bool enter();  // false once closed
  void leave();
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  int64_t running_ = 0;
  bool closed_ = false;
};

struct TransferTask {
  transfer_request request;
  Target target;
  std::atomic<int32_t> status{STATUS_WAITING};
  std::atomic<uint64_t> transferred_bytes{0};
  uint64_t finish_number = 0;  // how many tasks of the batch had finished with it; written before the status
  std::atomic<bool> observed{false};
};

// The tasks behind one batch id: WAITING, then COMPLETED or FAILED, once. Submit and poll may run concurrently.
class TransferBatch : public std::enable_shared_from_this<TransferBatch> {
 public:
  TransferBatch(uint64_t engine, size_t capacity, std::shared_ptr<TransferGate> gate)
      : engine_(engine), capacity_(capacity), gate_(std::move(gate)) {}

  uint64_t engine() const { return engine_; }

  bool has_room(size_t count);
  // 0 or 2; adds all tasks or none. Slots are not used again. targets[i] belongs to requests[i].
  int submit(const transfer_request* requests, std::vector<Target> targets,
             std::optional<Notice> notice);
  // 0 or 1; polling is what frees the batch and what sends its notice.
  int poll(size_t task, transfer_status& out);
  // Every task was seen terminal by a poll.
  bool observed();

  void run(TransferTask& task);

 private:
  bool fits(size_t count) const;
  // False when the task ends later, with its place behind the gate.
  bool copy(TransferTask& task);
  bool copy_remote(TransferTask& task);
  void finish(TransferTask& task, int32_t status, uint64_t bytes);
  void notify_if_complete(std::unique_lock<std::mutex>& lock);

  const uint64_t engine_;
  const size_t capacity_;
  const std::shared_ptr<TransferGate> gate_;
  std::mutex mutex_;
  std::deque<TransferTask> tasks_;  // addresses stay
  size_t completed_ = 0;
  uint64_t finished_ = 0;
  uint64_t observed_up_to_ = 0;  // finish numbers that a poll answering COMPLETED has covered
  std::atomic<const RemotePeer*> frozen_peer_{nullptr};
  std::optional<Notice> notice_;
  Target notice_target_;
};

}  // namespace gatun::loopback

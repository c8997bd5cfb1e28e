// SPDX-License-Identifier: Apache-2.0
#include "engine_batch.h"

#include <algorithm>
#include <chrono>

#include "codes.h"
#include "copy_crew.h"
#include "engine_crew.h"
#include "engine_wire.h"
#include "faults.h"
#include "mutants.h"

namespace gatun::loopback {

bool TransferGate::enter() {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  running_++;
  return true;
}

void TransferGate::leave() {
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) idle_.notify_all();
}

void TransferGate::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  idle_.wait(lock, [&] { return running_ == 0; });
}

bool TransferBatch::has_room(size_t count) {
  const std::lock_guard lock(mutex_);
  return fits(count);
}

bool TransferBatch::fits(size_t count) const {
  return count <= capacity_ - std::min(capacity_, tasks_.size()) || mutant(Mutant::kEngineCapacityUnbounded);
}

int TransferBatch::submit(const transfer_request* requests, std::vector<Target> targets,
                          std::optional<Notice> notice) {
  const size_t count = targets.size();
  std::vector<TransferTask*> added;
  added.reserve(count);
  {
    const std::lock_guard lock(mutex_);
    if (!fits(count)) return kStatusTooManyRequests;
    const size_t before = tasks_.size();
    try {
      for (size_t i = 0; i < count; i++) {
        TransferTask& task = tasks_.emplace_back();
        task.request = requests[i];
        task.target = std::move(targets[i]);
        added.push_back(&task);
      }
    } catch (...) {
      while (tasks_.size() > before) tasks_.pop_back();
      throw;
    }
    if (notice) {
      notice_ = std::move(notice);  // one a batch: the last wins
      notice_target_ = added.front()->target;
    }
  }
  for (TransferTask* const task : added) {
    if (mutant(Mutant::kEngineCompletesBeforeCopy)) {
      task->status.store(STATUS_COMPLETED, std::memory_order_release);
    }
    TransferCrew::instance().enqueue(shared_from_this(), task);
  }
  return kOk;
}

void TransferBatch::run(TransferTask& task) {
  const Fault fault = reach(FaultPoint::kEngineCopy);
  if (!gate_->enter()) {
    finish(task, STATUS_FAILED, 0);
    return;
  }
  if (fault.fails()) {
    finish(task, STATUS_FAILED, 0);
  } else if (fault.skips() || task.request.length == 0) {
    finish(task, STATUS_COMPLETED, task.request.length);
  } else if (!copy(task)) {
    return;
  }
  gate_->leave();
}

bool TransferBatch::copy(TransferTask& task) {
  const transfer_request& request = task.request;
  if (task.target.remote != nullptr) return copy_remote(task);
  const auto target = task.target.local.lock();
  if (target == nullptr) {
    finish(task, STATUS_FAILED, 0);
    return true;
  }
  const RegionTable::Use use = target->regions().use(request.target_offset, request.length);
  if (!use) {
    finish(task, STATUS_FAILED, 0);
    return true;
  }
  auto* const here = static_cast<std::byte*>(request.source);
  auto* const there = reinterpret_cast<std::byte*>(request.target_offset);
  const uint64_t bytes = use.usable_bytes() - (mutant(Mutant::kEngineLastByteNotCopied) ? 1 : 0);
  const CopyTask write{there, here, bytes};
  const CopyTask read{here, there, bytes};
  CopyCrew::instance().copy({request.opcode == OPCODE_WRITE ? &write : &read, 1});
  finish(task, STATUS_COMPLETED, request.length);
  return true;
}

// A peer that is gone, or that refuses, fails the task at once. One that is frozen fails a read after kWireProgress. A
// write that it has got, in part or in whole, ends when it goes on or dies: what failed is never applied later. The tasks
// of the batch that come after fail without waiting again.
bool TransferBatch::copy_remote(TransferTask& task) {
  const transfer_request& request = task.request;
  RemotePeer& peer = *task.target.remote;
  const auto ended = [this, &task](bool good) {
    finish(task, good ? STATUS_COMPLETED : STATUS_FAILED, good ? task.request.length : 0);
  };
  if (frozen_peer_ == &peer) {
    ended(false);
  } else if (request.opcode == OPCODE_WRITE) {
    const auto written = peer.write(request.source, request.target_offset, request.length,
                                    [ended, batch = shared_from_this()](bool good) {
                                      ended(good);
                                      batch->gate_->leave();
                                    });
    if (written == RemotePeer::Written::kSilent) {
      frozen_peer_ = &peer;
      return false;
    }
    ended(written == RemotePeer::Written::kAll);
  } else {
    const auto began = std::chrono::steady_clock::now();
    const bool good = peer.read(request.source, request.target_offset, request.length);
    if (!good && std::chrono::steady_clock::now() - began >= kWireProgress) frozen_peer_ = &peer;
    ended(good);
  }
  return true;
}

void TransferBatch::finish(TransferTask& task, int32_t status, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  task.finish_number = ++finished_;
  if (status == STATUS_COMPLETED) completed_++;
  task.transferred_bytes.store(bytes, std::memory_order_relaxed);
  task.status.store(status, std::memory_order_release);
}

int TransferBatch::poll(size_t index, transfer_status& out) {
  std::unique_lock lock(mutex_);
  if (index >= tasks_.size()) return kStatusInvalidArgument;
  TransferTask& task = tasks_[index];
  const int32_t status = task.status.load(std::memory_order_acquire);
  out.status = status;
  out.transferred_bytes = task.transferred_bytes.load(std::memory_order_relaxed);
  if (status != STATUS_WAITING) task.observed = true;
  if (status == STATUS_COMPLETED) {
    // Such a poll covers all that has finished by now.
    observed_up_to_ = finished_;
    notify_if_complete(lock);
  }
  return kOk;
}

void TransferBatch::notify_if_complete(std::unique_lock<std::mutex>& lock) {
  if (!notice_ || completed_ != tasks_.size()) return;
  const Notice notice = *std::exchange(notice_, std::nullopt);
  const Target target = notice_target_;
  lock.unlock();
  if (mutant(Mutant::kEngineNotifyTwice)) target.deliver(notice);
  target.deliver(notice);
}

bool TransferBatch::observed() {
  const std::lock_guard lock(mutex_);
  return mutant(Mutant::kEngineFreesBusyBatch) || std::all_of(tasks_.begin(), tasks_.end(), [&](const auto& task) {
           const bool covered = task.finish_number != 0 && task.finish_number <= observed_up_to_;
           return task.observed || covered;
         });
}

}  // namespace gatun::loopback

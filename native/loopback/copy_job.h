// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "copy_bytes.h"

namespace gatun::loopback {

struct CopyTask {
  std::byte* target;
  const std::byte* source;
  size_t bytes;
};

// A place where one caller's batch is offered to the helpers. It stays when the batch is done, so a helper may look at
// it at any time without a lock: it counts itself in, and touches the rest only if the place is open.
class CopyJob {
 public:
  // Caller: takes the place; false when another caller has it.
  bool take() { return !taken_.exchange(true, std::memory_order_acquire); }
  // Caller: cuts the batch and opens the place. May throw; then give_back.
  void open(std::span<const CopyTask> tasks, size_t total_bytes, size_t threads, Writes writes);
  // Caller: nobody comes in any more, and those inside have left.
  void close();
  void give_back() { taken_.store(false, std::memory_order_release); }

  // Helper: false when there was nothing to do here.
  bool help(size_t thread);
  // Copies until nothing is left: first the thread's own share, then what is left of the others'. The same thread gets
  // the same part of a batch each time, so its caches know it.
  void work(size_t thread);
  // Helper: whether a look inside is worth it for this thread.
  bool offers_work(size_t thread) const {
    return open_.load(std::memory_order_relaxed) && !exhausted_.load(std::memory_order_relaxed) &&
           thread < share_count_.load(std::memory_order_relaxed);
  }

 private:
  // Chunks [next, end); on a line of its own.
  struct alignas(64) Share {
    std::atomic<size_t> next{0};
    size_t end = 0;
  };

  bool take_chunk(size_t share, size_t& chunk);
  void copy_chunk(size_t chunk) const;

  std::atomic<bool> taken_{false};
  std::atomic<bool> open_{false};
  std::atomic<bool> exhausted_{false};
  std::atomic<size_t> inside_{0};
  std::vector<CopyTask> pieces_;
  std::vector<size_t> ends_;  // of each chunk, in pieces
  std::unique_ptr<Share[]> shares_;
  size_t share_capacity_ = 0;
  std::atomic<size_t> share_count_{0};  // threads that take part
  Writes writes_ = Writes::kCached;
};

// One turn of waiting for something that is about to happen. Now and then it yields: on a busy machine whoever has work
// gets the core.
void relax(int turn);

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#include "copy_job.h"

#include <algorithm>
#include <thread>

namespace gatun::loopback {
namespace {

// What a thread takes at a time: large enough that taking is free, small enough that all finish together. Unmeasured
// defaults.
constexpr size_t kMinChunkBytes = 32 << 10;
constexpr size_t kMaxChunkBytes = 1 << 20;
constexpr size_t kChunksPerThread = 4;

}  // namespace

void relax(int turn) {
  if (turn % 16 == 15) {
    std::this_thread::yield();
    return;
  }
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void CopyJob::open(std::span<const CopyTask> tasks, size_t total_bytes, size_t threads, Writes writes) {
  const size_t even = total_bytes / (threads * kChunksPerThread) / 64 * 64;
  const size_t chunk_bytes = std::clamp(even, kMinChunkBytes, kMaxChunkBytes);
  pieces_.clear();
  ends_.clear();
  size_t in_chunk = 0;
  for (const CopyTask& task : tasks) {
    for (size_t at = 0; at < task.bytes;) {
      const size_t bytes = std::min(chunk_bytes - in_chunk, task.bytes - at);
      pieces_.push_back({task.target + at, task.source + at, bytes});
      at += bytes;
      in_chunk += bytes;
      if (in_chunk < chunk_bytes) continue;
      ends_.push_back(pieces_.size());
      in_chunk = 0;
    }
  }
  if (in_chunk > 0) ends_.push_back(pieces_.size());
  if (share_capacity_ < threads) {
    shares_ = std::make_unique<Share[]>(threads);
    share_capacity_ = threads;
  }
  share_count_.store(threads, std::memory_order_relaxed);
  for (size_t i = 0; i < threads; i++) {
    shares_[i].next.store(ends_.size() * i / threads, std::memory_order_relaxed);
    shares_[i].end = ends_.size() * (i + 1) / threads;
  }
  writes_ = writes;
  exhausted_.store(false, std::memory_order_relaxed);
  open_.store(true, std::memory_order_seq_cst);
}

void CopyJob::close() {
  // A helper counts itself in, then looks; here it is the other way round. So one of the two sees the other.
  open_.store(false, std::memory_order_seq_cst);
  for (int turn = 0; inside_.load(std::memory_order_seq_cst) != 0; turn++) relax(turn);
}

bool CopyJob::help(size_t thread) {
  if (!offers_work(thread)) return false;
  inside_.fetch_add(1, std::memory_order_seq_cst);
  // It may be another batch by now, with fewer threads.
  const bool welcome = open_.load(std::memory_order_seq_cst) && thread < share_count_.load(std::memory_order_relaxed);
  if (welcome) work(thread);
  inside_.fetch_sub(1, std::memory_order_release);
  return welcome;
}

void CopyJob::work(size_t thread) {
  const size_t count = share_count_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < count; i++) {
    const size_t share = (thread + i) % count;
    size_t chunk;
    while (take_chunk(share, chunk)) copy_chunk(chunk);
  }
  exhausted_.store(true, std::memory_order_relaxed);
}

bool CopyJob::take_chunk(size_t share, size_t& chunk) {
  Share& from = shares_[share];
  if (from.next.load(std::memory_order_relaxed) >= from.end) return false;
  chunk = from.next.fetch_add(1, std::memory_order_relaxed);
  return chunk < from.end;
}

void CopyJob::copy_chunk(size_t chunk) const {
  for (size_t i = chunk == 0 ? 0 : ends_[chunk - 1]; i < ends_[chunk]; i++) {
    copy_bytes(pieces_[i].target, pieces_[i].source, pieces_[i].bytes, writes_);
  }
}

}  // namespace gatun::loopback

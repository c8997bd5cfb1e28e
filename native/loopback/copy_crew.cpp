// SPDX-License-Identifier: Apache-2.0
#include "copy_crew.h"

#include <algorithm>
#include <chrono>

#include "copy_bytes.h"
#include "worker_thread.h"

namespace gatun::loopback {
namespace {

// Copied alone below this: a sleeping helper arrives too late to be of use.
constexpr size_t kShareBytes = 1 << 20;
// Shared from this on when helpers are awake anyway, or when such batches follow each other closely, so that they will
// be.
constexpr size_t kShareAwakeBytes = 256 << 10;
// More threads than this gives each get in each other's way: 16 threads took 13 us for 256 KiB, one takes 8.
constexpr size_t kBytesPerThread = 128 << 10;
// From this on a batch is written around the caches. Which is faster turns between 16 and 24 MiB on an AMD EPYC of 2
// cores, by what its neighbours leave of the third-level cache, and between 16 and 20 MiB on an Intel Xeon of 16: 24 MiB
// 20 and 30 GB/s, 118 and 151 (benchmarks/results/copy-streams.json).
constexpr size_t kStreamBytes = 24 << 20;
// How long a helper stays awake for the next batch: a loop of batches then pays no wake-up. Unmeasured default.
constexpr auto kStayAwake = std::chrono::microseconds(50);

}  // namespace

// Leaked on purpose: its threads may copy while the process exits.
CopyCrew& CopyCrew::instance() {
  static CopyCrew* const crew = new CopyCrew;
  return *crew;
}

CopyCrew::CopyCrew() : helper_count_(usable_cores() - 1) {}

bool CopyCrew::worth_sharing(size_t total_bytes) {
  if (helper_count_ == 0 || total_bytes < kShareAwakeBytes) return false;
  const int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  const int64_t before = last_large_.exchange(now, std::memory_order_relaxed);
  return total_bytes >= kShareBytes || awake_idle_.load(std::memory_order_relaxed) > 0 ||
         now - before < kStayAwake / std::chrono::nanoseconds(1);
}

void CopyCrew::copy(std::span<const CopyTask> tasks) {
  size_t total_bytes = 0;
  for (const CopyTask& task : tasks) total_bytes += task.bytes;
  if (worth_sharing(total_bytes) && copy_together(tasks, total_bytes)) return;
  const Writes writes = total_bytes >= kStreamBytes ? Writes::kStreaming : Writes::kCached;
  for (const CopyTask& task : tasks) copy_bytes(task.target, task.source, task.bytes, writes);
}

bool CopyCrew::copy_together(std::span<const CopyTask> tasks, size_t total_bytes) {
  std::call_once(started_, [this] { start_helpers(); });
  CopyJob* job = nullptr;
  for (CopyJob& place : jobs_) {
    if (!place.take()) continue;
    job = &place;
    break;
  }
  if (job == nullptr) return false;
  const Writes writes = total_bytes >= kStreamBytes ? Writes::kStreaming : Writes::kCached;
  try {
    const size_t useful = std::max<size_t>(total_bytes / kBytesPerThread, 2);
    job->open(tasks, total_bytes, std::min(helper_count_ + 1, useful), writes);
  } catch (...) {
    job->give_back();
    throw;
  }
  open_jobs_.fetch_add(1, std::memory_order_seq_cst);
  wake_two();
  job->work(0);
  open_jobs_.fetch_sub(1, std::memory_order_relaxed);
  job->close();
  job->give_back();
  return true;
}

void CopyCrew::start_helpers() {
  for (size_t i = 1; i <= helper_count_; i++) start_worker("gatun-copy", [this, i] { help(i); });
}

// Two, and each of them two more: waking costs microseconds a thread, and nobody should pay for all.
void CopyCrew::wake_two() {
  const size_t sleepers = asleep_.load(std::memory_order_seq_cst);
  if (sleepers == 0) return;
  calls_.fetch_add(1, std::memory_order_seq_cst);
  calls_.notify_one();
  if (sleepers > 1) calls_.notify_one();
}

void CopyCrew::help(size_t helper) {
  for (;;) {
    if (help_once(helper)) continue;
    awake_idle_.fetch_add(1, std::memory_order_relaxed);
    const bool called = stay_awake(helper);
    awake_idle_.fetch_sub(1, std::memory_order_relaxed);
    if (called) continue;
    sleep();
    wake_two();
  }
}

bool CopyCrew::help_once(size_t helper) {
  bool helped = false;
  for (CopyJob& job : jobs_) helped = job.help(helper) || helped;
  return helped;
}

// True when a job was opened since, or is not used up.
bool CopyCrew::stay_awake(size_t helper) const {
  const auto until = std::chrono::steady_clock::now() + kStayAwake;
  do {
    for (int turn = 0; turn < 32; turn++) {
      for (const CopyJob& job : jobs_) {
        if (job.offers_work(helper)) return true;
      }
      relax(turn);
    }
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

void CopyCrew::sleep() {
  const uint32_t call = calls_.load(std::memory_order_seq_cst);
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  // Whoever opened a job before it saw a sleeper is seen here.
  if (open_jobs_.load(std::memory_order_seq_cst) == 0) calls_.wait(call, std::memory_order_seq_cst);
  asleep_.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#include "copy_crew.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "copy_bytes.h"
#include "worker_thread.h"

namespace gatun::loopback {
namespace {

// Below this a helper wakes too late to be of use. See the table in native/README.md.
constexpr size_t kTogetherBytes = 1 << 20;
// What a thread takes at a time: large enough that taking is free, small enough that all finish together.
constexpr size_t kChunkBytes = 512 << 10;

// Pieces of at most a chunk, so that one large page is shared too.
std::vector<CopyTask> cut(std::span<const CopyTask> tasks, size_t total_bytes) {
  std::vector<CopyTask> pieces;
  pieces.reserve(tasks.size() + total_bytes / kChunkBytes + 1);
  for (const CopyTask& task : tasks) {
    for (size_t at = 0; at < task.bytes; at += kChunkBytes) {
      pieces.push_back({task.target + at, task.source + at, std::min(kChunkBytes, task.bytes - at)});
    }
  }
  return pieces;
}

// Where each chunk ends in the pieces: a chunk is one large piece or several small ones.
std::vector<size_t> chunk_ends(const std::vector<CopyTask>& pieces) {
  std::vector<size_t> ends;
  size_t bytes = 0;
  for (size_t i = 0; i < pieces.size(); i++) {
    bytes += pieces[i].bytes;
    if (bytes >= kChunkBytes / 2 || i + 1 == pieces.size()) {
      ends.push_back(i + 1);
      bytes = 0;
    }
  }
  return ends;
}

}  // namespace

struct CopyCrew::Job {
  std::vector<CopyTask> pieces;
  std::vector<size_t> ends;
  std::atomic<size_t> next{0};
  size_t helpers = 0;  // threads inside, guarded by the crew's lock

  void work() {
    for (;;) {
      const size_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= ends.size()) return;
      for (size_t i = chunk == 0 ? 0 : ends[chunk - 1]; i < ends[chunk]; i++) {
        copy_bytes(pieces[i].target, pieces[i].source, pieces[i].bytes);
      }
    }
  }
};

// Leaked on purpose: its threads may copy while the process exits.
CopyCrew& CopyCrew::instance() {
  static CopyCrew* const crew = new CopyCrew;
  return *crew;
}

CopyCrew::CopyCrew() : helper_count_(usable_cores() - 1) {}

void CopyCrew::copy(std::span<const CopyTask> tasks) {
  size_t total_bytes = 0;
  for (const CopyTask& task : tasks) total_bytes += task.bytes;
  if (total_bytes >= kTogetherBytes && helper_count_ > 0) {
    copy_together(tasks, total_bytes);
    return;
  }
  for (const CopyTask& task : tasks) copy_bytes(task.target, task.source, task.bytes);
}

void CopyCrew::copy_together(std::span<const CopyTask> tasks, size_t total_bytes) {
  std::call_once(started_, [this] { start_helpers(); });
  Job job;
  job.pieces = cut(tasks, total_bytes);
  job.ends = chunk_ends(job.pieces);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
  }
  if (job.ends.size() > helper_count_) {
    work_.notify_all();
  } else {
    for (size_t i = 1; i < job.ends.size(); i++) work_.notify_one();
  }
  job.work();
  std::unique_lock lock(mutex_);
  std::erase(jobs_, &job);
  done_.wait(lock, [&] { return job.helpers == 0; });
}

void CopyCrew::start_helpers() {
  for (size_t i = 0; i < helper_count_; i++) start_worker("gatun-copy", [this] { help(); });
}

void CopyCrew::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return !jobs_.empty(); });
    Job* const job = jobs_.front();
    job->helpers++;
    lock.unlock();
    job->work();
    lock.lock();
    // Exhausted: nobody else needs to look at it.
    std::erase(jobs_, job);
    if (--job->helpers == 0) done_.notify_all();
  }
}

}  // namespace gatun::loopback

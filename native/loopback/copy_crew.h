// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <span>

namespace gatun::loopback {

struct CopyTask {
  std::byte* target;
  const std::byte* source;
  size_t bytes;
};

// Copies for the caller: small batches in the calling thread, large ones together with threads that stay. Returns when
// every byte is copied. Thread-safe; several callers share the crew.
class CopyCrew {
 public:
  static CopyCrew& instance();

  void copy(std::span<const CopyTask> tasks);

 private:
  struct Job;

  CopyCrew();
  void copy_together(std::span<const CopyTask> tasks, size_t total_bytes);
  void start_helpers();
  void help();

  const size_t helper_count_;
  std::once_flag started_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::deque<Job*> jobs_;
};

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "copy_job.h"

namespace gatun::loopback {

// Copies for the caller: small batches in the calling thread, large ones together with threads that stay. Returns when
// every byte is copied. Thread-safe; several callers share the crew.
class CopyCrew {
 public:
  static CopyCrew& instance();

  void copy(std::span<const CopyTask> tasks);

 private:
  // More callers at once than this copy alone: the helpers are all busy then. Unmeasured default.
  static constexpr size_t kSlots = 8;

  CopyCrew();
  bool worth_sharing(size_t total_bytes);
  bool copy_together(std::span<const CopyTask> tasks, size_t total_bytes);
  void start_helpers();
  void wake_two();
  void help(size_t helper);
  bool help_once(size_t helper);
  bool stay_awake(size_t helper) const;
  void sleep();

  const size_t helper_count_;
  std::once_flag started_;
  std::array<CopyJob, kSlots> jobs_;
  std::atomic<size_t> open_jobs_{0};
  std::atomic<size_t> asleep_{0};
  std::atomic<size_t> awake_idle_{0};
  std::atomic<int64_t> last_large_{0};  // when a batch that might be shared came, in nanoseconds
  std::atomic<uint32_t> calls_{0};      // moves on when sleepers are called
};

}  // namespace gatun::loopback

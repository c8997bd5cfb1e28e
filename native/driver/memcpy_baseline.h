// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

// What this machine's memcpy does with the same pages, by 1..cores threads that stay and spin, so that no hand-over is
// in the figure.
class MemcpyBaseline {
 public:
  explicit MemcpyBaseline(size_t threads);
  ~MemcpyBaseline();
  MemcpyBaseline(const MemcpyBaseline&) = delete;
  MemcpyBaseline& operator=(const MemcpyBaseline&) = delete;

  // Copies pages of page_bytes from source to target; nanoseconds of each iteration.
  std::vector<int64_t> run(std::byte* target, const std::byte* source, size_t page_bytes, size_t pages,
                           uint64_t iterations);

 private:
  struct Work {
    std::byte* target;
    const std::byte* source;
    size_t page_bytes;
    size_t pages;
  };

  void help(size_t thread);
  void share(size_t thread) const;

  const size_t threads_;
  Work work_{};
  std::atomic<uint64_t> round_{0};
  std::atomic<size_t> arrived_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> helpers_;
};

// SPDX-License-Identifier: Apache-2.0
#include "memcpy_baseline.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace {

int64_t now_nanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

MemcpyBaseline::MemcpyBaseline(size_t threads) : threads_(threads) {
  for (size_t i = 1; i < threads_; i++) helpers_.emplace_back([this, i] { help(i); });
}

MemcpyBaseline::~MemcpyBaseline() {
  stop_ = true;
  round_.fetch_add(1, std::memory_order_release);
  for (std::thread& helper : helpers_) helper.join();
}

// An equal share of the bytes each: whole pages, or a part of one when there are fewer pages than threads.
void MemcpyBaseline::share(size_t thread) const {
  const size_t total = work_.page_bytes * work_.pages;
  const size_t end = total / threads_ * (thread + 1) + (thread + 1 == threads_ ? total % threads_ : 0);
  for (size_t at = total / threads_ * thread; at < end;) {
    const size_t page_end = (at / work_.page_bytes + 1) * work_.page_bytes;
    const size_t bytes = std::min(page_end, end) - at;
    std::memcpy(work_.target + at, work_.source + at, bytes);
    at += bytes;
  }
}

void MemcpyBaseline::help(size_t thread) {
  uint64_t seen = 0;
  for (;;) {
    while (round_.load(std::memory_order_acquire) == seen) {
      std::this_thread::yield();
    }
    seen++;
    if (stop_) return;
    share(thread);
    arrived_.fetch_add(1, std::memory_order_release);
  }
}

std::vector<int64_t> MemcpyBaseline::run(std::byte* target, const std::byte* source, size_t page_bytes, size_t pages,
                                         uint64_t iterations) {
  work_ = {target, source, page_bytes, pages};
  std::vector<int64_t> nanos;
  for (uint64_t i = 0; i < iterations; i++) {
    arrived_ = 0;
    const int64_t start = now_nanos();
    round_.fetch_add(1, std::memory_order_release);
    share(0);
    while (arrived_.load(std::memory_order_acquire) != threads_ - 1) {
      std::this_thread::yield();
    }
    nanos.push_back(now_nanos() - start);
  }
  return nanos;
}

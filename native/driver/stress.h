// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

// Many threads against one pool, or several engines, until the deadline. Wrong bytes and codes are recorded as
// failures. Both answer how many operations they did.
using Deadline = std::chrono::steady_clock::time_point;
uint64_t stress_store(uint64_t seed, Deadline deadline);
uint64_t stress_engine(uint64_t seed, Deadline deadline);

// A small generator: the seed is the whole of its state.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  uint64_t below(uint64_t bound) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33) % bound;
  }

 private:
  uint64_t state_;
};

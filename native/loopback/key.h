// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "mutants.h"

namespace gatun::loopback {

__extension__ typedef unsigned __int128 Wide;

// A caller's key with its hash. The bytes are the caller's.
struct Key {
  explicit Key(const char* text) : Key(std::string_view(text)) {}
  explicit Key(std::string_view text) : bytes(text) {
    if (mutant(Mutant::kKeyTruncatedAt255)) bytes = bytes.substr(0, 255);
    hash = hash_of(bytes);
  }

  // Multiply and fold, 16 bytes a step: all bits of the result depend on all bytes, and the index uses both ends of it.
  static uint64_t hash_of(std::string_view text) {
    const char* at = text.data();
    size_t left = text.size();
    uint64_t hash = kSeed ^ left;
    while (left > 16) {
      hash = fold(load(at) ^ kLow, load(at + 8) ^ hash);
      at += 16;
      left -= 16;
    }
    uint64_t tail[2] = {0, 0};
    std::memcpy(tail, at, left);
    return fold(fold(tail[0] ^ kLow, tail[1] ^ hash), hash ^ kHigh);
  }

  std::string_view bytes;
  uint64_t hash = 0;

 private:
  // Odd constants with about half of their bits set; nothing else is asked of them.
  static constexpr uint64_t kSeed = 0x9e3779b97f4a7c15ULL;
  static constexpr uint64_t kLow = 0xd6e8feb86659fd93ULL;
  static constexpr uint64_t kHigh = 0xa5a3564e1d8b52a5ULL;

  static uint64_t load(const char* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  static uint64_t fold(uint64_t a, uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
};

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

// What two engines of different processes say to each other. Both are of one build on one machine: plain structures.
namespace gatun::loopback {

enum class WireCall : uint32_t {
  kHello = 1,   // answered by a WireGreeting, so that the caller knows who lives there
  kWrite = 2,   // followed by length bytes; answered when all are in place. Refused by hanging up
  kRead = 3,    // answered, then followed by length bytes
  kNotice = 4,  // followed by address bytes of name and length bytes of text
};

inline constexpr uint32_t kWireMagic = 0x67546532;

struct WireHead {
  uint32_t magic;
  WireCall call;
  uint64_t address;
  uint64_t length;
};

// An engine that was started anew under its old name has another instance.
struct WireGreeting {
  uint32_t magic;
  uint32_t reserved;
  uint64_t instance;
};

struct WireAnswer {
  uint32_t magic;
  int32_t good;
};

// Longest time without a byte: as the real engine's.
inline constexpr std::chrono::seconds kWireProgress{30};
// Longest time until a new connection is greeted: as the real engine's handshake.
inline constexpr std::chrono::seconds kWireGreeting{5};

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Time and limits as leases, pins and abandoned puts see them. Tests advance the clock instead of waiting.
namespace gatun::loopback {

inline constexpr int64_t kNanosPerMilli = 1'000'000;

// The monotonic clock plus everything advanced so far.
int64_t now_nanos();
void advance_clock(int64_t millis);

struct Limits {
  static int64_t lease_nanos();
  static int64_t soft_pin_nanos();
  static int64_t put_discard_nanos();
  static int64_t put_release_nanos();
  static int64_t watermark_percent();

  // Negative restores the default.
  static void set_lease_millis(int64_t millis);
  static void set_soft_pin_millis(int64_t millis);
  static void set_put_discard_millis(int64_t millis);
  static void set_watermark_percent(int64_t percent);
};

// The limits back to their defaults. The clock never goes back: leases granted before would last for as long as it did.
void reset_limits();

}  // namespace gatun::loopback

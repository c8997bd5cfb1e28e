// SPDX-License-Identifier: Apache-2.0
#include "clock.h"

#include <atomic>
#include <chrono>

namespace gatun::loopback {
namespace {

// The defaults of a Mooncake master: default_kv_lease_ttl, default_kv_soft_pin_ttl, put_start_discard_timeout_sec,
// put_start_release_timeout_sec, eviction_high_watermark_ratio.
constexpr int64_t kLeaseMillis = 10'000;
constexpr int64_t kSoftPinMillis = 1'800'000;
constexpr int64_t kPutDiscardMillis = 30'000;
constexpr int64_t kPutReleaseMillis = 600'000;
constexpr int64_t kWatermarkPercent = 90;

std::atomic<int64_t> advanced_nanos{0};
std::atomic<int64_t> lease{kLeaseMillis * kNanosPerMilli};
std::atomic<int64_t> soft_pin{kSoftPinMillis * kNanosPerMilli};
std::atomic<int64_t> put_discard{kPutDiscardMillis * kNanosPerMilli};
std::atomic<int64_t> watermark{kWatermarkPercent};

int64_t nanos_or(int64_t millis, int64_t default_millis) {
  // Saturates far below overflow: 100 years.
  constexpr int64_t kMaxMillis = 3'155'760'000'000;
  if (millis < 0) return default_millis * kNanosPerMilli;
  return (millis < kMaxMillis ? millis : kMaxMillis) * kNanosPerMilli;
}

}  // namespace

int64_t now_nanos() {
  const auto real = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(real).count() +
         advanced_nanos.load(std::memory_order_relaxed);
}

void advance_clock(int64_t millis) {
  advanced_nanos.fetch_add(nanos_or(millis < 0 ? 0 : millis, 0), std::memory_order_relaxed);
}

int64_t Limits::lease_nanos() {
  return lease.load(std::memory_order_relaxed);
}
int64_t Limits::soft_pin_nanos() {
  return soft_pin.load(std::memory_order_relaxed);
}
int64_t Limits::put_discard_nanos() {
  return put_discard.load(std::memory_order_relaxed);
}
int64_t Limits::put_release_nanos() {
  return kPutReleaseMillis * kNanosPerMilli;
}
int64_t Limits::watermark_percent() {
  return watermark.load(std::memory_order_relaxed);
}

void Limits::set_lease_millis(int64_t millis) {
  lease = nanos_or(millis, kLeaseMillis);
}
void Limits::set_soft_pin_millis(int64_t millis) {
  soft_pin = nanos_or(millis, kSoftPinMillis);
}
void Limits::set_put_discard_millis(int64_t millis) {
  put_discard = nanos_or(millis, kPutDiscardMillis);
}
void Limits::set_watermark_percent(int64_t percent) {
  watermark = percent < 0 ? kWatermarkPercent : percent;
}

void reset_limits() {
  Limits::set_lease_millis(-1);
  Limits::set_soft_pin_millis(-1);
  Limits::set_put_discard_millis(-1);
  Limits::set_watermark_percent(-1);
}

}  // namespace gatun::loopback

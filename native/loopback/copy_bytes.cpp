// SPDX-License-Identifier: Apache-2.0
#include "copy_bytes.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gatun::loopback {
namespace {

#if defined(__x86_64__)

// Source far enough ahead for memory to answer, near enough to stay in the first cache. Unmeasured default.
constexpr size_t kAheadBytes = 1024;
constexpr size_t kBlockBytes = 256;

// Both take a target aligned to 64 bytes and whole blocks.
__attribute__((target("avx512f"))) void stream_wide(char* target, const char* source, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kBlockBytes) {
    for (size_t line = 0; line < kBlockBytes; line += 64) {
      _mm_prefetch(source + at + line + kAheadBytes, _MM_HINT_T0);
      _mm512_stream_si512(reinterpret_cast<__m512i*>(target + at + line), _mm512_loadu_si512(source + at + line));
    }
  }
  _mm_sfence();  // streamed stores are not ordered with the store that says the copy is done
}

void stream_narrow(char* target, const char* source, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kBlockBytes) {
    for (size_t word = 0; word < kBlockBytes; word += 16) {
      const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at + word));
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + at + word), value);
    }
  }
  _mm_sfence();
}

bool has_wide_stores() {
  static const bool has = __builtin_cpu_supports("avx512f") != 0;
  return has;
}

void copy_streaming(char* target, const char* source, size_t bytes) {
  const size_t head = (64 - reinterpret_cast<uintptr_t>(target) % 64) % 64;
  if (bytes < head + kBlockBytes) {
    std::memcpy(target, source, bytes);
    return;
  }
  const size_t body = (bytes - head) / kBlockBytes * kBlockBytes;
  std::memcpy(target, source, head);
  (has_wide_stores() ? stream_wide : stream_narrow)(target + head, source + head, body);
  std::memcpy(target + head + body, source + head + body, bytes - head - body);
}

#else

// Elsewhere memcpy knows best: its large copies stream where that pays.
void copy_streaming(char* target, const char* source, size_t bytes) {
  std::memcpy(target, source, bytes);
}

#endif

}  // namespace

void copy_bytes(void* target, const void* source, size_t bytes, Writes writes) {
  if (writes == Writes::kStreaming) {
    copy_streaming(static_cast<char*>(target), static_cast<const char*>(source), bytes);
  } else {
    std::memcpy(target, source, bytes);
  }
}

}  // namespace gatun::loopback

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <vector>

#pragma GCC visibility push(default)
#include "c_bench.h"
#pragma GCC visibility pop
#include "memcpy_baseline.h"

namespace {

int64_t now_nanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Batch {
  const gatun_c_bench_calls_t& calls;
  mooncake_store_t store;
  const char** keys;
  void** buffers;
  const size_t* sizes;
  size_t count;
  std::vector<int> codes;
  std::vector<int64_t> bytes;

  int64_t put() {
    const int code = calls.batch_put_from(store, keys, buffers, sizes, count, nullptr, codes.data());
    for (size_t i = 0; code == 0 && i < count; i++) {
      if (codes[i] != 0) return codes[i];
    }
    return code;
  }

  int64_t get() {
    const int code = calls.batch_get_into(store, keys, buffers, sizes, count, bytes.data());
    for (size_t i = 0; code == 0 && i < count; i++) {
      if (bytes[i] != static_cast<int64_t>(sizes[i])) return bytes[i] < 0 ? bytes[i] : -1;
    }
    return code;
  }

  int64_t exists() {
    const int code = calls.batch_is_exist(store, keys, count, codes.data());
    for (size_t i = 0; code == 0 && i < count; i++) {
      if (codes[i] != 1) return codes[i] < 0 ? codes[i] : -1;
    }
    return code;
  }

  int64_t get_single() {
    const int64_t got = calls.get_into(store, keys[0], buffers[0], sizes[0]);
    return got == static_cast<int64_t>(sizes[0]) ? 0 : (got < 0 ? got : -1);
  }

  int64_t run(int operation) {
    switch (operation) {
      case GATUN_C_BENCH_PUT:
        return put();
      case GATUN_C_BENCH_GET:
        return get();
      case GATUN_C_BENCH_EXISTS:
        return exists();
      case GATUN_C_BENCH_PUT_SINGLE:
        return calls.put_from(store, keys[0], buffers[0], sizes[0], nullptr);
      case GATUN_C_BENCH_GET_SINGLE:
        return get_single();
      default:
        return -1;
    }
  }

  int64_t clear(int operation, bool clear_all) {
    if (operation != GATUN_C_BENCH_PUT && operation != GATUN_C_BENCH_PUT_SINGLE) return 0;
    if (clear_all) return calls.remove_all(store, 1) < 0 ? -1 : 0;
    const size_t keys_put = operation == GATUN_C_BENCH_PUT ? count : 1;
    for (size_t i = 0; i < keys_put; i++) {
      if (const int code = calls.remove(store, keys[i], 1); code != 0) return code;
    }
    return 0;
  }
};

}  // namespace

int64_t gatun_c_bench_run(const gatun_c_bench_calls_t* calls, mooncake_store_t store, int operation, const char** keys,
                          void** buffers, const size_t* sizes, size_t count, int clear_all, uint64_t iterations,
                          int64_t* nanos) {
  if (calls == nullptr || keys == nullptr || buffers == nullptr || sizes == nullptr || nanos == nullptr || count == 0) {
    return -1;
  }
  try {
    Batch batch{*calls, store, keys, buffers, sizes, count, std::vector<int>(count), std::vector<int64_t>(count)};
    for (uint64_t i = 0; i < iterations; i++) {
      const int64_t start = now_nanos();
      const int64_t code = batch.run(operation);
      nanos[i] = now_nanos() - start;
      if (code != 0) return code;
      if (const int64_t cleared = batch.clear(operation, clear_all != 0); cleared != 0) return cleared;
    }
    return 0;
  } catch (...) {
    return -1;
  }
}

int64_t gatun_c_bench_memcpy(void* target, const void* source, size_t page_bytes, size_t pages, size_t threads,
                             uint64_t iterations, int64_t* nanos) {
  if (target == nullptr || source == nullptr || nanos == nullptr || page_bytes == 0 || pages == 0 || threads == 0) {
    return -1;
  }
  try {
    MemcpyBaseline baseline(threads);
    const auto measured = baseline.run(static_cast<std::byte*>(target), static_cast<const std::byte*>(source),
                                       page_bytes, pages, iterations);
    std::copy(measured.begin(), measured.end(), nanos);
    return 0;
  } catch (...) {
    return -1;
  }
}

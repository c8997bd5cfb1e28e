// SPDX-License-Identifier: Apache-2.0
// gatun_c_bench: the C peer of the Java benchmarks. Loads a store library by path, so that it runs on the embedded one
// and on any other that exports the same ABI.
#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bench_options.h"
#include "c_bench.h"
#include "memcpy_baseline.h"

namespace {

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "gatun_c_bench: %s\n", message.c_str());
  std::exit(1);
}

struct Library {
  gatun_c_bench_calls_t calls;
  decltype(&mooncake_store_create) create;
  decltype(&mooncake_store_destroy) destroy;
  decltype(&mooncake_store_setup) setup;
  decltype(&mooncake_store_register_buffer) register_buffer;
  decltype(&mooncake_store_unregister_buffer) unregister_buffer;
};

template <typename F>
void bind(void* library, const char* name, F& function) {
  void* const address = dlsym(library, name);
  if (address == nullptr) fail(std::string("no symbol ") + name);
  function = reinterpret_cast<F>(address);
}

Library load(const BenchOptions& options) {
  for (const std::string& path : options.preload) {
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) fail(dlerror());
  }
  void* const handle = dlopen(options.library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) fail(dlerror());
  Library library;
  bind(handle, "mooncake_store_put_from", library.calls.put_from);
  bind(handle, "mooncake_store_get_into", library.calls.get_into);
  bind(handle, "mooncake_store_batch_put_from", library.calls.batch_put_from);
  bind(handle, "mooncake_store_batch_get_into", library.calls.batch_get_into);
  bind(handle, "mooncake_store_batch_is_exist", library.calls.batch_is_exist);
  bind(handle, "mooncake_store_remove", library.calls.remove);
  bind(handle, "mooncake_store_remove_all", library.calls.remove_all);
  bind(handle, "mooncake_store_create", library.create);
  bind(handle, "mooncake_store_destroy", library.destroy);
  bind(handle, "mooncake_store_setup", library.setup);
  bind(handle, "mooncake_store_register_buffer", library.register_buffer);
  bind(handle, "mooncake_store_unregister_buffer", library.unregister_buffer);
  return library;
}

std::byte* map_pages(size_t bytes) {
  constexpr size_t kAlign = 2 << 20;
  void* memory = aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  if (memory == nullptr) fail("no memory for " + std::to_string(bytes) + " bytes");
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 1, bytes);  // no page faults in the timed part
  return static_cast<std::byte*>(memory);
}

// Bytes that differ from page to page and within a page.
void fill(std::byte* memory, size_t bytes, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (size_t at = 0; at + 8 <= bytes; at += 8) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    std::memcpy(memory + at, &state, 8);
  }
}

size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count < 1 ? 1 : static_cast<size_t>(count);
}

int64_t quantile(std::vector<int64_t> nanos, double q) {
  std::sort(nanos.begin(), nanos.end());
  return nanos[static_cast<size_t>(q * static_cast<double>(nanos.size() - 1))];
}

struct Batch {
  std::vector<std::string> names;
  std::vector<const char*> keys;
  std::vector<void*> buffers;
  std::vector<size_t> sizes;
};

Batch make_batch(std::byte* memory, uint64_t page_bytes, uint64_t pages) {
  Batch batch;
  for (uint64_t i = 0; i < pages; i++) {
    // As long as the keys of inference engines are: model, rank and a hash.
    char name[96];
    std::snprintf(name, sizeof name, "bench-model@tp0@%llx-%llx-%016llx%016llx",
                  static_cast<unsigned long long>(page_bytes), static_cast<unsigned long long>(pages),
                  static_cast<unsigned long long>(i * 0x9e3779b97f4a7c15ULL), static_cast<unsigned long long>(i));
    batch.names.emplace_back(name);
    batch.buffers.push_back(memory + i * page_bytes);
    batch.sizes.push_back(page_bytes);
  }
  for (const std::string& name : batch.names) batch.keys.push_back(name.c_str());
  return batch;
}

class Bench {
 public:
  Bench(const BenchOptions& options, const Library& library, mooncake_store_t store, std::byte* memory,
        std::byte* other)
      : options_(options), library_(library), store_(store), memory_(memory), other_(other) {}

  void cell(uint64_t page_bytes, uint64_t pages) {
    Batch batch = make_batch(memory_, page_bytes, pages);
    verify(batch, page_bytes);
    std::printf("%s\n    {\"pageBytes\": %llu, \"batch\": %llu", separator_,
                static_cast<unsigned long long>(page_bytes), static_cast<unsigned long long>(pages));
    const auto put = measure("put", GATUN_C_BENCH_PUT, batch);
    if (pages == 1) measure("putSingle", GATUN_C_BENCH_PUT_SINGLE, batch);
    must(library_.calls.batch_put_from(store_, batch.keys.data(), batch.buffers.data(), batch.sizes.data(), pages,
                                       nullptr, codes_.data()));
    const auto get = measure("get", GATUN_C_BENCH_GET, batch);
    if (pages == 1) measure("getSingle", GATUN_C_BENCH_GET_SINGLE, batch);
    if (options_.exists) measure("exists", GATUN_C_BENCH_EXISTS, batch);
    clear(batch);
    if (options_.memcpy) compare_with_memcpy(page_bytes, pages, put, get);
    std::printf("}");
    std::fflush(stdout);
    separator_ = ",";
  }

 private:
  static void must(int64_t code) {
    if (code != 0) fail("a store call answered " + std::to_string(code));
  }

  static void print(const char* name, const std::vector<int64_t>& nanos) {
    std::printf(", \"%s\": {\"medianNanos\": %lld, \"p10Nanos\": %lld, \"p99Nanos\": %lld, \"iterations\": %zu}", name,
                static_cast<long long>(quantile(nanos, 0.5)), static_cast<long long>(quantile(nanos, 0.1)),
                static_cast<long long>(quantile(nanos, 0.99)), nanos.size());
  }

  void compare_with_memcpy(uint64_t page_bytes, uint64_t pages, const std::vector<int64_t>& put,
                           const std::vector<int64_t>& get) {
    const auto one = baseline(1, page_bytes, pages);
    const auto all = baseline(usable_cores(), page_bytes, pages);
    print("memcpyOneThread", one);
    print("memcpyAllThreads", all);
    const double best_nanos = static_cast<double>(std::min(quantile(one, 0.5), quantile(all, 0.5)));
    std::printf(", \"putOfMemcpy\": %.3f, \"getOfMemcpy\": %.3f", best_nanos / static_cast<double>(quantile(put, 0.5)),
                best_nanos / static_cast<double>(quantile(get, 0.5)));
  }

  // The bytes first: a benchmark of wrong copies is worth nothing.
  void verify(Batch& batch, uint64_t page_bytes) {
    const size_t bytes = page_bytes * batch.keys.size();
    codes_.resize(batch.keys.size());
    fill(memory_, bytes, page_bytes);
    std::memcpy(other_, memory_, bytes);
    int64_t nanos;
    must(run(GATUN_C_BENCH_PUT, batch, 1, &nanos));
    must(library_.calls.batch_put_from(store_, batch.keys.data(), batch.buffers.data(), batch.sizes.data(),
                                       batch.keys.size(), nullptr, codes_.data()));
    std::memset(memory_, 0, bytes);
    must(run(GATUN_C_BENCH_GET, batch, 1, &nanos));
    if (std::memcmp(memory_, other_, bytes) != 0) fail("bytes got differ from bytes put");
    clear(batch);
  }

  void clear(const Batch& batch) {
    for (const char* key : batch.keys) must(library_.calls.remove(store_, key, 1));
  }

  int64_t run(int operation, Batch& batch, uint64_t iterations, int64_t* nanos) {
    return gatun_c_bench_run(&library_.calls, store_, operation, batch.keys.data(), batch.buffers.data(),
                             batch.sizes.data(), batch.keys.size(), options_.clear_all ? 1 : 0, iterations, nanos);
  }

  // Half of the time warms up.
  std::vector<int64_t> measure(const char* name, int operation, Batch& batch) {
    std::vector<int64_t> nanos(1);
    must(run(operation, batch, 1, nanos.data()));
    const uint64_t iterations = iterations_for(nanos[0]);
    nanos.resize(iterations);
    must(run(operation, batch, iterations, nanos.data()));
    must(run(operation, batch, iterations, nanos.data()));
    print(name, nanos);
    return nanos;
  }

  // Its threads spin, so they live no longer than the measurement.
  std::vector<int64_t> baseline(size_t thread_count, uint64_t page_bytes, uint64_t pages) {
    MemcpyBaseline threads(thread_count);
    const int64_t first = threads.run(other_, memory_, page_bytes, pages, 1)[0];
    const uint64_t iterations = iterations_for(first);
    threads.run(other_, memory_, page_bytes, pages, iterations);
    return threads.run(other_, memory_, page_bytes, pages, iterations);
  }

  uint64_t iterations_for(int64_t nanos) const {
    const auto budget = static_cast<int64_t>(options_.cell_millis) * 500'000;
    return static_cast<uint64_t>(std::clamp<int64_t>(budget / std::max<int64_t>(nanos, 1),
                                                     static_cast<int64_t>(options_.min_iterations), 200'000));
  }

  const BenchOptions& options_;
  const Library& library_;
  const mooncake_store_t store_;
  std::byte* const memory_;
  std::byte* const other_;
  std::vector<int> codes_;
  const char* separator_ = "";
};

}  // namespace

int main(int argc, char** argv) {
  const BenchOptions options = BenchOptions::parse(argc, argv);
  const Library library = load(options);
  const mooncake_store_t store = library.create();
  const int code = library.setup(store, options.hostname.c_str(), options.metadata.c_str(), options.segment_bytes,
                                 options.local_buffer_bytes, options.protocol.c_str(), options.device.c_str(),
                                 options.master.c_str());
  if (code != 0) fail("setup answered " + std::to_string(code));
  const uint64_t bytes = options.largest_batch_bytes();
  std::byte* const memory = map_pages(bytes);
  std::byte* const other = map_pages(bytes);
  if (library.register_buffer(store, memory, bytes) != 0) fail("register_buffer failed");
  std::printf("{\n  \"library\": \"%s\", \"cores\": %zu, \"segmentBytes\": %llu,\n  \"cells\": [",
              options.library.c_str(), usable_cores(), static_cast<unsigned long long>(options.segment_bytes));
  {
    Bench bench(options, library, store, memory, other);
    for (const uint64_t page : options.page_bytes) {
      for (const uint64_t pages : options.batch_pages) {
        if (page <= options.max_batch_bytes / pages) bench.cell(page, pages);
      }
    }
  }
  std::printf("\n  ],\n  \"leftOut\": [");
  const char* separator = "";
  for (const uint64_t page : options.page_bytes) {
    for (const uint64_t pages : options.batch_pages) {
      if (page <= options.max_batch_bytes / pages) continue;
      std::printf("%s{\"pageBytes\": %llu, \"batch\": %llu}", separator, static_cast<unsigned long long>(page),
                  static_cast<unsigned long long>(pages));
      separator = ", ";
    }
  }
  std::printf("]\n}\n");
  library.unregister_buffer(store, memory);
  library.destroy(store);
  std::free(memory);
  std::free(other);
  return 0;
}

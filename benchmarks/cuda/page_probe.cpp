// The raw CUDA probe: moves scattered fragments between GPU memory and one contiguous pinned buffer in every way the
// driver offers, with no Java in sight, checks every byte, and prints one JSON object: what
// the machine can do.
//
//   page_probe PAGES.ptx [REPEATS]
//   page_probe --batches        many copies by one call: a run of its own, since a driver may end on it
//   page_probe --queue          copies queued behind work that does not end, until a call waits
//
// Build: nvcc -O2 -std=c++17 page_probe.cpp -lcuda -o page_probe

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using u64 = unsigned long long;

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "";
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", call, text);
  std::exit(1);
}
#define CHECK(call) check((call), #call)

struct Kernels {
  CUmodule module;
  CUfunction gather;
  CUfunction scatter;
};

struct Run {
  u64 fragment_bytes;
  u64 fragments;
  u64 bytes() const { return fragment_bytes * fragments; }
};

constexpr int kBlocks = 132;  // one for each multiprocessor of an H200
constexpr int kThreads = 256;
constexpr u64 kPage = 160;          // fragments: 80 layers, keys and values apart
constexpr u64 kBatch = 32 * kPage;  // fragments of a batch whose queueing is timed
// A sixth of the ring: several chunks are on their way at once.
constexpr u64 kChunkBytes = 16ULL << 20;
// What the link moves while the longest kernel of a model (1.6 ms at 55 GB/s) keeps a gather waiting.
constexpr u64 kRingBytes = 96ULL << 20;

// Everything one fragment size needs: a scattered cache on the device, its pinned copy, the tables of addresses.
class Scene {
 public:
  explicit Scene(Run run) : run_(run) {
    const u64 cache_bytes = run.bytes() * 2;  // every second fragment is somebody else's: a guard between ours
    CHECK(cuMemAlloc(&cache_, cache_bytes));
    CHECK(cuMemAlloc(&staging_, run.bytes()));
    CHECK(cuMemAlloc(&table_, run.fragments * sizeof(u64)));
    CHECK(cuMemHostAlloc(reinterpret_cast<void**>(&host_), run.bytes(), 0));
    CHECK(cuMemHostAlloc(reinterpret_cast<void**>(&image_), cache_bytes, 0));
    std::mt19937_64 random(run.fragment_bytes);
    for (u64 i = 0; i < cache_bytes / sizeof(u64); i++) reinterpret_cast<u64*>(image_)[i] = random();
    std::vector<u64> slots(run.fragments);
    for (u64 i = 0; i < run.fragments; i++) slots[i] = 2 * i;
    std::shuffle(slots.begin(), slots.end(), random);
    addresses_.resize(run.fragments);
    offsets_.resize(run.fragments);
    for (u64 i = 0; i < run.fragments; i++) {
      offsets_[i] = slots[i] * run.fragment_bytes;
      addresses_[i] = cache_ + offsets_[i];
    }
    CHECK(cuMemcpyHtoD(table_, addresses_.data(), run.fragments * sizeof(u64)));
    fill_cache();
  }
  ~Scene() {
    cuMemFree(cache_);
    cuMemFree(staging_);
    cuMemFree(table_);
    cuMemFreeHost(host_);
    cuMemFreeHost(image_);
  }
  void fill_cache() { CHECK(cuMemcpyHtoD(cache_, image_, run_.bytes() * 2)); }
  void clear_host() { std::memset(host_, 0, run_.bytes()); }
  void fill_host() {
    for (u64 i = 0; i < run_.fragments; i++)
      std::memcpy(host_ + i * run_.fragment_bytes, image_ + offsets_[i], run_.fragment_bytes);
  }
  bool host_is_right() const {
    for (u64 i = 0; i < run_.fragments; i++)
      if (std::memcmp(host_ + i * run_.fragment_bytes, image_ + offsets_[i], run_.fragment_bytes) != 0) return false;
    return true;
  }
  // ours zero, the neighbours as they were: a scatter must bring ours back and leave theirs
  void wipe_ours() {
    for (u64 i = 0; i < run_.fragments; i++) CHECK(cuMemsetD8(addresses_[i], 0, run_.fragment_bytes));
  }
  bool cache_is_right() const {
    std::vector<char> back(run_.bytes() * 2);
    CHECK(cuMemcpyDtoH(back.data(), cache_, back.size()));
    return std::memcmp(back.data(), image_, back.size()) == 0;
  }

  Run run_;
  CUdeviceptr cache_ = 0, staging_ = 0, table_ = 0;
  char* host_ = nullptr;
  char* image_ = nullptr;
  std::vector<u64> addresses_, offsets_;
};

void launch(CUfunction kernel, CUstream stream, u64 first, u64 second, u64 fragments, u64 bytes, int blocks = kBlocks) {
  void* arguments[] = {&first, &second, &fragments, &bytes};
  CHECK(cuLaunchKernel(kernel, blocks, 1, 1, kThreads, 1, 1, 0, stream, arguments, nullptr));
}

double median_gbps(u64 bytes, int repeats, const std::function<void()>& work) {
  work();  // warm
  std::vector<double> rates;
  for (int i = 0; i < repeats; i++) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    rates.push_back(static_cast<double>(bytes) / seconds / 1e9);
  }
  std::sort(rates.begin(), rates.end());
  return rates[rates.size() / 2];
}

// Gather chunk by chunk into a ring on the device; the copy engine takes each chunk as soon as it is there. Only queues.
void queue_d2h(Scene& scene, const Kernels& kernels, CUstream compute, CUstream copy, std::vector<CUevent>& gathered,
                   std::vector<CUevent>& copied) {
  const u64 per_chunk = std::max<u64>(1, kChunkBytes / scene.run_.fragment_bytes);
  const u64 slots = std::min<u64>(gathered.size(), std::max<u64>(2, kRingBytes / (per_chunk * scene.run_.fragment_bytes)));
  u64 chunk = 0;
  for (u64 first = 0; first < scene.run_.fragments; first += per_chunk, chunk++) {
    const u64 slot = chunk % slots;
    const u64 count = std::min(per_chunk, scene.run_.fragments - first);
    const u64 ring = (slot * per_chunk * scene.run_.fragment_bytes) % scene.run_.bytes();
    if (chunk >= slots) CHECK(cuStreamWaitEvent(compute, copied[slot], 0));
    launch(kernels.gather, compute, scene.table_ + first * sizeof(u64), scene.staging_ + ring, count,
           scene.run_.fragment_bytes);
    CHECK(cuEventRecord(gathered[slot], compute));
    CHECK(cuStreamWaitEvent(copy, gathered[slot], 0));
    CHECK(cuMemcpyDtoHAsync(scene.host_ + first * scene.run_.fragment_bytes, scene.staging_ + ring,
                            count * scene.run_.fragment_bytes, copy));
    CHECK(cuEventRecord(copied[slot], copy));
  }
}

void pipelined_d2h(Scene& scene, const Kernels& kernels, CUstream compute, CUstream copy, std::vector<CUevent>& gathered,
                   std::vector<CUevent>& copied) {
  queue_d2h(scene, kernels, compute, copy, gathered, copied);
  CHECK(cuStreamSynchronize(copy));
}

CUresult copy_batch(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count, CUstream stream) {
  CUmemcpyAttributes attributes = {};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  size_t first = 0;
#if CUDA_VERSION >= 13000
  return cuMemcpyBatchAsync(to, from, sizes, count, &attributes, &first, 1, stream);
#else
  size_t failed;
  return cuMemcpyBatchAsync(to, from, sizes, count, &attributes, &first, 1, &failed, stream);
#endif
}

// The same as queue_d2h, into pages that do not lie side by side: the copies of a chunk go by one call.
struct PageCopies {
  std::vector<CUdeviceptr> to, from;
  std::vector<size_t> sizes;
};
void queue_pages(Scene& scene, const Kernels& kernels, CUstream compute, CUstream copy, std::vector<CUevent>& gathered,
                 std::vector<CUevent>& copied, PageCopies& copies) {
  const u64 bytes = scene.run_.fragment_bytes;
  const u64 per_chunk = kChunkBytes / bytes;
  const u64 pages = scene.run_.fragments / kPage;
  u64 chunk = 0;
  for (u64 first = 0; first < scene.run_.fragments; first += per_chunk, chunk++) {
    const u64 count = std::min(per_chunk, scene.run_.fragments - first);
    const u64 ring = chunk * per_chunk * bytes;
    launch(kernels.gather, compute, scene.table_ + first * sizeof(u64), scene.staging_ + ring, count, bytes);
    CHECK(cuEventRecord(gathered[chunk], compute));
    CHECK(cuStreamWaitEvent(copy, gathered[chunk], 0));
    copies.to.clear();
    copies.from.clear();
    copies.sizes.clear();
    for (u64 at = first; at < first + count;) {
      const u64 end = std::min(first + count, (at / kPage + 1) * kPage);
      const u64 page = (at / kPage * 7 + 3) % pages;  // neighbours go apart
      copies.to.push_back(reinterpret_cast<CUdeviceptr>(scene.host_) + (page * kPage + at % kPage) * bytes);
      copies.from.push_back(scene.staging_ + ring + (at - first) * bytes);
      copies.sizes.push_back((end - at) * bytes);
      at = end;
    }
    CHECK(copy_batch(copies.to.data(), copies.from.data(), copies.sizes.data(), copies.to.size(), copy));
    CHECK(cuEventRecord(copied[chunk], copy));
  }
}

// The host's time until a batch is queued, its table of addresses included, with nothing queued before.
double queue_micros(Scene& scene, const Kernels& kernels, CUstream compute, CUstream copy, std::vector<CUevent>& gathered,
                    std::vector<CUevent>& copied, u64* pinned_table, u64 fragments, bool to_pages) {
  PageCopies copies;
  const u64 all = scene.run_.fragments;
  scene.run_.fragments = std::min(fragments, all);
  std::vector<double> micros;
  for (int i = 0; i < 1001; i++) {
    const auto start = std::chrono::steady_clock::now();
    for (u64 f = 0; f < scene.run_.fragments; f++) pinned_table[f] = scene.addresses_[f];
    CHECK(cuMemcpyHtoDAsync(scene.table_, pinned_table, scene.run_.fragments * sizeof(u64), compute));
    if (to_pages) queue_pages(scene, kernels, compute, copy, gathered, copied, copies);
    else queue_d2h(scene, kernels, compute, copy, gathered, copied);
    micros.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    CHECK(cuStreamSynchronize(copy));
  }
  scene.run_.fragments = all;
  std::sort(micros.begin(), micros.end());
  return micros[micros.size() / 2];
}

void pipelined_h2d(Scene& scene, const Kernels& kernels, CUstream compute, CUstream copy, std::vector<CUevent>& arrived,
                   std::vector<CUevent>& scattered) {
  const u64 per_chunk = std::max<u64>(1, kChunkBytes / scene.run_.fragment_bytes);
  const u64 slots = std::min<u64>(arrived.size(), std::max<u64>(2, kRingBytes / (per_chunk * scene.run_.fragment_bytes)));
  u64 chunk = 0;
  for (u64 first = 0; first < scene.run_.fragments; first += per_chunk, chunk++) {
    const u64 slot = chunk % slots;
    const u64 count = std::min(per_chunk, scene.run_.fragments - first);
    const u64 ring = (slot * per_chunk * scene.run_.fragment_bytes) % scene.run_.bytes();
    if (chunk >= slots) CHECK(cuStreamWaitEvent(copy, scattered[slot], 0));
    CHECK(cuMemcpyHtoDAsync(scene.staging_ + ring, scene.host_ + first * scene.run_.fragment_bytes,
                            count * scene.run_.fragment_bytes, copy));
    CHECK(cuEventRecord(arrived[slot], copy));
    CHECK(cuStreamWaitEvent(compute, arrived[slot], 0));
    launch(kernels.scatter, compute, scene.staging_ + ring, scene.table_ + first * sizeof(u64), count,
           scene.run_.fragment_bytes);
    CHECK(cuEventRecord(scattered[slot], compute));
  }
  CHECK(cuStreamSynchronize(compute));
}

std::string read(const char* path) {
  std::ifstream in(path);
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", path);
    std::exit(2);
  }
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Scattered fragments by cuMemcpyBatchAsync. Each row is printed before the next is tried: drivers were seen to end on it.
int batches() {
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  bool right = true;
  std::printf("{\"rows\": [");
  const Run runs[] = {{262144, 2048}, {65536, 8192}, {32768, 5120}, {16384, 5120}, {4096, 16384}};
  for (size_t index = 0; index < std::size(runs); index++) {
    const Run& run = runs[index];
    Scene scene(run);
    std::vector<CUdeviceptr> host(run.fragments);
    std::vector<size_t> sizes(run.fragments, run.fragment_bytes);
    for (u64 i = 0; i < run.fragments; i++)
      host[i] = reinterpret_cast<CUdeviceptr>(scene.host_) + i * run.fragment_bytes;
    std::vector<CUdeviceptr> device(scene.addresses_.begin(), scene.addresses_.end());
    scene.clear_host();
    const double out = median_gbps(run.bytes(), 5, [&] {
      CHECK(copy_batch(host.data(), device.data(), sizes.data(), run.fragments, stream));
      CHECK(cuStreamSynchronize(stream));
    });
    const bool out_right = scene.host_is_right();
    scene.wipe_ours();
    const double in = median_gbps(run.bytes(), 5, [&] {
      CHECK(copy_batch(device.data(), host.data(), sizes.data(), run.fragments, stream));
      CHECK(cuStreamSynchronize(stream));
    });
    const bool in_right = scene.cache_is_right();
    right &= out_right && in_right;
    std::printf("%s\n  {\"fragmentBytes\": %llu, \"fragments\": %llu, \"way\": \"cuMemcpyBatchAsync\", \"d2hGBps\": %.2f, \"h2dGBps\": %.2f, \"correct\": %s}",
                index > 0 ? "," : "", run.fragment_bytes, run.fragments, out, in, out_right && in_right ? "true" : "false");
    std::fflush(stdout);
  }
  std::printf("\n]}\n");
  return right ? 0 : 1;
}

void hold(void* released) {
  while (!static_cast<std::atomic<bool>*>(released)->load()) std::this_thread::yield();
}

// Copies queued behind a stream's work that does not end: how many until a call waits for it, and how long calls took.
int queue_depth() {
  constexpr int kCopies = 4000;
  constexpr u64 kBytes = 64 << 10;
  CUstream stream;
  CUdeviceptr device;
  void* host;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuMemAlloc(&device, kBytes));
  CHECK(cuMemHostAlloc(&host, kBytes, 0));
  for (int i = 0; i < 100; i++) CHECK(cuMemcpyDtoHAsync(host, device, kBytes, stream));
  CHECK(cuStreamSynchronize(stream));
  std::atomic<bool> released{false};
  CHECK(cuLaunchHostFunc(stream, hold, &released));
  std::thread releaser([&] {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    released = true;
  });
  int waited_after = kCopies;
  double before = 0, longest = 0;
  for (int i = 0; i < kCopies; i++) {
    const auto start = std::chrono::steady_clock::now();
    CHECK(cuMemcpyDtoHAsync(host, device, kBytes, stream));
    const double micros = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    if (micros > 10'000 && waited_after == kCopies) waited_after = i;
    if (waited_after == kCopies) before = std::max(before, micros);
    longest = std::max(longest, micros);
  }
  releaser.join();
  CHECK(cuStreamSynchronize(stream));
  std::printf("{\"copies\": %d, \"queuedUntilACallWaited\": %d, \"longestMicrosBefore\": %.1f, \"longestMicros\": %.1f}\n",
              kCopies, waited_after, before, longest);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: page_probe PAGES.ptx [REPEATS] | --batches | --queue\n");
    return 2;
  }
  const int repeats = count > 2 ? std::atoi(arguments[2]) : 7;
  CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  if (std::strcmp(arguments[1], "--batches") == 0) return batches();
  if (std::strcmp(arguments[1], "--queue") == 0) return queue_depth();
  char card[128];
  int driver = 0;
  CHECK(cuDeviceGetName(card, sizeof card, device));
  CHECK(cuDriverGetVersion(&driver));
  Kernels kernels{};
  CHECK(cuModuleLoadData(&kernels.module, read(arguments[1]).c_str()));
  CHECK(cuModuleGetFunction(&kernels.gather, kernels.module, "gatun_gather_16"));
  CHECK(cuModuleGetFunction(&kernels.scatter, kernels.module, "gatun_scatter_16"));
  CUstream compute, copy;
  CHECK(cuStreamCreate(&compute, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamCreate(&copy, CU_STREAM_NON_BLOCKING));
  std::vector<CUevent> first(16), second(16);
  for (auto* events : {&first, &second})
    for (auto& event : *events) CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));

  std::printf("{\"card\": \"%s\", \"driver\": %d, \"blocks\": %d, \"threads\": %d, \"chunkBytes\": %llu, \"ringBytes\": %llu, \"rows\": [",
              card, driver, kBlocks, kThreads, kChunkBytes, kRingBytes);
  const Run runs[] = {{4096, 65536},   {16384, 16384},    {18432, 16384},      {32768, 16384},
                      {65536, 8192},   {262144, 2048},    {16ULL << 20, 32}};
  u64* pinned_table = nullptr;
  CHECK(cuMemHostAlloc(reinterpret_cast<void**>(&pinned_table), kBatch * sizeof(u64), 0));
  bool right = true;
  bool comma = false;
  for (const Run& run : runs) {
    Scene scene(run);
    const auto row = [&](const char* direction, const char* way, double gbps, bool correct) {
      std::printf("%s\n  {\"fragmentBytes\": %llu, \"fragments\": %llu, \"direction\": \"%s\", \"way\": \"%s\", \"gbps\": %.2f, \"correct\": %s}",
                  comma ? "," : "", run.fragment_bytes, run.fragments, direction, way, gbps, correct ? "true" : "false");
      comma = true;
      right &= correct;
      std::fflush(stdout);
    };
    double gbps = median_gbps(run.bytes(), repeats, [&] {
      CHECK(cuMemcpyDtoHAsync(scene.host_, scene.staging_, run.bytes(), copy));
      CHECK(cuStreamSynchronize(copy));
    });
    row("d2h", "one DMA copy of contiguous bytes", gbps, true);
    scene.clear_host();
    gbps = median_gbps(run.bytes(), std::min(repeats, 3), [&] {
      for (u64 i = 0; i < run.fragments; i++)
        CHECK(cuMemcpyDtoHAsync(scene.host_ + i * run.fragment_bytes, scene.addresses_[i], run.fragment_bytes, copy));
      CHECK(cuStreamSynchronize(copy));
    });
    row("d2h", "one DMA copy a fragment", gbps, scene.host_is_right());
    scene.clear_host();
    gbps = median_gbps(run.bytes(), repeats, [&] {
      launch(kernels.gather, compute, scene.table_, scene.staging_, run.fragments, run.fragment_bytes);
      CHECK(cuMemcpyDtoHAsync(scene.host_, scene.staging_, run.bytes(), compute));
      CHECK(cuStreamSynchronize(compute));
    });
    row("d2h", "gather kernel, then one DMA copy", gbps, scene.host_is_right());
    scene.clear_host();
    gbps = median_gbps(run.bytes(), repeats,
                       [&] { pipelined_d2h(scene, kernels, compute, copy, first, second); });
    row("d2h", "gather kernel and DMA copy overlapped", gbps, scene.host_is_right());
    std::printf(",\n  {\"fragmentBytes\": %llu, \"fragments\": %llu, \"direction\": \"d2h\", \"way\": \"host time to queue that\", \"micros\": %.1f}",
                run.fragment_bytes, std::min<u64>(kBatch, run.fragments),
                queue_micros(scene, kernels, compute, copy, first, second, pinned_table, kBatch, false));
    if (run.fragments >= kBatch && kBatch * run.fragment_bytes <= first.size() * kChunkBytes) {
      std::printf(",\n  {\"fragmentBytes\": %llu, \"fragments\": %llu, \"direction\": \"d2h\", \"way\": \"host time to queue that into scattered pages\", \"micros\": %.1f}",
                  run.fragment_bytes, kBatch,
                  queue_micros(scene, kernels, compute, copy, first, second, pinned_table, kBatch, true));
    }
    scene.clear_host();
    gbps = median_gbps(run.bytes(), repeats, [&] {
      launch(kernels.gather, compute, scene.table_, reinterpret_cast<u64>(scene.host_), run.fragments, run.fragment_bytes);
      CHECK(cuStreamSynchronize(compute));
    });
    row("d2h", "gather kernel straight to pinned memory", gbps, scene.host_is_right());

    scene.fill_host();
    gbps = median_gbps(run.bytes(), repeats, [&] {
      CHECK(cuMemcpyHtoDAsync(scene.staging_, scene.host_, run.bytes(), copy));
      CHECK(cuStreamSynchronize(copy));
    });
    row("h2d", "one DMA copy of contiguous bytes", gbps, true);
    scene.wipe_ours();
    gbps = median_gbps(run.bytes(), std::min(repeats, 3), [&] {
      for (u64 i = 0; i < run.fragments; i++)
        CHECK(cuMemcpyHtoDAsync(scene.addresses_[i], scene.host_ + i * run.fragment_bytes, run.fragment_bytes, copy));
      CHECK(cuStreamSynchronize(copy));
    });
    row("h2d", "one DMA copy a fragment", gbps, scene.cache_is_right());
    scene.wipe_ours();
    gbps = median_gbps(run.bytes(), repeats, [&] {
      CHECK(cuMemcpyHtoDAsync(scene.staging_, scene.host_, run.bytes(), compute));
      launch(kernels.scatter, compute, scene.staging_, scene.table_, run.fragments, run.fragment_bytes);
      CHECK(cuStreamSynchronize(compute));
    });
    row("h2d", "one DMA copy, then scatter kernel", gbps, scene.cache_is_right());
    scene.wipe_ours();
    gbps = median_gbps(run.bytes(), repeats,
                       [&] { pipelined_h2d(scene, kernels, compute, copy, first, second); });
    row("h2d", "DMA copy and scatter kernel overlapped", gbps, scene.cache_is_right());
    scene.wipe_ours();
    gbps = median_gbps(run.bytes(), repeats, [&] {
      launch(kernels.scatter, compute, reinterpret_cast<u64>(scene.host_), scene.table_, run.fragments, run.fragment_bytes);
      CHECK(cuStreamSynchronize(compute));
    });
    row("h2d", "scatter kernel straight from pinned memory", gbps, scene.cache_is_right());

    gbps = median_gbps(2 * run.bytes(), repeats, [&] {
      CHECK(cuMemcpyDtoHAsync(scene.host_, scene.staging_, run.bytes(), copy));
      CHECK(cuMemcpyHtoDAsync(scene.cache_, scene.image_, run.bytes(), compute));
      CHECK(cuStreamSynchronize(copy));
      CHECK(cuStreamSynchronize(compute));
    });
    row("both", "one DMA copy of contiguous bytes each way at once", gbps, true);

    gbps = median_gbps(run.bytes(), repeats, [&] {
      launch(kernels.gather, compute, scene.table_, scene.staging_, run.fragments, run.fragment_bytes);
      CHECK(cuStreamSynchronize(compute));
    });
    row("d2d", "gather kernel", gbps, true);
  }
  std::printf("\n]}\n");
  return right ? 0 : 1;
}

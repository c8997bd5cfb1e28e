// The raw probe of two GPUs: moves scattered fragments of one GPU's memory to scattered places of another's, in every way
// that the machine offers, with no Java in sight, checks every byte, and prints one JSON object. Then the same beside a
// matrix product, on the GPU that pushes and on the one that receives.
//
//   push_probe PAGES.ptx [REPEATS [PAIRS]]
//
// Build: nvcc -O2 -std=c++17 -arch=native push_probe.cu -lcuda -lcublas -o push_probe
// With one GPU both sides are on it.

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using u64 = unsigned long long;

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const cudaError_t code = (call);                                                    \
    if (code != cudaSuccess) {                                                          \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code));                \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)
#define CHECK_DRIVER(call)                                                              \
  do {                                                                                  \
    const CUresult code = (call);                                                       \
    if (code != CUDA_SUCCESS) {                                                         \
      const char* text = "";                                                            \
      cuGetErrorString(code, &text);                                                    \
      std::fprintf(stderr, "%s: %s\n", #call, text);                                    \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)

constexpr int kPlaces = 160;  // fragments of a block: 80 layers, keys and values
constexpr int kProduct = 8192;
constexpr int kProducts = 30;  // of a measurement: some 40 ms
constexpr u64 kChunkBytes = 8ull << 20;
constexpr u64 kRingBytes = 192ull << 20;  // on either GPU

// The plainest push: an address on either side for each fragment.
__global__ void raw_push(const u64* __restrict__ sources, const u64* __restrict__ targets, u64 fragments, u64 bytes) {
  const unsigned per = static_cast<unsigned>(bytes / sizeof(uint4));
  const u64 total = fragments * per;
  const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
  constexpr int kInFlight = 8;
  for (u64 start = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; start < total; start += threads * kInFlight) {
    uint4 values[kInFlight];
    u64 at[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; i++) {
      const u64 index = start + i * threads;
      if (index < total) {
        const unsigned fragment = static_cast<unsigned>(index / per);
        const u64 inner = (index - static_cast<u64>(fragment) * per) * sizeof(uint4);
        values[i] = __ldcs(reinterpret_cast<const uint4*>(sources[fragment] + inner));
        at[i] = targets[fragment] + inner;
      }
    }
#pragma unroll
    for (int i = 0; i < kInFlight; i++)
      if (start + i * threads < total) __stcs(reinterpret_cast<uint4*>(at[i]), values[i]);
  }
}

// Content that depends on where it is.
__global__ void fill(u64* memory, u64 words, u64 seed) {
  for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += static_cast<u64>(gridDim.x) * blockDim.x)
    memory[i] = (i + seed) * 0x9E3779B97F4A7C15ull;
}

// Counts words that are not what the fragment's source has; only the target GPU's own memory is read.
__global__ void check(const u64* __restrict__ targets, const u64* __restrict__ source_words, u64 fragments, u64 bytes,
                      u64 seed, u64* wrong) {
  const u64 per = bytes / 8;
  const u64 total = fragments * per;
  for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += static_cast<u64>(gridDim.x) * blockDim.x) {
    const u64 fragment = i / per, inner = i - fragment * per;
    if (reinterpret_cast<const u64*>(targets[fragment])[inner] != (source_words[fragment] + inner + seed) * 0x9E3779B97F4A7C15ull)
      atomicAdd(wrong, 1ull);
  }
}

struct Side {
  int device;
  char* cache;
  u64 stride;  // from block to block of a place
};

// Blocks of kPlaces fragments, every place in a tensor of its own; every second block is somebody else's.
class Scene {
 public:
  Scene(int from, int to, u64 fragment_bytes, u64 blocks) : bytes_(fragment_bytes), blocks_(blocks) {
    u64 room = 2 * blocks * kPlaces * fragment_bytes;
    for (Side* side : {&source_, &target_}) {
      side->device = side == &source_ ? from : to;
      side->stride = fragment_bytes;
      CHECK(cudaSetDevice(side->device));
      CHECK(cudaMalloc(&side->cache, room));
      fill<<<1024, 256>>>(reinterpret_cast<u64*>(side->cache), room / 8, side == &source_ ? kSeed : 0);
      CHECK(cudaDeviceSynchronize());
    }
    std::vector<u64> from_blocks(2 * blocks), to_blocks(2 * blocks);
    for (u64 i = 0; i < 2 * blocks; i++) from_blocks[i] = to_blocks[i] = i;
    std::mt19937_64 random(fragment_bytes);
    std::shuffle(from_blocks.begin(), from_blocks.end(), random);
    std::shuffle(to_blocks.begin(), to_blocks.end(), random);
    std::vector<u64> sources, targets, words, places(2 * kPlaces), pairs;
    for (u64 p = 0; p < kPlaces; p++) {
      places[p] = address(source_, p, 0);
      places[kPlaces + p] = address(target_, p, 0);
    }
    for (u64 b = 0; b < blocks; b++) {
      pairs.push_back(from_blocks[b] * fragment_bytes);
      pairs.push_back(to_blocks[b] * fragment_bytes);
      for (u64 p = 0; p < kPlaces; p++) {
        sources.push_back(address(source_, p, from_blocks[b]));
        targets.push_back(address(target_, p, to_blocks[b]));
        words.push_back((sources.back() - reinterpret_cast<u64>(source_.cache)) / 8);
      }
    }
    CHECK(cudaSetDevice(from));
    sources_ = upload(sources);
    targets_ = upload(targets);
    places_ = upload(places);
    pairs_ = upload(pairs);
    CHECK(cudaSetDevice(to));
    check_targets_ = upload(targets);
    check_words_ = upload(words);
    host_sources_ = sources;
    host_targets_ = targets;
  }
  ~Scene() {
    CHECK(cudaSetDevice(source_.device));
    for (void* p : {static_cast<void*>(source_.cache), static_cast<void*>(sources_), static_cast<void*>(targets_),
                    static_cast<void*>(places_), static_cast<void*>(pairs_)})
      CHECK(cudaFree(p));
    CHECK(cudaSetDevice(target_.device));
    for (void* p : {static_cast<void*>(target_.cache), static_cast<void*>(check_targets_), static_cast<void*>(check_words_)})
      CHECK(cudaFree(p));
  }
  u64 fragments() const { return blocks_ * kPlaces; }
  u64 bytes() const { return fragments() * bytes_; }
  void clear() {
    CHECK(cudaSetDevice(target_.device));
    fill<<<1024, 256>>>(reinterpret_cast<u64*>(target_.cache), 2 * bytes() / 8, 0);
    CHECK(cudaDeviceSynchronize());
  }
  bool arrived() {
    CHECK(cudaSetDevice(target_.device));
    u64* wrong;
    CHECK(cudaMallocManaged(&wrong, 8));
    *wrong = 0;
    check<<<1024, 256>>>(check_targets_, check_words_, fragments(), bytes_, kSeed, wrong);
    CHECK(cudaDeviceSynchronize());
    const bool right = *wrong == 0;
    CHECK(cudaFree(wrong));
    return right;
  }

  static constexpr u64 kSeed = 12345;
  u64 bytes_, blocks_;
  Side source_{}, target_{};
  u64 *sources_, *targets_, *places_, *pairs_, *check_targets_, *check_words_;
  std::vector<u64> host_sources_, host_targets_;

 private:
  u64 address(const Side& side, u64 place, u64 block) const {
    return reinterpret_cast<u64>(side.cache) + (place * 2 * blocks_ + block) * bytes_;
  }
  static u64* upload(const std::vector<u64>& values) {
    u64* memory;
    CHECK(cudaMalloc(&memory, values.size() * 8));
    CHECK(cudaMemcpy(memory, values.data(), values.size() * 8, cudaMemcpyHostToDevice));
    return memory;
  }
};

// Gather into a ring, move chunks by the copy engine into the other GPU's ring, scatter there: three short steps in place of
// one kernel that holds multiprocessors while it waits for the link.
class Staged {
 public:
  Staged(int from, int to, CUmodule from_module, CUmodule to_module) : from_(from), to_(to) {
    for (int side = 0; side < 2; side++) {
      CHECK(cudaSetDevice(side == 0 ? from : to));
      void* ring;
      CHECK(cudaMalloc(&ring, kRingBytes));
      rings_[side] = reinterpret_cast<u64>(ring);
      int least, greatest;
      CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
      CHECK(cudaStreamCreateWithPriority(side == 0 ? &gather_ : &scatter_, cudaStreamNonBlocking, least));
      if (side == 0) CHECK(cudaStreamCreateWithFlags(&copy_, cudaStreamNonBlocking));
      for (int slot = 0; slot < kSlots; slot++) {
        if (side == 0) CHECK(cudaEventCreateWithFlags(&gathered_[slot], cudaEventDisableTiming));
        if (side == 0) CHECK(cudaEventCreateWithFlags(&copied_[slot], cudaEventDisableTiming));
        if (side == 1) CHECK(cudaEventCreateWithFlags(&scattered_[slot], cudaEventDisableTiming));
      }
    }
    CHECK_DRIVER(cuModuleGetFunction(&gather_kernel_, from_module, "gatun_gather_16"));
    CHECK_DRIVER(cuModuleGetFunction(&scatter_kernel_, to_module, "gatun_scatter_16"));
  }
  cudaStream_t queue(const Scene& scene) {
    const u64 per = kChunkBytes / scene.bytes_;
    for (u64 first = 0; first < scene.fragments(); first += per, chunk_++) {
      const int slot = chunk_ % kSlots;
      u64 count = std::min(per, scene.fragments() - first), bytes = scene.bytes_;
      u64 table = reinterpret_cast<u64>(scene.sources_ + first), ring = rings_[0] + slot * kChunkBytes;
      CHECK(cudaSetDevice(from_));
      CHECK(cudaStreamWaitEvent(gather_, copied_[slot]));
      void* gather[] = {&table, &ring, &count, &bytes};
      CHECK_DRIVER(cuLaunchKernel(gather_kernel_, 132, 1, 1, 256, 1, 1, 0, gather_, gather, nullptr));
      CHECK(cudaEventRecord(gathered_[slot], gather_));
      CHECK(cudaStreamWaitEvent(copy_, gathered_[slot]));
      CHECK(cudaStreamWaitEvent(copy_, scattered_[slot]));
      u64 there = rings_[1] + slot * kChunkBytes;
      CHECK(cudaMemcpyPeerAsync(reinterpret_cast<void*>(there), to_, reinterpret_cast<void*>(ring), from_, count * bytes, copy_));
      CHECK(cudaEventRecord(copied_[slot], copy_));
      CHECK(cudaSetDevice(to_));
      CHECK(cudaStreamWaitEvent(scatter_, copied_[slot]));
      u64 targets = reinterpret_cast<u64>(scene.check_targets_ + first);
      void* scatter[] = {&there, &targets, &count, &bytes};
      CHECK_DRIVER(cuLaunchKernel(scatter_kernel_, 132, 1, 1, 256, 1, 1, 0, scatter_, scatter, nullptr));
      CHECK(cudaEventRecord(scattered_[slot], scatter_));
    }
    return scatter_;
  }

 private:
  static constexpr int kSlots = kRingBytes / kChunkBytes;
  int from_, to_;
  u64 chunk_ = 0;
  u64 rings_[2];
  cudaStream_t gather_, copy_, scatter_;
  cudaEvent_t gathered_[kSlots], copied_[kSlots], scattered_[kSlots];
  CUfunction gather_kernel_, scatter_kernel_;
};

class Product {
 public:
  explicit Product(int device) : device_(device) {
    CHECK(cudaSetDevice(device));
    int least, greatest;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
    for (auto** m : {&a_, &b_, &c_}) {
      CHECK(cudaMalloc(m, sizeof(__nv_bfloat16) * kProduct * kProduct));
      CHECK(cudaMemset(*m, 0x3c, sizeof(__nv_bfloat16) * kProduct * kProduct));
    }
    cublasCreate(&handle_);
    cublasSetStream(handle_, stream_);
    for (auto* e : {&first_, &last_}) CHECK(cudaEventCreate(e));
  }
  void queue(int products) {
    CHECK(cudaSetDevice(device_));
    const float one = 1, zero = 0;
    CHECK(cudaEventRecord(first_, stream_));
    for (int i = 0; i < products; i++)
      cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, kProduct, kProduct, kProduct, &one, a_, CUDA_R_16BF, kProduct, b_,
                   CUDA_R_16BF, kProduct, &zero, c_, CUDA_R_16BF, kProduct, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    CHECK(cudaEventRecord(last_, stream_));
  }
  bool running() const { return cudaEventQuery(last_) == cudaErrorNotReady; }
  double millis() {
    CHECK(cudaEventSynchronize(last_));
    float millis;
    CHECK(cudaEventElapsedTime(&millis, first_, last_));
    return millis;
  }

 private:
  int device_;
  cudaStream_t stream_;
  cublasHandle_t handle_;
  __nv_bfloat16 *a_, *b_, *c_;
  cudaEvent_t first_, last_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string read(const char* path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool comma = false;
void row(const std::string& text) {
  std::printf("%s\n  {%s}", comma ? "," : "", text.c_str());
  comma = true;
  std::fflush(stdout);
}
template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: push_probe PAGES.ptx [REPEATS [PAIRS]]\n");
    return 2;
  }
  const int repeats = count > 2 ? std::atoi(arguments[2]) : 9, pairs = count > 3 ? std::atoi(arguments[3]) : 15;
  int devices;
  CHECK(cudaGetDeviceCount(&devices));
  const int from = 0, to = devices > 1 ? 1 : 0;
  if (from != to) {
    CHECK(cudaSetDevice(from));
    CHECK(cudaDeviceEnablePeerAccess(to, 0));
    CHECK(cudaSetDevice(to));
    CHECK(cudaDeviceEnablePeerAccess(from, 0));
  }
  CHECK(cudaSetDevice(from));
  CHECK(cudaFree(nullptr));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, from));
  CUmodule module;
  CUfunction ours;
  CHECK_DRIVER(cuModuleLoadData(&module, read(arguments[1]).c_str()));
  CHECK_DRIVER(cuModuleGetFunction(&ours, module, "gatun_push_16"));
  CHECK(cudaSetDevice(to));
  CHECK(cudaFree(nullptr));
  CUmodule target_module;
  CHECK_DRIVER(cuModuleLoadData(&target_module, read(arguments[1]).c_str()));
  Staged staged(from, to, module, target_module);
  CHECK(cudaSetDevice(from));
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, least));
  cudaEvent_t first, last;
  CHECK(cudaEventCreate(&first));
  CHECK(cudaEventCreate(&last));
  CHECK(cudaSetDevice(to));
  cudaEvent_t staged_first, staged_last;
  CHECK(cudaEventCreate(&staged_first));
  CHECK(cudaEventCreate(&staged_last));
  CHECK(cudaSetDevice(from));
  u64 moved_sends = 0;
  int driver;
  CHECK(cudaDriverGetVersion(&driver));
  std::printf("{\"card\": \"%s\", \"gpus\": %d, \"driver\": %d, \"repeats\": %d, \"pairs\": %d, \"rows\": [", properties.name,
              devices, driver, repeats, pairs);
  bool right = true;

  const auto gbps = [&](u64 bytes, const std::function<void()>& work) {
    CHECK(cudaSetDevice(from));
    std::vector<double> rates;
    for (int i = -2; i < repeats; i++) {
      CHECK(cudaEventRecord(first, stream));
      work();
      CHECK(cudaEventRecord(last, stream));
      CHECK(cudaEventSynchronize(last));
      float millis;
      CHECK(cudaEventElapsedTime(&millis, first, last));
      if (i >= 0) rates.push_back(bytes / (millis * 1e6));
    }
    return median(rates);
  };
  {
    char *a, *b;
    CHECK(cudaSetDevice(from));
    CHECK(cudaMalloc(&a, 1 << 30));
    CHECK(cudaSetDevice(to));
    CHECK(cudaMalloc(&b, 1 << 30));
    const double rate = gbps(1 << 30, [&] { CHECK(cudaMemcpyPeerAsync(b, to, a, from, 1 << 30, stream)); });
    row(format("\"way\": \"one peer copy of 1 GiB\", \"gbps\": %.1f", rate));
    CHECK(cudaFree(b));
    CHECK(cudaSetDevice(from));
    CHECK(cudaFree(a));
  }
  Product source_product(from);
  Product* target_product = from == to ? nullptr : new Product(to);
  const u64 sizes[][2] = {{4096, 1000}, {32768, 125}, {262144, 16}};
  for (const auto& size : sizes) {
    Scene scene(from, to, size[0], size[1]);
    const auto raw = [&](int blocks, int threads) {
      raw_push<<<blocks, threads, 0, stream>>>(scene.sources_, scene.targets_, scene.fragments(), scene.bytes_);
      CHECK(cudaGetLastError());
    };
    const auto gatun = [&](int blocks) {
      u64 sources = reinterpret_cast<u64>(scene.places_), targets = sources + kPlaces * 8;
      u64 table = reinterpret_cast<u64>(scene.pairs_), places = kPlaces;
      void* parameters[] = {&sources, &targets, &table, &places, &scene.blocks_, &scene.bytes_};
      CHECK_DRIVER(cuLaunchKernel(ours, blocks, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr));
    };
    const auto report = [&](const char* way, int blocks, int threads, const std::function<void()>& work) {
      scene.clear();
      const double rate = gbps(scene.bytes(), work);
      const bool all = scene.arrived();
      right &= all;
      row(format("\"way\": \"%s\", \"fragmentBytes\": %llu, \"bytes\": %llu, \"blocks\": %d, \"threads\": %d, \"gbps\": %.1f, \"correct\": %s",
                 way, scene.bytes_, scene.bytes(), blocks, threads, rate, all ? "true" : "false"));
    };
    for (int blocks : {2, 4, 8, 16, 32, 64, 132, 264, 1056, 8448, 20480}) {
      if (blocks <= 1056) report("raw push kernel", blocks, 512, [&] { raw(blocks, 512); });
      report("raw push kernel", blocks, 256, [&] { raw(blocks, 256); });
      report("gatun_push", blocks, 256, [&] { gatun(blocks); });
    }
    {
      const u64 some = std::min<u64>(scene.fragments(), 2000);
      const double rate = gbps(some * scene.bytes_, [&] {
        for (u64 i = 0; i < some; i++)
          CHECK(cudaMemcpyPeerAsync(reinterpret_cast<void*>(scene.host_targets_[i]), to,
                                    reinterpret_cast<void*>(scene.host_sources_[i]), from, scene.bytes_, stream));
      });
      row(format("\"way\": \"one peer copy a fragment\", \"fragmentBytes\": %llu, \"gbps\": %.2f", scene.bytes_, rate));
    }
    // what one GPU's stream does not show is timed by the host
    const auto seconds = [](std::chrono::steady_clock::time_point start) {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    {
      scene.clear();
      std::vector<double> rates;
      for (int i = -2; i < repeats; i++) {
        const auto start = std::chrono::steady_clock::now();
        CHECK(cudaStreamSynchronize(staged.queue(scene)));
        if (i >= 0) rates.push_back(scene.bytes() / seconds(start) / 1e9);
      }
      const bool all = scene.arrived();
      right &= all;
      row(format("\"way\": \"gather, peer copies of chunks, scatter\", \"fragmentBytes\": %llu, \"bytes\": %llu, \"ringBytes\": %llu, "
                 "\"chunkBytes\": %llu, \"gbps\": %.1f, \"correct\": %s",
                 scene.bytes_, scene.bytes(), kRingBytes, kChunkBytes, median(rates), all ? "true" : "false"));
    }
    // beside a product, in pairs: without and with
    constexpr int kCopies = 0, kStaged = -1;
    for (Product* product : {&source_product, target_product}) {
      if (product == nullptr) continue;
      for (int blocks : {kCopies, kStaged, 2, 4, 8, 16, 32, 64, 132, 1056, 8448, 20480}) {
        std::vector<double> alone, beside, slower, rates;
        for (int pair = -1; pair < pairs; pair++) {
          product->queue(kProducts);
          const double without = product->millis();
          product->queue(kProducts);
          CHECK(cudaSetDevice(from));
          const auto start = std::chrono::steady_clock::now();
          u64 sends = 0;
          cudaEvent_t ends[2] = {first, last};
          double millis = 0;
          bool measured = false;
          cudaEvent_t staged_ends[2] = {staged_first, staged_last};
          for (; product->running(); sends++) {
            cudaEvent_t* marks = blocks == kStaged ? staged_ends : ends;
            if (blocks == kStaged) {
              cudaStream_t used = staged.queue(scene);
              CHECK(cudaEventRecord(marks[sends % 2], used));
            } else {
              CHECK(cudaSetDevice(from));
              if (blocks == kCopies)
                CHECK(cudaMemcpyPeerAsync(scene.target_.cache, to, scene.source_.cache, from, scene.bytes(), stream));
              else
                gatun(blocks);
              CHECK(cudaEventRecord(marks[sends % 2], stream));
            }
            // one send runs, one is queued; the rate is of those that ended while the products ran
            if (sends > 0) {
              while (cudaEventQuery(marks[(sends - 1) % 2]) == cudaErrorNotReady && product->running()) {}
              if (product->running()) millis = seconds(start) * 1e3, measured = true, moved_sends = sends;
            }
          }
          const double with = product->millis();
          CHECK(cudaSetDevice(from));
          CHECK(cudaDeviceSynchronize());
          CHECK(cudaSetDevice(to));
          CHECK(cudaDeviceSynchronize());
          if (pair < 0) continue;
          alone.push_back(without);
          beside.push_back(with);
          slower.push_back(100 * (with / without - 1));
          rates.push_back(measured ? moved_sends * scene.bytes() / (millis * 1e6) : 0);
        }
        std::vector<double> sorted = slower;
        std::sort(sorted.begin(), sorted.end());
        row(format("\"way\": \"%s beside a product\", \"fragmentBytes\": %llu, \"blocks\": %d, \"productOn\": \"%s\", \"productMillis\": %.3f, "
                   "\"productMillisBeside\": %.3f, \"slowerPercent\": %.2f, \"slowerQuartiles\": [%.2f, %.2f], \"gbps\": %.1f",
                   blocks == kCopies ? "large peer copies" : blocks == kStaged ? "gather, peer copies of chunks, scatter" : "gatun_push",
                   scene.bytes_, std::max(blocks, 0), product == &source_product ? "source" : "target", median(alone) / kProducts,
                   median(beside) / kProducts, median(slower), sorted[sorted.size() / 4], sorted[sorted.size() * 3 / 4],
                   median(rates)));
      }
    }
  }
  std::printf("\n]}\n");
  return right ? 0 : 1;
}

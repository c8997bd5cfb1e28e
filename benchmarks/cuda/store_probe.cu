// The raw probe of pages on their way between GPU memory and a store in host memory: large DMA copies into pinned buffers and
// memcpy from there to the store's memory at once, and the way back, without kernels, keys or Java. Checks every byte and
// prints one JSON object: what link and memory give together.
//
//   store_probe [REPEATS]
//
// Build: nvcc -O2 -std=c++17 -Xcompiler -pthread store_probe.cu -o store_probe

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace {

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const cudaError_t code = (call);                                                    \
    if (code != cudaSuccess) {                                                          \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code));                \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)

constexpr size_t kBytes = 2ull << 30;

// Workers take chunks in turn, each with a pinned buffer and a stream of its own; one copies by DMA while another is in memcpy.
double run(bool put, int workers, size_t chunk, char* device, char* store, std::vector<char*>& pinned,
           std::vector<cudaStream_t>& streams) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; w++) {
    threads.emplace_back([=] {
      for (size_t at = w * chunk; at < kBytes; at += workers * chunk) {
        if (!put) std::memcpy(pinned[w], store + at, chunk);
        CHECK(put ? cudaMemcpyAsync(pinned[w], device + at, chunk, cudaMemcpyDeviceToHost, streams[w])
                  : cudaMemcpyAsync(device + at, pinned[w], chunk, cudaMemcpyHostToDevice, streams[w]));
        CHECK(cudaStreamSynchronize(streams[w]));
        if (put) std::memcpy(store + at, pinned[w], chunk);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return kBytes / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 1e9;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  const int repeats = count > 1 ? std::atoi(arguments[1]) : 7;
  char *device, *store = static_cast<char*>(std::aligned_alloc(4096, kBytes));
  CHECK(cudaMalloc(&device, kBytes));
  std::vector<char> image(kBytes);
  std::mt19937_64 random(1);
  for (size_t at = 0; at < kBytes; at += 8) {
    const unsigned long long word = random();
    std::memcpy(&image[at], &word, 8);
  }
  std::vector<char*> pinned(16);
  std::vector<cudaStream_t> streams(16);
  const size_t chunks[] = {4 << 20, 16 << 20, 64 << 20};
  for (int w = 0; w < 16; w++) {
    CHECK(cudaHostAlloc(&pinned[w], 64 << 20, 0));
    CHECK(cudaStreamCreateWithFlags(&streams[w], cudaStreamNonBlocking));
  }
  std::printf("{\"repeats\": %d, \"bytes\": %zu, \"cores\": %u, \"rows\": [", repeats, kBytes, std::thread::hardware_concurrency());
  bool all_right = true, comma = false;
  for (size_t chunk : chunks) {
    for (int workers : {1, 2, 4, 8, 16}) {
      CHECK(cudaMemcpy(device, image.data(), kBytes, cudaMemcpyHostToDevice));
      std::memset(store, 0, kBytes);
      std::vector<double> puts, gets;
      for (int i = -1; i < repeats; i++) {
        const double put = run(true, workers, chunk, device, store, pinned, streams);
        if (i == repeats - 1) CHECK(cudaMemset(device, 0, kBytes));
        const double get = run(false, workers, chunk, device, store, pinned, streams);
        if (i < 0) continue;
        puts.push_back(put);
        gets.push_back(get);
      }
      std::vector<char> back(kBytes);
      CHECK(cudaMemcpy(back.data(), device, kBytes, cudaMemcpyDeviceToHost));
      const bool right = std::memcmp(store, image.data(), kBytes) == 0 && back == image;
      all_right &= right;
      std::printf("%s\n  {\"chunkBytes\": %zu, \"workers\": %d, \"putGBps\": %.1f, \"getGBps\": %.1f, \"correct\": %s}", comma ? "," : "",
                  chunk, workers, median(puts), median(gets), right ? "true" : "false");
      comma = true;
    }
  }
  std::printf("\n]}\n");
  return all_right ? 0 : 1;
}

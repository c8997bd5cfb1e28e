// Moving KV pages: a page is many fragments scattered over an engine's paged cache (one for each layer and part), and
// contiguous in a staging buffer or in the store. Gather (scattered to contiguous), scatter (back), move (scattered to
// scattered), and push (the same for whole blocks of two paged caches, of which one may be a peer GPU's).
//
// Work is flattened to vectors: thread i moves vector i, i + grid, ... of all fragments, so that 64-byte fragments and
// 16 MiB fragments fill the chip alike, and neither the number of fragments nor their size has a limit but 64 bits.
// All fragments of a call have one length. The host picks the widest vector that length, every address and the
// contiguous base allow (16, 8, 4 or 1 bytes); neighbouring threads touch neighbouring vectors, so accesses coalesce.
//
// Loads and stores are marked streaming (evict first): pages pass through once and must not push the model out of L2.

typedef unsigned long long u64;

// Loads in flight a thread. An H200 gathered 4 KiB fragments at 868, 1063 and 1135 GB/s with 2, 4 and 8 (132 blocks of
// 256 threads, benchmarks/results/h200-page-probe.json): the sooner a gather ends, the less it takes from the model.
#define IN_FLIGHT 8

template <typename Vector>
__device__ __forceinline__ Vector stream_load(u64 address) {
  return __ldcs(reinterpret_cast<const Vector*>(address));
}

template <typename Vector>
__device__ __forceinline__ void stream_store(u64 address, Vector value) {
  __stcs(reinterpret_cast<Vector*>(address), value);
}

// Where vector `index` of the flattened work lies: in `table` (scattered) or behind `base` (contiguous).
template <typename Vector>
__device__ __forceinline__ u64 scattered(const u64* __restrict__ table, u64 index, u64 vectors_per_fragment) {
  // 64-bit division is slow and almost never needed: 2^32 vectors of 16 bytes are 64 GiB in one call
  u64 fragment;
  if ((index | vectors_per_fragment) >> 32)
    fragment = index / vectors_per_fragment;
  else
    fragment = static_cast<unsigned>(index) / static_cast<unsigned>(vectors_per_fragment);
  return __ldg(table + fragment) + (index - fragment * vectors_per_fragment) * sizeof(Vector);
}

enum Shape { GATHER, SCATTER, MOVE };

template <typename Vector, Shape SHAPE>
__device__ __forceinline__ void pages(const u64* __restrict__ sources, const u64* __restrict__ targets, u64 base,
                                      u64 fragments, u64 fragment_bytes) {
  const u64 per_fragment = fragment_bytes / sizeof(Vector);
  const u64 total = fragments * per_fragment;
  const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
  const u64 first = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (u64 start = first; start < total; start += threads * IN_FLIGHT) {
    Vector values[IN_FLIGHT];
#pragma unroll
    for (int i = 0; i < IN_FLIGHT; i++) {
      const u64 index = start + i * threads;
      if (index < total) {
        values[i] = stream_load<Vector>(SHAPE == SCATTER ? base + index * sizeof(Vector)
                                                         : scattered<Vector>(sources, index, per_fragment));
      }
    }
#pragma unroll
    for (int i = 0; i < IN_FLIGHT; i++) {
      const u64 index = start + i * threads;
      if (index < total) {
        stream_store<Vector>(SHAPE == GATHER ? base + index * sizeof(Vector)
                                             : scattered<Vector>(targets, index, per_fragment),
                             values[i]);
      }
    }
  }
}

// From block to block a fragment's place moves by the same distance, so a block pair is two offsets, and the host uploads
// those instead of an address a fragment: 16 bytes a block instead of some 2,560. `places` fragments a block.
template <typename Vector>
__device__ __forceinline__ void push(const u64* __restrict__ sources, const u64* __restrict__ targets,
                                     const u64* __restrict__ offsets, u64 places, u64 blocks, u64 fragment_bytes) {
  const unsigned per_fragment = static_cast<unsigned>(fragment_bytes / sizeof(Vector));
  const u64 total = blocks * places * per_fragment;
  const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
  const u64 first = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (u64 start = first; start < total; start += threads * IN_FLIGHT) {
    Vector values[IN_FLIGHT];
    u64 addresses[IN_FLIGHT];
#pragma unroll
    for (int i = 0; i < IN_FLIGHT; i++) {
      const u64 index = start + i * threads;
      if (index < total) {
        u64 fragment, block;
        if (total >> 32) {
          fragment = index / per_fragment;
          block = fragment / places;
        } else {
          fragment = static_cast<unsigned>(index) / per_fragment;
          block = static_cast<unsigned>(fragment) / static_cast<unsigned>(places);
        }
        const u64 place = fragment - block * places;
        const u64 inner = (index - fragment * per_fragment) * sizeof(Vector);
        values[i] = stream_load<Vector>(__ldg(sources + place) + __ldg(offsets + 2 * block) + inner);
        addresses[i] = __ldg(targets + place) + __ldg(offsets + 2 * block + 1) + inner;
      }
    }
#pragma unroll
    for (int i = 0; i < IN_FLIGHT; i++)
      if (start + i * threads < total) stream_store<Vector>(addresses[i], values[i]);
  }
}

// Names are what the host looks up: direction and vector width in bytes.
#define PAGE_KERNELS(WIDTH, VECTOR)                                                                                \
  extern "C" __global__ void gatun_gather_##WIDTH(const u64* sources, u64 target, u64 fragments, u64 bytes) {      \
    pages<VECTOR, GATHER>(sources, nullptr, target, fragments, bytes);                                             \
  }                                                                                                                \
  extern "C" __global__ void gatun_scatter_##WIDTH(u64 source, const u64* targets, u64 fragments, u64 bytes) {     \
    pages<VECTOR, SCATTER>(nullptr, targets, source, fragments, bytes);                                            \
  }                                                                                                                \
  extern "C" __global__ void gatun_move_##WIDTH(const u64* sources, const u64* targets, u64 fragments, u64 bytes) { \
    pages<VECTOR, MOVE>(sources, targets, 0, fragments, bytes);                                                    \
  }                                                                                                                \
  extern "C" __global__ void gatun_push_##WIDTH(const u64* sources, const u64* targets, const u64* offsets,        \
                                                u64 places, u64 blocks, u64 bytes) {                               \
    push<VECTOR>(sources, targets, offsets, places, blocks, bytes);                                                \
  }

PAGE_KERNELS(16, uint4)
PAGE_KERNELS(8, uint2)
PAGE_KERNELS(4, unsigned int)
PAGE_KERNELS(1, unsigned char)

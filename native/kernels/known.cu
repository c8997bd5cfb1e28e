// Pages of known content, made and checked where they lie: a test or a replay sees every byte of a page in GPU memory, and
// none of them leaves it. What a page holds is told by the four words of its header (KnownPages.java says how).
//
// Thread i does word i, i + grid, ... of all pages, and finds the fragment it lies in as the kernels of pages.cu do.

typedef unsigned long long u64;

#define HEADER_WORDS 4
#define PATTERN_WORDS 512
#define GOLDEN 0x9E3779B97F4A7C15ull

// The finishing step of SplitMix64.
__device__ __forceinline__ u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ __forceinline__ u64 known(const u64* __restrict__ header, u64 index) {
  if (index < HEADER_WORDS) return __ldg(header + index);
  const u64 in_run = (index - HEADER_WORDS) % PATTERN_WORDS;
  return mix((in_run + 1) * GOLDEN) + __ldg(header) + (index - in_run) * GOLDEN;
}

// `table` holds the addresses of `fragments` fragments a page, `headers` four words a page. `found` gets five words a page,
// zeroed before: 1 if any word differs, and the header that is there.
template <bool CHECK>
__device__ __forceinline__ void pages(const u64* __restrict__ table, const u64* __restrict__ headers, u64 fragments,
                                      u64 count, u64 fragment_bytes, u64* found) {
  const u64 fragment_words = fragment_bytes / sizeof(u64);
  const u64 page_words = fragments * fragment_words;
  const u64 total = count * page_words;
  const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
  for (u64 index = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; index < total; index += threads) {
    const u64 fragment = index / fragment_words;
    const u64 page = index / page_words;
    const u64 word = index - page * page_words;
    u64* place = reinterpret_cast<u64*>(__ldg(table + fragment)) + (index - fragment * fragment_words);
    const u64 expected = known(headers + HEADER_WORDS * page, word);
    if (!CHECK) {
      *place = expected;
      continue;
    }
    const u64 value = *place;
    u64* verdict = found + (HEADER_WORDS + 1) * page;
    if (word < HEADER_WORDS) verdict[1 + word] = value;
    if (value != expected) verdict[0] = 1;  // whoever writes it writes the same
  }
}

extern "C" __global__ void gatun_known_fill(const u64* table, const u64* headers, u64 fragments, u64 count, u64 bytes) {
  pages<false>(table, headers, fragments, count, bytes, nullptr);
}

extern "C" __global__ void gatun_known_check(const u64* table, const u64* headers, u64 fragments, u64 count, u64 bytes,
                                             u64* found) {
  pages<true>(table, headers, fragments, count, bytes, found);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The benchmark loop in C, as a program of its own and as libgatun_c_bench.so, so that a JVM can run the very same loop
 * in its own process against the very same store handle: what differs then is the binding alone.
 */
#ifndef GATUN_C_BENCH_H
#define GATUN_C_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "mooncake_store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Addresses of store functions, in this order. 56 bytes: seven pointers. */
struct gatun_c_bench_calls {
  int (*put_from)(mooncake_store_t, const char*, void*, size_t, const mooncake_replicate_config_t*);
  int64_t (*get_into)(mooncake_store_t, const char*, void*, size_t);
  int (*batch_put_from)(mooncake_store_t, const char**, void**, const size_t*, size_t,
                        const mooncake_replicate_config_t*, int*);
  int (*batch_get_into)(mooncake_store_t, const char**, void**, const size_t*, size_t, int64_t*);
  int (*batch_is_exist)(mooncake_store_t, const char**, size_t, int*);
  int (*remove)(mooncake_store_t, const char*, int);
  int64_t (*remove_all)(mooncake_store_t, int);
};
typedef struct gatun_c_bench_calls gatun_c_bench_calls_t;

#define GATUN_C_BENCH_PUT 0        /* one batch put; the keys are removed again, untimed */
#define GATUN_C_BENCH_GET 1        /* one batch get of keys that are there */
#define GATUN_C_BENCH_EXISTS 2     /* one batch exists */
#define GATUN_C_BENCH_PUT_SINGLE 3 /* put_from of the first key; removed again, untimed */
#define GATUN_C_BENCH_GET_SINGLE 4 /* get_into of the first key */

/* Runs an operation `iterations` times on one batch and writes the nanoseconds of each to nanos. Removal between puts
 * is a forced remove a key, or one remove_all when clear_all is not 0 (a real master answers it in one message). 0, or
 * the first code that was not a success; -1 for NULLs and unknown operations. The caller owns everything. */
int64_t gatun_c_bench_run(const gatun_c_bench_calls_t* calls, mooncake_store_t store, int operation, const char** keys,
                          void** buffers, const size_t* sizes, size_t count, int clear_all, uint64_t iterations,
                          int64_t* nanos);

/* The same pages copied by `threads` threads with memcpy, `iterations` times; nanoseconds of each to nanos. 0, or -1
 * for NULLs and zeros. */
int64_t gatun_c_bench_memcpy(void* target, const void* source, size_t page_bytes, size_t pages, size_t threads,
                             uint64_t iterations, int64_t* nanos);

#ifdef __cplusplus
}
#endif

#endif

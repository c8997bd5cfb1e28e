/* SPDX-License-Identifier: Apache-2.0
 *
 * Our declarations of the CUDA driver calls that Gatun makes, as libcuda.so.1 exports them (drivers from CUDA 12.0 on).
 *
 * Contexts, streams, events, modules and functions, and every address that a call only hands on (device memory, pinned
 * host memory, kernel parameters), are declared as 64-bit integers. On the 64-bit Linux ABIs an integer is passed as a
 * pointer is, and a caller in Java then holds a long instead of an object for each call. Pointers are pointers where the
 * call itself reads or writes through them before it returns.
 *
 * Every function returns 0 or an error number; cuGetErrorName names it. A number can stem from earlier asynchronous work.
 * Except where noted a call needs a context that is current in the calling thread.
 */
#ifndef GATUN_ABI_CUDA_H
#define GATUN_ABI_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t gatun_cuda_handle;  /* context, stream, event, module or function; 0 is none */
typedef uint64_t gatun_cuda_address; /* device memory, or host memory that outlives the call */

/* ---- Numbers ---- */

#define GATUN_CUDA_NOT_READY 600 /* from the queries: work is still running; no error */

#define GATUN_CUDA_ATTRIBUTE_MULTIPROCESSORS 16
#define GATUN_CUDA_ATTRIBUTE_COPY_ENGINES 40
#define GATUN_CUDA_ATTRIBUTE_UNIFIED_ADDRESSING 41
#define GATUN_CUDA_ATTRIBUTE_COMPUTE_MAJOR 75
#define GATUN_CUDA_ATTRIBUTE_COMPUTE_MINOR 76
#define GATUN_CUDA_ATTRIBUTE_HOST_POINTER_OF_REGISTERED 91 /* kernels reach registered memory at its host address */

#define GATUN_CUDA_STREAM_NON_BLOCKING 1  /* no implicit order against the legacy default stream */
#define GATUN_CUDA_EVENT_DISABLE_TIMING 2
#define GATUN_CUDA_HOST_PORTABLE 1 /* pinned for every context of the process */
#define GATUN_CUDA_HOST_MAPPED 2   /* kernels may reach it */

#define GATUN_CUDA_POINTER_MEMORY_TYPE 2    /* uint32_t */
#define GATUN_CUDA_POINTER_DEVICE_ORDINAL 9 /* int32_t */
#define GATUN_CUDA_MEMORY_HOST 1
#define GATUN_CUDA_MEMORY_DEVICE 2

#define GATUN_CUDA_SOURCE_ORDER_STREAM 1 /* a batch's sources are read in stream order */

#define GATUN_CUDA_UUID_BYTES 16

#define GATUN_CUDA_IPC_HANDLE_BYTES 64
#define GATUN_CUDA_IPC_PEER_ACCESS 1 /* let the importer's GPU reach the exporter's, where the machine allows it */

/* ---- Driver and devices; no context needed ---- */

int cuInit(unsigned int flags);
int cuDriverGetVersion(int *version); /* 1000 * major + 10 * minor; works before cuInit */
int cuGetErrorName(int error, const char **name);
int cuGetErrorString(int error, const char **text);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int bytes, int device);
int cuDeviceGetUuid_v2(unsigned char *uuid, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);

/* ---- Contexts: a stack in each thread ---- */

int cuDevicePrimaryCtxRetain(gatun_cuda_handle *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxGetCurrent(gatun_cuda_handle *context); /* 0 if none */
int cuCtxPushCurrent_v2(gatun_cuda_handle context);
int cuCtxPopCurrent_v2(gatun_cuda_handle *context); /* NULL is allowed */
int cuCtxGetStreamPriorityRange(int *least, int *greatest);

/* ---- Memory ---- */

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
int cuMemAlloc_v2(gatun_cuda_address *address, size_t bytes);
int cuMemFree_v2(gatun_cuda_address address);
int cuMemHostAlloc(gatun_cuda_address *address, size_t bytes, unsigned int flags);
int cuMemFreeHost(gatun_cuda_address address);
int cuMemHostRegister_v2(gatun_cuda_address address, size_t bytes, unsigned int flags);
int cuMemHostUnregister(gatun_cuda_address address);
int cuPointerGetAttribute(void *value, int attribute, gatun_cuda_address address);

/* ---- Memory of another process of this host, from cuMemAlloc only ---- */

int cuMemGetAddressRange_v2(gatun_cuda_address *base, size_t *bytes, gatun_cuda_address address); /* its allocation */

/* 64 bytes, alignment 1. Passed by value: in memory, on x86-64 and AArch64. */
struct gatun_cuda_ipc_handle {
  unsigned char bytes[GATUN_CUDA_IPC_HANDLE_BYTES]; /* @0 */
};

/* The handle is that of the whole allocation. Its owner must not free it while others have it open. */
int cuIpcGetMemHandle(struct gatun_cuda_ipc_handle *handle, gatun_cuda_address address);
/* Once a process and context; the exporting process itself cannot. */
int cuIpcOpenMemHandle_v2(gatun_cuda_address *address, struct gatun_cuda_ipc_handle handle, unsigned int flags);
int cuIpcCloseMemHandle(gatun_cuda_address address);

/* ---- Copies: they return once queued ---- */

int cuMemcpyHtoDAsync_v2(gatun_cuda_address device, gatun_cuda_address host, size_t bytes, gatun_cuda_handle stream);
int cuMemcpyDtoHAsync_v2(gatun_cuda_address host, gatun_cuda_address device, size_t bytes, gatun_cuda_handle stream);
int cuMemcpyDtoDAsync_v2(gatun_cuda_address target, gatun_cuda_address source, size_t bytes, gatun_cuda_handle stream);
int cuMemsetD8Async(gatun_cuda_address address, unsigned char value, size_t bytes, gatun_cuda_handle stream);

/* 24 bytes, alignment 4 */
struct gatun_cuda_copy_attributes {
  int32_t source_order; /* @0 GATUN_CUDA_SOURCE_ORDER_* */
  int32_t source_kind;  /* @4 hints where the memory is, 0: none */
  int32_t source_id;    /* @8 */
  int32_t target_kind;  /* @12 */
  int32_t target_id;    /* @16 */
  uint32_t flags;       /* @20 */
};

/* From 12.8 on. Copy i moves sizes[i] bytes; attributes[k] hold from copy first_copies[k] on, first_copies[0] being 0.
 * targets, sources, sizes, attributes and first_copies are addresses of arrays, which are read before it returns;
 * failed_copy is the address of a size_t. The legacy default stream is refused. */
int cuMemcpyBatchAsync(gatun_cuda_address targets, gatun_cuda_address sources, gatun_cuda_address sizes, size_t count,
                       gatun_cuda_address attributes, gatun_cuda_address first_copies, size_t attribute_count,
                       gatun_cuda_address failed_copy, gatun_cuda_handle stream);

/* ---- Streams and events ---- */

int cuStreamCreateWithPriority(gatun_cuda_handle *stream, unsigned int flags, int priority); /* lower runs first */
int cuStreamDestroy_v2(gatun_cuda_handle stream);
int cuStreamQuery(gatun_cuda_handle stream); /* 0 if idle, GATUN_CUDA_NOT_READY if not */
int cuStreamSynchronize(gatun_cuda_handle stream);
int cuStreamWaitEvent(gatun_cuda_handle stream, gatun_cuda_handle event, unsigned int flags);

int cuEventCreate(gatun_cuda_handle *event, unsigned int flags);
int cuEventDestroy_v2(gatun_cuda_handle event);
int cuEventRecord(gatun_cuda_handle event, gatun_cuda_handle stream);
int cuEventQuery(gatun_cuda_handle event); /* as cuStreamQuery; 0 if never recorded */
int cuEventSynchronize(gatun_cuda_handle event);
int cuEventElapsedTime(float *millis, gatun_cuda_handle first, gatun_cuda_handle last);

/* ---- Kernels ---- */

int cuModuleLoadData(gatun_cuda_handle *module, const void *image); /* PTX text ends with a NUL */
int cuModuleUnload(gatun_cuda_handle module);
int cuModuleGetFunction(gatun_cuda_handle *function, gatun_cuda_handle module, const char *name);
/* parameters: address of an array of addresses, one a kernel parameter; read before it returns. extra: 0. */
int cuLaunchKernel(gatun_cuda_handle function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                   unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                   gatun_cuda_handle stream, gatun_cuda_address parameters, gatun_cuda_address extra);

#ifdef __cplusplus
}
#endif

#endif

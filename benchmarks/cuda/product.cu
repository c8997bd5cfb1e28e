// The model's stand-in beside which pages move: bf16 matrix products on a high-priority stream of the process's own context,
// for a benchmark in Java to load.
//
// Build: nvcc -O2 -std=c++17 -shared -Xcompiler -fPIC product.cu -lcublas -o libproduct.so

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdio>

namespace {

struct Product {
  int device;
  int size;
  cudaStream_t stream;
  cublasHandle_t handle;
  void* matrices[3];
  cudaEvent_t first, last;
};

bool good(cudaError_t code) {
  if (code != cudaSuccess) std::fprintf(stderr, "product: %s\n", cudaGetErrorString(code));
  return code == cudaSuccess;
}

}  // namespace

extern "C" {

// size by size matrices; null if it cannot be made
void* product_create(int device, int size) {
  auto* product = new Product{device, size, nullptr, nullptr, {}, nullptr, nullptr};
  int least, greatest;
  bool all = good(cudaSetDevice(device)) && good(cudaDeviceGetStreamPriorityRange(&least, &greatest)) &&
             good(cudaStreamCreateWithPriority(&product->stream, cudaStreamNonBlocking, greatest)) &&
             good(cudaEventCreate(&product->first)) && good(cudaEventCreate(&product->last));
  const size_t bytes = sizeof(__nv_bfloat16) * size * size;
  for (void*& matrix : product->matrices) all = all && good(cudaMalloc(&matrix, bytes)) && good(cudaMemset(matrix, 0x3c, bytes));
  all = all && cublasCreate(&product->handle) == CUBLAS_STATUS_SUCCESS &&
        cublasSetStream(product->handle, product->stream) == CUBLAS_STATUS_SUCCESS;
  return all ? product : nullptr;
}

// queues some, one after the other; 0 if all were queued
int product_queue(void* made, int products) {
  auto* product = static_cast<Product*>(made);
  const float one = 1, zero = 0;
  const int n = product->size;
  if (!good(cudaSetDevice(product->device)) || !good(cudaEventRecord(product->first, product->stream))) return 1;
  for (int i = 0; i < products; i++) {
    if (cublasGemmEx(product->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, product->matrices[0], CUDA_R_16BF, n,
                     product->matrices[1], CUDA_R_16BF, n, &zero, product->matrices[2], CUDA_R_16BF, n, CUBLAS_COMPUTE_32F,
                     CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
      return 1;
  }
  return good(cudaEventRecord(product->last, product->stream)) ? 0 : 1;
}

// 1 while what was queued last runs
int product_running(void* made) { return cudaEventQuery(static_cast<Product*>(made)->last) == cudaErrorNotReady ? 1 : 0; }

// waits for what was queued last; milliseconds it took on the GPU, negative if it failed
float product_millis(void* made) {
  auto* product = static_cast<Product*>(made);
  float millis;
  if (!good(cudaEventSynchronize(product->last)) || !good(cudaEventElapsedTime(&millis, product->first, product->last)))
    return -1;
  return millis;
}

}  // extern "C"

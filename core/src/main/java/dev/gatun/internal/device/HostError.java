package dev.gatun.internal.device;

import dev.gatun.device.DeviceException;

/** The errors that the host driver gives, numbered as a GPU driver numbers them. */
enum HostError {
  INVALID_VALUE(1, "CUDA_ERROR_INVALID_VALUE", "an argument is wrong"), OUT_OF_MEMORY(2, "CUDA_ERROR_OUT_OF_MEMORY",
      "out of memory"),
  INVALID_CONTEXT(201, "CUDA_ERROR_INVALID_CONTEXT", "no context is bound"), INVALID_HANDLE(400,
      "CUDA_ERROR_INVALID_HANDLE", "no such thing"),
  NOT_FOUND(500, "CUDA_ERROR_NOT_FOUND",
      "no such kernel"),
  ILLEGAL_ADDRESS(700, "CUDA_ERROR_ILLEGAL_ADDRESS",
      "an address is neither device nor pinned memory"),
  ALREADY_PINNED(712,
      "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "already registered"),
  NOT_PINNED(713,
      "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "not registered");

  private final int code;
  private final String codeName;
  private final String text;

  HostError(int code, String codeName, String text) {
    this.code = code;
    this.codeName = codeName;
    this.text = text;
  }

  DeviceException in(String call) {
    return new DeviceException(call, code, codeName, text);
  }
}

package dev.gatun.internal.device;

import dev.gatun.bindings.cuda.CudaC;
import dev.gatun.device.DeviceException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Turns the driver's numbers into exceptions. */
final class FfmStatus {
  private interface Text {
    int of(int code, MemorySegment pointer);
  }

  private FfmStatus() {}

  static void check(int code, String call) {
    if (code != 0) throw failure(code, call);
  }

  /** A query: whether the work is done. */
  static boolean isDone(int code, String call) {
    if (code == 0) return true;
    if (code == CudaC.GATUN_CUDA_NOT_READY()) return false;
    throw failure(code, call);
  }

  static DeviceException failure(int code, String call) {
    return new DeviceException(call, code, text(code, CudaC::cuGetErrorName, "unknown error"),
        text(code, CudaC::cuGetErrorString, "which the driver does not explain"));
  }

  private static String text(int code, Text call, String otherwise) {
    try (Arena arena = Arena.ofConfined()) { // per call
      MemorySegment pointer = arena.allocate(ValueLayout.ADDRESS);
      if (call.of(code, pointer) != 0) return otherwise;
      MemorySegment text = pointer.get(ValueLayout.ADDRESS, 0);
      return text.address() == 0 ? otherwise : text.reinterpret(Long.MAX_VALUE).getString(0);
    }
  }
}

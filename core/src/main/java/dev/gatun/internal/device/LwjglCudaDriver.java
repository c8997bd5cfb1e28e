package dev.gatun.internal.device;

import static org.lwjgl.system.MemoryStack.stackGet;
import static org.lwjgl.system.MemoryStack.stackPush;
import static org.lwjgl.system.MemoryUtil.NULL;

import dev.gatun.device.CudaDriver;
import dev.gatun.device.DeviceException;
import dev.gatun.device.DeviceInfo;
import dev.gatun.device.ExportedMemory;
import dev.gatun.device.StreamPriority;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.function.ToIntFunction;
import org.lwjgl.PointerBuffer;
import org.lwjgl.cuda.CU;
import org.lwjgl.cuda.CUIPCMemHandle;
import org.lwjgl.cuda.CUuuid;
import org.lwjgl.system.Configuration;
import org.lwjgl.system.MemoryStack;
import org.lwjgl.system.MemoryUtil;

/** The driver through LWJGL. Longer than other classes since it is the whole list of calls. */
final class LwjglCudaDriver implements CudaDriver {
  private static final int NAME_BYTES = 256; // longest product names have some 40 characters
  private static final int PINNED = CU.CU_MEMHOSTREGISTER_PORTABLE | CU.CU_MEMHOSTREGISTER_DEVICEMAP;

  private LwjglCudaDriver() {}

  static CudaDriver open(Path library) {
    Configuration.CUDA_LIBRARY_NAME.set(library.toString());
    check(CU.cuInit(0), "cuInit");
    return new LwjglCudaDriver();
  }

  @Override
  public String name() {
    return "lwjgl";
  }

  @Override
  public String version() {
    int version = number(CU::cuDriverGetVersion, "cuDriverGetVersion");
    return "CUDA " + version / 1000 + "." + version % 1000 / 10;
  }

  @Override
  public int deviceCount() {
    return number(CU::cuDeviceGetCount, "cuDeviceGetCount");
  }

  @Override
  public DeviceInfo describe(int ordinal) {
    int device = device(ordinal);
    try (MemoryStack stack = stackPush()) {
      ByteBuffer name = stack.calloc(NAME_BYTES);
      check(CU.cuDeviceGetName(name, device), "cuDeviceGetName");
      CUuuid uuid = CUuuid.calloc(stack);
      check(CU.cuDeviceGetUuid_v2(uuid, device), "cuDeviceGetUuid");
      byte[] digits = new byte[uuid.bytes().remaining()];
      uuid.bytes().get(digits);
      return new DeviceInfo(ordinal, MemoryUtil.memUTF8(MemoryUtil.memAddress(name)),
          HexFormat.of().formatHex(digits), attribute(device, CU.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
          attribute(device, CU.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
          attribute(device, CU.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
          attribute(device, CU.CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT),
          handle(out -> CU.cuDeviceTotalMem(out, device), "cuDeviceTotalMem"),
          attribute(device, CU.CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) != 0);
    }
  }

  @Override
  public long retainContext(int ordinal) {
    int device = device(ordinal);
    return handle(out -> CU.cuDevicePrimaryCtxRetain(out, device), "cuDevicePrimaryCtxRetain");
  }

  @Override
  public void releaseContext(int ordinal) {
    check(CU.cuDevicePrimaryCtxRelease(device(ordinal)), "cuDevicePrimaryCtxRelease");
  }

  @Override
  public long currentContext() {
    return handle(CU::cuCtxGetCurrent, "cuCtxGetCurrent");
  }

  @Override
  public void pushContext(long context) {
    stackGet(); // a thread's first one is made in memory that it may have to wait for: not with a context bound
    check(CU.cuCtxPushCurrent(context), "cuCtxPushCurrent");
  }

  @Override
  public void popContext() {
    check(CU.ncuCtxPopCurrent(NULL), "cuCtxPopCurrent");
  }

  @Override
  public long freeBytes() {
    try (MemoryStack stack = stackPush()) {
      PointerBuffer total = stack.callocPointer(1);
      return handle(out -> CU.cuMemGetInfo(out, total), "cuMemGetInfo");
    }
  }

  @Override
  public long allocate(long bytes) {
    return handle(out -> CU.cuMemAlloc(out, bytes), "cuMemAlloc(" + bytes + ")");
  }

  @Override
  public void free(long address) {
    check(CU.cuMemFree(address), "cuMemFree");
  }

  @Override
  public void pin(long address, long bytes) {
    int code = CU.ncuMemHostRegister(address, bytes, PINNED);
    if (code != 0) throw failure(code, "cuMemHostRegister(" + bytes + ")");
  }

  @Override
  public void unpin(long address) {
    check(CU.ncuMemHostUnregister(address), "cuMemHostUnregister");
  }

  @Override
  public boolean isDeviceMemory(long address, int ordinal) {
    try (MemoryStack stack = stackPush()) {
      IntBuffer value = stack.callocInt(1);
      // an address that the driver does not know is an error of the call
      return CU.cuPointerGetAttribute(value, CU.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == 0
          && value.get(0) == CU.CU_MEMORYTYPE_DEVICE
          && CU.cuPointerGetAttribute(value, CU.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) == 0
          && value.get(0) == ordinal;
    }
  }

  @Override
  public long bytesFrom(long address) {
    try (MemoryStack stack = stackPush()) {
      PointerBuffer bytes = stack.callocPointer(1);
      long base = handle(out -> CU.cuMemGetAddressRange(out, bytes, address), "cuMemGetAddressRange");
      return base + bytes.get(0) - address;
    }
  }

  @Override
  public ExportedMemory exportMemory(long address) {
    try (MemoryStack stack = stackPush()) {
      PointerBuffer bytes = stack.callocPointer(1);
      long base = handle(out -> CU.cuMemGetAddressRange(out, bytes, address), "cuMemGetAddressRange");
      CUIPCMemHandle handle = CUIPCMemHandle.calloc(stack);
      check(CU.cuIpcGetMemHandle(handle, base), "cuIpcGetMemHandle");
      byte[] copy = new byte[CU.CU_IPC_HANDLE_SIZE];
      handle.reserved().get(copy);
      return new ExportedMemory(HexFormat.of().formatHex(copy), address - base);
    }
  }

  @Override
  public long importMemory(String handle) {
    try (MemoryStack stack = stackPush()) {
      CUIPCMemHandle copy = CUIPCMemHandle.calloc(stack);
      copy.reserved().put(HexFormat.of().parseHex(handle));
      return handle(out -> openHandle(out, copy), "cuIpcOpenMemHandle");
    }
  }

  /**
   * A handle goes by value, which LWJGL 3.3.6 does through libffi. That writes 8 bytes as the result, for which LWJGL takes 4
   * of its stack: the other 4 would be the lower half of the answer.
   */
  private static int openHandle(PointerBuffer out, CUIPCMemHandle handle) {
    try (MemoryStack stack = stackPush()) {
      stack.nmalloc(Long.BYTES); // lies between the answer and the result
      return CU.cuIpcOpenMemHandle(out, handle, CU.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    }
  }

  @Override
  public void closeImported(long base) {
    check(CU.cuIpcCloseMemHandle(base), "cuIpcCloseMemHandle");
  }

  @Override
  public void copyToDevice(long target, long source, long bytes, long stream) {
    check(CU.ncuMemcpyHtoDAsync(target, source, bytes, stream), "cuMemcpyHtoDAsync");
  }

  @Override
  public void copyToHost(long target, long source, long bytes, long stream) {
    check(CU.ncuMemcpyDtoHAsync(target, source, bytes, stream), "cuMemcpyDtoHAsync");
  }

  @Override
  public void copyOnDevice(long target, long source, long bytes, long stream) {
    check(CU.cuMemcpyDtoDAsync(target, source, bytes, stream), "cuMemcpyDtoDAsync");
  }

  @Override
  public boolean copiesBatches() {
    return false; // LWJGL has no cuMemcpyBatchAsync
  }

  @Override
  public void copyBatch(long targets, long sources, long sizes, long count, long stream) {
    throw new UnsupportedOperationException("LWJGL has no cuMemcpyBatchAsync; use the driver ffm");
  }

  @Override
  public void fill(long address, byte value, long bytes, long stream) {
    check(CU.cuMemsetD8Async(address, value, bytes, stream), "cuMemsetD8Async");
  }

  @Override
  public long createStream(StreamPriority priority) {
    try (MemoryStack stack = stackPush()) {
      IntBuffer greatest = stack.callocInt(1);
      int least = number(out -> CU.cuCtxGetStreamPriorityRange(out, greatest), "cuCtxGetStreamPriorityRange");
      int wanted = priority == StreamPriority.LOW ? least : greatest.get(0);
      return handle(out -> CU.cuStreamCreateWithPriority(out, CU.CU_STREAM_NON_BLOCKING, wanted),
          "cuStreamCreateWithPriority");
    }
  }

  @Override
  public void destroyStream(long stream) {
    check(CU.cuStreamDestroy(stream), "cuStreamDestroy");
  }

  @Override
  public boolean isIdle(long stream) {
    return isDone(CU.cuStreamQuery(stream), "cuStreamQuery");
  }

  @Override
  public void waitFor(long stream, long event) {
    check(CU.cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
  }

  @Override
  public long createEvent(boolean timed) {
    int flags = timed ? CU.CU_EVENT_DEFAULT : CU.CU_EVENT_DISABLE_TIMING;
    return handle(out -> CU.cuEventCreate(out, flags), "cuEventCreate");
  }

  @Override
  public void destroyEvent(long event) {
    check(CU.cuEventDestroy(event), "cuEventDestroy");
  }

  @Override
  public void record(long event, long stream) {
    check(CU.cuEventRecord(event, stream), "cuEventRecord");
  }

  @Override
  public boolean isDone(long event) {
    return isDone(CU.cuEventQuery(event), "cuEventQuery");
  }

  @Override
  public float elapsedMillis(long first, long last) {
    try (MemoryStack stack = stackPush()) {
      FloatBuffer millis = stack.callocFloat(1);
      check(CU.cuEventElapsedTime(millis, first, last), "cuEventElapsedTime");
      return millis.get(0);
    }
  }

  @Override
  public long loadModule(String ptx) {
    ByteBuffer image = MemoryUtil.memASCII(ptx, true);
    try {
      return handle(out -> CU.cuModuleLoadData(out, image), "cuModuleLoadData");
    } finally {
      MemoryUtil.memFree(image);
    }
  }

  @Override
  public void unloadModule(long module) {
    check(CU.cuModuleUnload(module), "cuModuleUnload");
  }

  @Override
  public long function(long module, String name) {
    return handle(out -> CU.cuModuleGetFunction(out, module, name), "cuModuleGetFunction(" + name + ")");
  }

  @Override
  public void launch(long function, int blocks, int threads, long stream, long parameters) {
    check(CU.ncuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, NULL), "cuLaunchKernel");
  }

  private static int device(int ordinal) {
    return number(out -> CU.cuDeviceGet(out, ordinal), "cuDeviceGet(" + ordinal + ")");
  }

  private static int attribute(int device, int attribute) {
    return number(out -> CU.cuDeviceGetAttribute(out, attribute, device), "cuDeviceGetAttribute(" + attribute + ")");
  }

  /** A call that answers an int through a pointer. */
  private static int number(ToIntFunction<IntBuffer> call, String name) {
    try (MemoryStack stack = stackPush()) {
      IntBuffer out = stack.callocInt(1);
      check(call.applyAsInt(out), name);
      return out.get(0);
    }
  }

  /** A call that answers a handle, an address or a size through a pointer. */
  private static long handle(ToIntFunction<PointerBuffer> call, String name) {
    try (MemoryStack stack = stackPush()) {
      PointerBuffer out = stack.callocPointer(1);
      check(call.applyAsInt(out), name);
      return out.get(0);
    }
  }

  private static void check(int code, String call) {
    if (code != CU.CUDA_SUCCESS) throw failure(code, call);
  }

  private static boolean isDone(int code, String call) {
    if (code == CU.CUDA_SUCCESS) return true;
    if (code == CU.CUDA_ERROR_NOT_READY) return false;
    throw failure(code, call);
  }

  private static DeviceException failure(int code, String call) {
    try (MemoryStack stack = stackPush()) {
      PointerBuffer name = stack.callocPointer(1);
      PointerBuffer text = stack.callocPointer(1);
      boolean named = CU.cuGetErrorName(code, name) == CU.CUDA_SUCCESS && name.get(0) != NULL;
      boolean explained = CU.cuGetErrorString(code, text) == CU.CUDA_SUCCESS && text.get(0) != NULL;
      return new DeviceException(call, code, named ? MemoryUtil.memASCII(name.get(0)) : "unknown error",
          explained ? MemoryUtil.memASCII(text.get(0)) : "which the driver does not explain");
    }
  }
}

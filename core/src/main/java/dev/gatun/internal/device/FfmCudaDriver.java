package dev.gatun.internal.device;

import static dev.gatun.internal.device.FfmStatus.check;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.bindings.cuda.CudaC;
import dev.gatun.bindings.cuda.CudaLibrary;
import dev.gatun.bindings.cuda.gatun_cuda_copy_attributes;
import dev.gatun.bindings.cuda.gatun_cuda_ipc_handle;
import dev.gatun.device.CudaDriver;
import dev.gatun.device.DeviceInfo;
import dev.gatun.device.ExportedMemory;
import dev.gatun.device.StreamPriority;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.function.ToIntFunction;

/** The driver through the generated bindings. Longer than other classes since it is the whole list of calls. */
final class FfmCudaDriver implements CudaDriver {
  // with 512 copies and more in a call the driver 580.159.04 loses the context or ends the process (decision 0006)
  private static final int COPIES_A_CALL = 256;
  private static final int NAME_BYTES = 256; // longest product names have some 40 characters
  private static final int PINNED = CudaC.GATUN_CUDA_HOST_PORTABLE() | CudaC.GATUN_CUDA_HOST_MAPPED();

  private final boolean batches = CudaLibrary.supportsBatchCopies();
  private final MemorySegment batchAttributes = Arena.global().allocate(gatun_cuda_copy_attributes.layout()); // process
  private final MemorySegment batchFirst = Arena.global().allocate(JAVA_LONG); // process; 0: holds from the first copy on

  private final MemorySegment batchFailed = Arena.global().allocate(JAVA_LONG); // process; nobody reads it

  FfmCudaDriver() {
    gatun_cuda_copy_attributes.source_order(batchAttributes, CudaC.GATUN_CUDA_SOURCE_ORDER_STREAM());
  }

  @Override
  public String name() {
    return "ffm";
  }

  @Override
  public String version() {
    int version = number(CudaC::cuDriverGetVersion, "cuDriverGetVersion");
    return "CUDA " + version / 1000 + "." + version % 1000 / 10;
  }

  @Override
  public int deviceCount() {
    return number(CudaC::cuDeviceGetCount, "cuDeviceGetCount");
  }

  @Override
  public DeviceInfo describe(int ordinal) {
    int device = device(ordinal);
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment name = call.allocate(NAME_BYTES);
      check(CudaC.cuDeviceGetName(name, NAME_BYTES, device), "cuDeviceGetName");
      MemorySegment uuid = call.allocate(CudaC.GATUN_CUDA_UUID_BYTES());
      check(CudaC.cuDeviceGetUuid_v2(uuid, device), "cuDeviceGetUuid");
      return new DeviceInfo(ordinal, name.getString(0), HexFormat.of().formatHex(uuid.toArray(JAVA_BYTE)),
          attribute(device, CudaC.GATUN_CUDA_ATTRIBUTE_COMPUTE_MAJOR()),
          attribute(device, CudaC.GATUN_CUDA_ATTRIBUTE_COMPUTE_MINOR()),
          attribute(device, CudaC.GATUN_CUDA_ATTRIBUTE_MULTIPROCESSORS()),
          attribute(device, CudaC.GATUN_CUDA_ATTRIBUTE_COPY_ENGINES()),
          handle(out -> CudaC.cuDeviceTotalMem_v2(out, device), "cuDeviceTotalMem"),
          attribute(device, CudaC.GATUN_CUDA_ATTRIBUTE_HOST_POINTER_OF_REGISTERED()) != 0);
    }
  }

  @Override
  public long retainContext(int ordinal) {
    int device = device(ordinal);
    return handle(out -> CudaC.cuDevicePrimaryCtxRetain(out, device), "cuDevicePrimaryCtxRetain");
  }

  @Override
  public void releaseContext(int ordinal) {
    check(CudaC.cuDevicePrimaryCtxRelease_v2(device(ordinal)), "cuDevicePrimaryCtxRelease");
  }

  @Override
  public long currentContext() {
    return handle(CudaC::cuCtxGetCurrent, "cuCtxGetCurrent");
  }

  @Override
  public void pushContext(long context) {
    check(CudaC.cuCtxPushCurrent_v2(context), "cuCtxPushCurrent");
  }

  @Override
  public void popContext() {
    check(CudaC.cuCtxPopCurrent_v2(MemorySegment.NULL), "cuCtxPopCurrent");
  }

  @Override
  public long freeBytes() {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment total = call.allocate(JAVA_LONG);
      return handle(out -> CudaC.cuMemGetInfo_v2(out, total), "cuMemGetInfo");
    }
  }

  @Override
  public long allocate(long bytes) {
    return handle(out -> CudaC.cuMemAlloc_v2(out, bytes), "cuMemAlloc(" + bytes + ")");
  }

  @Override
  public void free(long address) {
    check(CudaC.cuMemFree_v2(address), "cuMemFree");
  }

  @Override
  public void pin(long address, long bytes) {
    int code = CudaC.cuMemHostRegister_v2(address, bytes, PINNED);
    if (code != 0) throw FfmStatus.failure(code, "cuMemHostRegister(" + bytes + ")");
  }

  @Override
  public void unpin(long address) {
    check(CudaC.cuMemHostUnregister(address), "cuMemHostUnregister");
  }

  @Override
  public boolean isDeviceMemory(long address, int ordinal) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment value = call.allocate(JAVA_INT);
      // an address that the driver does not know is an error of the call
      return CudaC.cuPointerGetAttribute(value, CudaC.GATUN_CUDA_POINTER_MEMORY_TYPE(), address) == 0
          && value.get(JAVA_INT, 0) == CudaC.GATUN_CUDA_MEMORY_DEVICE()
          && CudaC.cuPointerGetAttribute(value, CudaC.GATUN_CUDA_POINTER_DEVICE_ORDINAL(), address) == 0
          && value.get(JAVA_INT, 0) == ordinal;
    }
  }

  @Override
  public long bytesFrom(long address) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment bytes = call.allocate(JAVA_LONG);
      long base = handle(out -> CudaC.cuMemGetAddressRange_v2(out, bytes, address), "cuMemGetAddressRange");
      return base + bytes.get(JAVA_LONG, 0) - address;
    }
  }

  @Override
  public ExportedMemory exportMemory(long address) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment bytes = call.allocate(JAVA_LONG);
      long base = handle(out -> CudaC.cuMemGetAddressRange_v2(out, bytes, address), "cuMemGetAddressRange");
      MemorySegment handle = gatun_cuda_ipc_handle.allocate(call);
      check(CudaC.cuIpcGetMemHandle(handle, base), "cuIpcGetMemHandle");
      return new ExportedMemory(HexFormat.of().formatHex(handle.toArray(JAVA_BYTE)), address - base);
    }
  }

  @Override
  public long importMemory(String handle) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment copy = gatun_cuda_ipc_handle.allocate(call)
          .copyFrom(MemorySegment.ofArray(HexFormat.of().parseHex(handle)));
      int flags = CudaC.GATUN_CUDA_IPC_PEER_ACCESS();
      return handle(out -> CudaC.cuIpcOpenMemHandle_v2(out, copy, flags), "cuIpcOpenMemHandle");
    }
  }

  @Override
  public void closeImported(long base) {
    check(CudaC.cuIpcCloseMemHandle(base), "cuIpcCloseMemHandle");
  }

  @Override
  public void copyToDevice(long target, long source, long bytes, long stream) {
    check(CudaC.cuMemcpyHtoDAsync_v2(target, source, bytes, stream), "cuMemcpyHtoDAsync");
  }

  @Override
  public void copyToHost(long target, long source, long bytes, long stream) {
    check(CudaC.cuMemcpyDtoHAsync_v2(target, source, bytes, stream), "cuMemcpyDtoHAsync");
  }

  @Override
  public void copyOnDevice(long target, long source, long bytes, long stream) {
    check(CudaC.cuMemcpyDtoDAsync_v2(target, source, bytes, stream), "cuMemcpyDtoDAsync");
  }

  @Override
  public boolean copiesBatches() {
    return batches;
  }

  @Override
  public void copyBatch(long targets, long sources, long sizes, long count, long stream) {
    if (!batches) throw new UnsupportedOperationException("cuMemcpyBatchAsync needs a driver of CUDA 12.8 or newer");
    for (long done = 0; done < count; done += COPIES_A_CALL) {
      long at = done * Long.BYTES;
      check(CudaC.cuMemcpyBatchAsync(targets + at, sources + at, sizes + at, Math.min(COPIES_A_CALL, count - done),
          batchAttributes.address(), batchFirst.address(), 1, batchFailed.address(), stream), "cuMemcpyBatchAsync");
    }
  }

  @Override
  public void fill(long address, byte value, long bytes, long stream) {
    check(CudaC.cuMemsetD8Async(address, value, bytes, stream), "cuMemsetD8Async");
  }

  @Override
  public long createStream(StreamPriority priority) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment greatest = call.allocate(JAVA_INT);
      int least = number(out -> CudaC.cuCtxGetStreamPriorityRange(out, greatest), "cuCtxGetStreamPriorityRange");
      int wanted = priority == StreamPriority.LOW ? least : greatest.get(JAVA_INT, 0);
      return handle(out -> CudaC.cuStreamCreateWithPriority(out, CudaC.GATUN_CUDA_STREAM_NON_BLOCKING(), wanted),
          "cuStreamCreateWithPriority");
    }
  }

  @Override
  public void destroyStream(long stream) {
    check(CudaC.cuStreamDestroy_v2(stream), "cuStreamDestroy");
  }

  @Override
  public boolean isIdle(long stream) {
    return FfmStatus.isDone(CudaC.cuStreamQuery(stream), "cuStreamQuery");
  }

  @Override
  public void waitFor(long stream, long event) {
    check(CudaC.cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
  }

  @Override
  public long createEvent(boolean timed) {
    int flags = timed ? 0 : CudaC.GATUN_CUDA_EVENT_DISABLE_TIMING();
    return handle(out -> CudaC.cuEventCreate(out, flags), "cuEventCreate");
  }

  @Override
  public void destroyEvent(long event) {
    check(CudaC.cuEventDestroy_v2(event), "cuEventDestroy");
  }

  @Override
  public void record(long event, long stream) {
    check(CudaC.cuEventRecord(event, stream), "cuEventRecord");
  }

  @Override
  public boolean isDone(long event) {
    return FfmStatus.isDone(CudaC.cuEventQuery(event), "cuEventQuery");
  }

  @Override
  public float elapsedMillis(long first, long last) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment millis = call.allocate(JAVA_FLOAT);
      check(CudaC.cuEventElapsedTime(millis, first, last), "cuEventElapsedTime");
      return millis.get(JAVA_FLOAT, 0);
    }
  }

  @Override
  public long loadModule(String ptx) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment image = call.allocateFrom(ptx);
      return handle(out -> CudaC.cuModuleLoadData(out, image), "cuModuleLoadData");
    }
  }

  @Override
  public void unloadModule(long module) {
    check(CudaC.cuModuleUnload(module), "cuModuleUnload");
  }

  @Override
  public long function(long module, String name) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment text = call.allocateFrom(name);
      return handle(out -> CudaC.cuModuleGetFunction(out, module, text), "cuModuleGetFunction(" + name + ")");
    }
  }

  @Override
  public void launch(long function, int blocks, int threads, long stream, long parameters) {
    check(CudaC.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, 0), "cuLaunchKernel");
  }

  private static int device(int ordinal) {
    return number(out -> CudaC.cuDeviceGet(out, ordinal), "cuDeviceGet(" + ordinal + ")");
  }

  private static int attribute(int device, int attribute) {
    return number(out -> CudaC.cuDeviceGetAttribute(out, attribute, device), "cuDeviceGetAttribute(" + attribute + ")");
  }

  /** A call that answers an int through a pointer. */
  private static int number(ToIntFunction<MemorySegment> call, String name) {
    try (Arena arena = Arena.ofConfined()) { // per call
      MemorySegment out = arena.allocate(JAVA_INT);
      check(call.applyAsInt(out), name);
      return out.get(JAVA_INT, 0);
    }
  }

  /** A call that answers a handle, an address or a size through a pointer. */
  private static long handle(ToIntFunction<MemorySegment> call, String name) {
    try (Arena arena = Arena.ofConfined()) { // per call
      MemorySegment out = arena.allocate(JAVA_LONG);
      check(call.applyAsInt(out), name);
      return out.get(JAVA_LONG, 0);
    }
  }
}

package dev.gatun.internal.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.device.CudaDriver;
import dev.gatun.device.DeviceException;
import dev.gatun.device.DeviceInfo;
import dev.gatun.device.ExportedMemory;
import dev.gatun.device.StreamPriority;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Two GPUs made of host memory and threads. They are as strict as real ones: a call without a bound context, an unaligned
 * vector or an address that is neither device nor pinned memory is an error, and streams are in no order but by events.
 */
public final class HostCudaDriver implements CudaDriver {
  private static final int DEVICES = 2; // so that mixing them up shows
  private static final long CAPACITY_BYTES = 1L << 30; // of each; unmeasured default
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  private static final Pattern ENTRY = Pattern.compile("\\.entry\\s+(\\w+)");

  private final HostMemory memory = new HostMemory();
  private final HostKernels kernels = new HostKernels(memory);
  private final Map<Long, Object> handles = new ConcurrentHashMap<>();
  private final AtomicLong lastHandle = new AtomicLong();
  private final ThreadLocal<Deque<Long>> contexts = ThreadLocal.withInitial(ArrayDeque::new);
  private volatile @Nullable DeviceException failure;

  HostCudaDriver() {}

  /** {@return the kernels that modules may name} */
  public HostKernels kernels() {
    return kernels;
  }

  @Override
  public String name() {
    return "host";
  }

  @Override
  public String version() {
    return "host memory, no GPU";
  }

  @Override
  public int deviceCount() {
    return DEVICES;
  }

  @Override
  public DeviceInfo describe(int ordinal) {
    int processors = Runtime.getRuntime().availableProcessors();
    return new DeviceInfo(ordinal, "host memory", String.format(Locale.ROOT, "%032x", ordinal), 0, 0, processors, 1,
        CAPACITY_BYTES, true);
  }

  @Override
  public long retainContext(int ordinal) {
    return ordinal + 1L;
  }

  @Override
  public void releaseContext(int ordinal) {}

  @Override
  public long currentContext() {
    Long bound = contexts.get().peek();
    return bound == null ? 0 : bound;
  }

  @Override
  public void pushContext(long context) {
    contexts.get().push(context);
  }

  @Override
  public void popContext() {
    Deque<Long> stack = contexts.get();
    if (stack.isEmpty()) throw HostError.INVALID_CONTEXT.in("cuCtxPopCurrent");
    stack.pop();
    if (stack.isEmpty()) contexts.remove();
  }

  @Override
  public long freeBytes() {
    return CAPACITY_BYTES - memory.usedBytes(ordinal("cuMemGetInfo"));
  }

  @Override
  public long allocate(long bytes) {
    return memory.allocate(bytes, ordinal("cuMemAlloc"), CAPACITY_BYTES);
  }

  @Override
  public void free(long address) {
    ordinal("cuMemFree");
    memory.free(address);
  }

  @Override
  public void pin(long address, long bytes) {
    ordinal("cuMemHostRegister");
    memory.pin(address, bytes);
  }

  @Override
  public void unpin(long address) {
    ordinal("cuMemHostUnregister");
    memory.unpin(address);
  }

  @Override
  public boolean isDeviceMemory(long address, int ordinal) {
    return memory.isOwnedBy(address, 1, ordinal);
  }

  @Override
  public long bytesFrom(long address) {
    ordinal("cuMemGetAddressRange");
    return memory.bytesFrom(address);
  }

  @Override
  public ExportedMemory exportMemory(long address) {
    ordinal("cuIpcGetMemHandle");
    return memory.exportMemory(address);
  }

  @Override
  public long importMemory(String handle) {
    ordinal("cuIpcOpenMemHandle");
    return memory.importMemory(handle);
  }

  @Override
  public void closeImported(long base) {
    ordinal("cuIpcCloseMemHandle");
    memory.closeImported(base);
  }

  @Override
  public void copyToDevice(long target, long source, long bytes, long stream) {
    queueCopy("cuMemcpyHtoDAsync", target, source, bytes, stream);
  }

  @Override
  public void copyToHost(long target, long source, long bytes, long stream) {
    queueCopy("cuMemcpyDtoHAsync", target, source, bytes, stream);
  }

  @Override
  public void copyOnDevice(long target, long source, long bytes, long stream) {
    queueCopy("cuMemcpyDtoDAsync", target, source, bytes, stream);
  }

  @Override
  public boolean copiesBatches() {
    return true;
  }

  @Override
  public void copyBatch(long targets, long sources, long sizes, long count, long stream) {
    for (long i = 0; i < count; i++) {
      queueCopy("cuMemcpyBatchAsync", entry(targets, i), entry(sources, i), entry(sizes, i), stream);
    }
  }

  @Override
  public void fill(long address, byte value, long bytes, long stream) {
    queue("cuMemsetD8Async", stream, () -> memory.at(address, bytes).fill(value));
  }

  @Override
  public long createStream(StreamPriority priority) {
    ordinal("cuStreamCreateWithPriority");
    return handle(new HostStream(lost -> failure = lost));
  }

  @Override
  public void destroyStream(long stream) {
    ordinal("cuStreamDestroy");
    at(HostStream.class, stream).destroy();
    handles.remove(stream);
  }

  @Override
  public boolean isIdle(long stream) {
    ordinal("cuStreamQuery");
    return at(HostStream.class, stream).isIdle();
  }

  @Override
  public void waitFor(long stream, long event) {
    ordinal("cuStreamWaitEvent");
    at(HostEvent.class, event).holdUp(at(HostStream.class, stream));
  }

  @Override
  public long createEvent(boolean timed) {
    ordinal("cuEventCreate");
    return handle(new HostEvent());
  }

  @Override
  public void destroyEvent(long event) {
    ordinal("cuEventDestroy");
    at(HostEvent.class, event);
    handles.remove(event);
  }

  @Override
  public void record(long event, long stream) {
    ordinal("cuEventRecord");
    at(HostEvent.class, event).record(at(HostStream.class, stream));
  }

  @Override
  public boolean isDone(long event) {
    ordinal("cuEventQuery");
    return at(HostEvent.class, event).isDone();
  }

  @Override
  public float elapsedMillis(long first, long last) {
    ordinal("cuEventElapsedTime");
    return (at(HostEvent.class, last).doneNanos() - at(HostEvent.class, first).doneNanos()) / 1e6f;
  }

  @Override
  public long loadModule(String ptx) {
    ordinal("cuModuleLoadData");
    return handle(ENTRY.matcher(ptx).results().map(entry -> entry.group(1)).collect(Collectors.toSet()));
  }

  @Override
  public void unloadModule(long module) {
    ordinal("cuModuleUnload");
    at(Set.class, module);
    handles.remove(module);
  }

  @Override
  public long function(long module, String name) {
    ordinal("cuModuleGetFunction");
    HostKernels.Kernel kernel = kernels.find(name);
    if (kernel == null || !at(Set.class, module).contains(name)) {
      throw HostError.NOT_FOUND.in("cuModuleGetFunction(" + name + ")");
    }
    return handle(kernel);
  }

  @Override
  public void launch(long function, int blocks, int threads, long stream, long parameters) {
    if (blocks <= 0 || threads <= 0) throw HostError.INVALID_VALUE.in("cuLaunchKernel");
    Runnable work = at(HostKernels.Kernel.class, function)
        .bind(index -> ALL.get(JAVA_LONG, entry(parameters, index)));
    queue("cuLaunchKernel", stream, work);
  }

  private void queueCopy(String call, long target, long source, long bytes, long stream) {
    queue(call, stream, () -> MemorySegment.copy(memory.at(source, bytes), 0, memory.at(target, bytes), 0, bytes));
  }

  private void queue(String call, long stream, Runnable work) {
    ordinal(call);
    at(HostStream.class, stream).queue(() -> memory.touch(work));
  }

  /** The GPU whose context is bound, which lives on only until work failed. */
  private int ordinal(String call) {
    DeviceException lost = failure;
    if (lost != null) throw HostError.ILLEGAL_ADDRESS.in(call + " after " + lost.call());
    long bound = currentContext();
    if (bound == 0) throw HostError.INVALID_CONTEXT.in(call);
    return (int) bound - 1;
  }

  private long handle(Object thing) {
    long handle = lastHandle.incrementAndGet();
    handles.put(handle, thing);
    return handle;
  }

  private <T> T at(Class<T> type, long handle) {
    Object thing = handles.get(handle);
    if (!type.isInstance(thing)) throw HostError.INVALID_HANDLE.in(type.getSimpleName() + ' ' + handle);
    return type.cast(thing);
  }

  private static long entry(long array, long index) {
    return ALL.get(JAVA_LONG, array + index * Long.BYTES);
  }
}

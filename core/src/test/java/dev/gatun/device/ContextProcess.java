package dev.gatun.device;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.gatun.backend.Deadline;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The process of {@link ContextContract}: works on the last GPU, and says on which GPUs it has a context. */
final class ContextProcess {
  private static final int BYTES = 4_096;

  private ContextProcess() {}

  /** Argument: driver. */
  @SuppressWarnings("SystemOut")
  public static void main(String[] arguments) throws Throwable {
    String driver = arguments[0];
    int gpus = CudaDrivers.probe(driver).devices().size();
    System.out.println("looked " + active(gpus));
    try (Device gpu = Device.open(driver, gpus - 1)) {
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        work(gpu, threads);
      }
      try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
        work(gpu, threads);
      }
      KvShape shape = new KvShape(2, 2, 1, 16, 4, 2);
      List<Long> parts = List.of(4_096L, 8_192L, 12_288L, 16_384L);
      StagingMeasurement.of(gpu,
          new PagedKvLayout(shape, KvStrides.tokensFirst(shape), parts, 2, PagedKvLayout.NO_NULL_BLOCK),
          new StagingOptions(1 << 20, 1 << 18, 1 << 20));
      System.out.println("worked " + active(gpus));
    }
    System.out.println("closed " + active(gpus));
  }

  private static void work(Device gpu, ExecutorService threads) throws Exception {
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      all.add(threads.submit(() -> {
        try (Slab slab = Slab.allocate(SlabOptions.of("host", BYTES));
            PinnedSlab host = gpu.pin(slab);
            DeviceSlab memory = gpu.allocate("memory", BYTES);
            DeviceStream stream = gpu.newStream("stream", StreamPriority.LOW)) {
          stream.copy(memory, 0, host, 0, BYTES).copy(host, 0, memory, 0, BYTES)
              .await(Deadline.after(Duration.ofMinutes(1)));
        }
      }));
    }
    for (Future<?> each : all)
      each.get();
  }

  /** Asks the driver, past Gatun. */
  private static List<Boolean> active(int gpus) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup library = SymbolLookup.libraryLookup(System.getProperty("gatun.cuda.library", "libcuda.so.1"),
          arena);
      MethodHandle ask = Linker.nativeLinker().downcallHandle(library.findOrThrow("cuDevicePrimaryCtxGetState"),
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
      List<Boolean> active = new ArrayList<>();
      for (int ordinal = 0; ordinal < gpus; ordinal++) {
        MemorySegment flags = arena.allocate(JAVA_INT);
        MemorySegment answer = arena.allocate(JAVA_INT);
        int code = (int) ask.invokeExact(ordinal, flags, answer);
        if (code != 0) throw new IllegalStateException("cuDevicePrimaryCtxGetState: " + code);
        active.add(answer.get(JAVA_INT, 0) != 0);
      }
      return active;
    }
  }
}

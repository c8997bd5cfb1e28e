package dev.gatun.bench;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gatun.device.CudaDriver;
import dev.gatun.device.CudaDriverProvider;
import dev.gatun.device.PageCopy;
import dev.gatun.device.SlabShare;
import dev.gatun.device.StreamPriority;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.ServiceLoader;

/**
 * The push kernel launched directly through the driver, its tables uploaded beforehand: the time that the same pages take with
 * nothing of Gatun around it. What it pushes is not checked. One thread.
 */
final class RawPush implements AutoCloseable {
  private static final int THREADS = 256; // as PagePush
  private static final int LOADS_IN_FLIGHT = 8; // IN_FLIGHT of native/kernels/pages.cu
  private static final long VECTOR_BYTES = 16;
  private static final int PARAMETERS = 6;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment parameters = arena.allocate(JAVA_LONG, PARAMETERS);
  private final CudaDriver driver;
  private final int ordinal;
  private final long context;
  private final long vectors;
  private final Slab table;
  private final long module;
  private final long function;
  private final long stream;
  private final long first;
  private final long last;
  private final long source;
  private final long target;
  private final long tables;

  /**
   * Prepares everything.
   *
   * @param name of the driver
   * @param ordinal of the GPU that pushes
   * @param share of the cache that is pushed to
   * @param places fragments of a block
   * @param tensorBytes from one place to the next, in both caches
   * @param fragmentBytes a multiple of 16, and from one block to the next
   * @param from blocks
   * @param to as many
   */
  RawPush(String name, int ordinal, SlabShare share, int places, long tensorBytes, long fragmentBytes,
      List<Integer> from, List<Integer> to) throws IOException {
    driver = ServiceLoader.load(CudaDriverProvider.class).stream().map(ServiceLoader.Provider::get)
        .filter(provider -> provider.name().equals(name)).findFirst().orElseThrow().open();
    this.ordinal = ordinal;
    vectors = (long) places * from.size() * (fragmentBytes / VECTOR_BYTES);
    context = driver.retainContext(ordinal);
    table = Slab.allocate(SlabOptions.of("raw tables", 2L * (places + from.size()) * Long.BYTES));
    driver.pushContext(context);
    try {
      module = driver.loadModule(ptx());
      function = driver.function(module, "gatun_push_16");
      stream = driver.createStream(StreamPriority.LOW);
      first = driver.createEvent(true);
      last = driver.createEvent(true);
      source = driver.allocate(share.bytes());
      target = driver.importMemory(share.handle());
      tables = driver.allocate(table.byteSize());
      driver.pin(table.segment().address(), table.byteSize());
    } finally {
      driver.popContext();
    }
    fill(share.offset(), places, tensorBytes, fragmentBytes, from, to);
  }

  private static String ptx() throws IOException {
    try (InputStream in = PageCopy.class.getResourceAsStream("pages.ptx")) {
      if (in == null) throw new IllegalStateException("pages.ptx is not in the jar");
      return new String(in.readAllBytes(), US_ASCII);
    }
  }

  private void fill(long offset, int places, long tensorBytes, long fragmentBytes, List<Integer> from,
      List<Integer> to) {
    MemorySegment host = table.segment();
    for (int place = 0; place < places; place++) {
      host.setAtIndex(JAVA_LONG, place, source + place * tensorBytes);
      host.setAtIndex(JAVA_LONG, places + place, target + offset + place * tensorBytes);
    }
    for (int i = 0; i < from.size(); i++) {
      host.setAtIndex(JAVA_LONG, 2L * places + 2L * i, from.get(i) * fragmentBytes);
      host.setAtIndex(JAVA_LONG, 2L * places + 2L * i + 1, to.get(i) * fragmentBytes);
    }
    long[] values = {tables, tables + (long) places * Long.BYTES, tables + 2L * places * Long.BYTES, places,
        from.size(),
        fragmentBytes};
    MemorySegment copies = arena.allocateFrom(JAVA_LONG, values);
    for (int i = 0; i < PARAMETERS; i++)
      parameters.setAtIndex(JAVA_LONG, i, copies.address() + (long) i * Long.BYTES);
    driver.pushContext(context);
    try {
      driver.copyToDevice(tables, host.address(), table.byteSize(), stream);
      driver.record(last, stream);
    } finally {
      driver.popContext();
    }
    awaitLast();
  }

  /** Pushes all blocks once. {@return milliseconds that the kernel took, by the GPU's clock} */
  double millis(int gridMax) {
    int grid = Math.clamp(Math.ceilDiv(vectors, (long) THREADS * LOADS_IN_FLIGHT), 1, gridMax);
    driver.pushContext(context);
    try {
      driver.record(first, stream);
      driver.launch(function, grid, THREADS, stream, parameters.address());
      driver.record(last, stream);
    } finally {
      driver.popContext();
    }
    awaitLast();
    driver.pushContext(context);
    try {
      return driver.elapsedMillis(first, last);
    } finally {
      driver.popContext();
    }
  }

  private void awaitLast() {
    boolean done = false;
    while (!done) {
      driver.pushContext(context);
      try {
        done = driver.isDone(last);
      } finally {
        driver.popContext();
      }
    }
  }

  @Override
  public void close() {
    driver.pushContext(context);
    try {
      driver.unpin(table.segment().address());
      driver.free(tables);
      driver.free(source);
      driver.closeImported(target);
      driver.destroyEvent(first);
      driver.destroyEvent(last);
      driver.destroyStream(stream);
      driver.unloadModule(module);
    } finally {
      driver.popContext();
    }
    driver.releaseContext(ordinal);
    table.close();
    arena.close();
  }
}

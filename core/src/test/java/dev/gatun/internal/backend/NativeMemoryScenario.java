package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.sun.management.ThreadMXBean;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Main class of a process that counts what calls allocate: on the Java heap, and natively as the JVM tracks it ("Other"
 * holds memory of FFM arenas; needs {@code -XX:NativeMemoryTracking=summary}).
 */
final class NativeMemoryScenario {
  private static final int WARM_UP = 20_000;
  private static final int CALLS = 100_000;
  private static final Pattern OTHER = Pattern.compile("Other \\(reserved=(\\d+)");

  private NativeMemoryScenario() {}

  public static void main(String[] arguments) throws JMException {
    try (StoreBackend store = new LoopbackBackendProvider().open(StoreOptions.loopback("memory", 64L << 20));
        Arena arena = Arena.ofConfined()) { // process
      Calls calls = new Calls(store, arena);
      calls.run(WARM_UP);
      long nativeBefore = nativeBytes();
      long heapBefore = heapBytes();
      calls.run(CALLS);
      long heap = heapBytes() - heapBefore;
      long grown = nativeBytes() - nativeBefore;
      System.out.println("native bytes grown " + grown);
      System.out.println("heap bytes per call " + heap / CALLS);
    }
  }

  /** One put, get, exists and batch of each a round, with arguments made once. */
  private static final class Calls {
    private final StoreBackend store;
    private final MemorySegment key;
    private final MemorySegment page;
    private final MemorySegment config;
    private final MemorySegment keys;
    private final MemorySegment pages;
    private final MemorySegment sizes;
    private final MemorySegment results;

    Calls(StoreBackend store, Arena arena) {
      this.store = store;
      key = arena.allocateFrom("key");
      page = arena.allocate(4096, 64);
      config = store.encodeReplicate(ReplicateOptions.DEFAULT, arena);
      keys = arena.allocate(ADDRESS);
      keys.set(ADDRESS, 0, key);
      pages = arena.allocate(ADDRESS);
      pages.set(ADDRESS, 0, page);
      sizes = arena.allocateFrom(JAVA_LONG, 4096L);
      results = arena.allocate(JAVA_LONG);
    }

    void run(int rounds) {
      for (int i = 0; i < rounds; i++) {
        long sum = store.put(key, page, 4096, config) + store.get(key, page, 4096) - 4096;
        sum += store.batchPut(keys, pages, sizes, 1, config, results) + store.batchGet(keys, pages, sizes, 1, results);
        sum += store.exists(key) - 1 + store.batchExists(keys, 1, results) + store.remove(key, true);
        if (sum != 0) throw new IllegalStateException("round " + i + ": " + sum);
      }
    }
  }

  private static long heapBytes() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
  }

  private static long nativeBytes() throws JMException {
    Object report = ManagementFactory.getPlatformMBeanServer().invoke(
        new ObjectName("com.sun.management:type=DiagnosticCommand"), "vmNativeMemory",
        new Object[]{new String[]{"summary", "scale=b"}}, new String[]{String[].class.getName()});
    Matcher other = OTHER.matcher(report.toString());
    if (!other.find()) throw new IllegalStateException("native memory is not tracked:\n" + report);
    return Long.parseLong(other.group(1));
  }
}

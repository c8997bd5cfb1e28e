package dev.gatun.internal.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.device.KnownPages;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/** What the kernels of {@code native/kernels} do, in Java, by their names. */
public final class HostKernels {
  /** One kernel. */
  @FunctionalInterface
  public interface Kernel {
    /**
     * {@return the work of one launch}
     *
     * @param parameters by index; to be read now
     */
    Runnable bind(IntToLongFunction parameters);
  }

  private static final long HEADER_BYTES = (long) KnownPages.HEADER_WORDS * Long.BYTES;

  private final HostMemory memory;
  private final Map<String, Kernel> kernels = new ConcurrentHashMap<>();

  HostKernels(HostMemory memory) {
    this.memory = memory;
    for (int width : new int[]{16, 8, 4, 1}) {
      long vector = width;
      define("gatun_gather_" + width, parameters -> pages(parameters, vector, true, false));
      define("gatun_scatter_" + width, parameters -> pages(parameters, vector, false, true));
      define("gatun_move_" + width, parameters -> pages(parameters, vector, true, true));
      define("gatun_push_" + width, parameters -> push(parameters, vector));
    }
    define("gatun_known_fill", parameters -> known(parameters, 0));
    define("gatun_known_check", parameters -> known(parameters, parameters.applyAsLong(5)));
  }

  /**
   * Adds a kernel, for modules whose text has an entry of that name.
   *
   * @param name of the entry
   * @param kernel what it does
   */
  public void define(String name, Kernel kernel) {
    kernels.put(name, kernel);
  }

  @Nullable
  Kernel find(String name) {
    return kernels.get(name);
  }

  private Runnable pages(IntToLongFunction parameters, long vector, boolean fromTable, boolean toTable) {
    long source = parameters.applyAsLong(0);
    long target = parameters.applyAsLong(1);
    long fragments = parameters.applyAsLong(2);
    long bytes = parameters.applyAsLong(3);
    return () -> {
      for (long i = 0; i < fragments; i++) {
        long from = fromTable ? entry(source, i) : source + i * bytes;
        long to = toTable ? entry(target, i) : target + i * bytes;
        requireAligned(from | to | bytes, vector);
        MemorySegment.copy(memory.at(from, bytes), 0, memory.at(to, bytes), 0, bytes);
      }
    };
  }

  private Runnable push(IntToLongFunction parameters, long vector) {
    long sources = parameters.applyAsLong(0);
    long targets = parameters.applyAsLong(1);
    long offsets = parameters.applyAsLong(2);
    long places = parameters.applyAsLong(3);
    long blocks = parameters.applyAsLong(4);
    long bytes = parameters.applyAsLong(5);
    return () -> {
      for (long i = 0; i < places * blocks; i++) {
        long from = entry(sources, i % places) + entry(offsets, 2 * (i / places));
        long to = entry(targets, i % places) + entry(offsets, 2 * (i / places) + 1);
        requireAligned(from | to | bytes, vector);
        MemorySegment.copy(memory.at(from, bytes), 0, memory.at(to, bytes), 0, bytes);
      }
    };
  }

  private Runnable known(IntToLongFunction parameters, long found) {
    long table = parameters.applyAsLong(0);
    long headers = parameters.applyAsLong(1);
    long fragments = parameters.applyAsLong(2);
    long count = parameters.applyAsLong(3);
    long bytes = parameters.applyAsLong(4);
    return () -> {
      for (long page = 0; page < count; page++) {
        MemorySegment header = memory.at(headers + page * HEADER_BYTES, HEADER_BYTES);
        MemorySegment verdict = found == 0
            ? MemorySegment.NULL
            : memory.at(found + page * (HEADER_BYTES + Long.BYTES), HEADER_BYTES + Long.BYTES);
        for (long fragment = 0; fragment < fragments; fragment++) {
          long place = entry(table, page * fragments + fragment);
          requireAligned(place | bytes, Long.BYTES);
          known(memory.at(place, bytes), fragment * (bytes / Long.BYTES), header, verdict);
        }
      }
    };
  }

  /** Makes, or with a verdict compares, the words of a fragment that begins at word {@code first} of its page. */
  private static void known(MemorySegment fragment, long first, MemorySegment header, MemorySegment verdict) {
    for (long i = 0; i < fragment.byteSize() / Long.BYTES; i++) {
      long word = first + i;
      boolean inHeader = word < KnownPages.HEADER_WORDS;
      long expected = inHeader ? header.getAtIndex(JAVA_LONG, word) : KnownPages.word(header.get(JAVA_LONG, 0), word);
      if (verdict.byteSize() == 0) {
        fragment.setAtIndex(JAVA_LONG, i, expected);
        continue;
      }
      long value = fragment.getAtIndex(JAVA_LONG, i);
      if (inHeader) verdict.setAtIndex(JAVA_LONG, 1 + word, value);
      if (value != expected) verdict.setAtIndex(JAVA_LONG, 0, 1);
    }
  }

  private long entry(long table, long index) {
    return memory.at(table + index * Long.BYTES, Long.BYTES).get(JAVA_LONG, 0);
  }

  /** A GPU faults on a vector that is not aligned to its own size. */
  private static void requireAligned(long bits, long vector) {
    if ((bits & (vector - 1)) != 0) throw HostError.ILLEGAL_ADDRESS.in("access to a vector of " + vector + " bytes");
  }
}

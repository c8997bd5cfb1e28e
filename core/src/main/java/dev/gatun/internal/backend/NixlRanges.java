package dev.gatun.internal.backend;

import dev.gatun.backend.MemoryRange;
import dev.gatun.bindings.nixl.NixlC;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Registered ranges of one side, looked into for every request; the kind of memory and the device are NIXL's. Immutable. */
final class NixlRanges {
  static final NixlRanges NONE = new NixlRanges(List.of());

  private static final Pattern HOST = Pattern.compile("\\*|cpu(:\\d{1,9})?");
  private static final Pattern CUDA = Pattern.compile("cuda:(\\d{1,9})");

  private final MemoryRange[] ranges;
  private final int[] kinds;
  private final long[] devices;

  private NixlRanges(List<MemoryRange> sorted) {
    ranges = sorted.toArray(MemoryRange[]::new);
    kinds = new int[ranges.length];
    devices = new long[ranges.length];
    for (int i = 0; i < ranges.length; i++) {
      kinds[i] = kind(ranges[i].location());
      devices[i] = device(ranges[i].location());
    }
  }

  /** {@return the ranges by address} */
  static NixlRanges of(Collection<MemoryRange> ranges) {
    return new NixlRanges(ranges.stream().sorted((a, b) -> Long.compareUnsigned(a.address(), b.address())).toList());
  }

  /**
   * {@return the kind of memory at a location: {@code *} and {@code cpu:N} are the host's, {@code cuda:N} is that of GPU N}
   *
   * @throws IllegalArgumentException if NIXL has no such place
   */
  static int kind(String location) {
    if (HOST.matcher(location).matches()) return NixlC.NIXL_CAPI_MEM_DRAM();
    if (CUDA.matcher(location).matches()) return NixlC.NIXL_CAPI_MEM_VRAM();
    throw new IllegalArgumentException("location must be *, cpu:N or cuda:N for engine nixl: \"" + location + '"');
  }

  /** {@return the device of a location: the GPU's ordinal, 0 for the host, whose nodes NIXL does not tell apart} */
  static long device(String location) {
    Matcher cuda = CUDA.matcher(location);
    return cuda.matches() ? Long.parseLong(cuda.group(1)) : 0;
  }

  /** {@return whether there are none} */
  boolean isEmpty() {
    return ranges.length == 0;
  }

  /** {@return the place of the range that holds all these bytes, negative if none does} */
  int find(long address, long bytes) {
    return find(address, bytes, 0);
  }

  /** As {@link #find(long, long)}, looking first at a place that is likely: rows of a batch mostly lie in one range. */
  int find(long address, long bytes, int likely) {
    if (likely >= 0 && likely < ranges.length && ranges[likely].contains(address, bytes)) return likely;
    int low = 0;
    int high = ranges.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      MemoryRange range = ranges[middle];
      if (Long.compareUnsigned(address, range.address()) < 0) high = middle - 1;
      else if (Long.compareUnsigned(address - range.address(), range.bytes()) >= 0) low = middle + 1;
      else
        return range.contains(address, bytes) ? middle : -1;
    }
    return -1;
  }

  /** {@return whether every range is also, unchanged, one of the others} */
  boolean isPartOf(NixlRanges others) {
    return List.of(others.ranges).containsAll(List.of(ranges));
  }

  int kind(int index) {
    return kinds[index];
  }

  long device(int index) {
    return devices[index];
  }
}

package dev.gatun.cli.replay;

import java.util.Arrays;
import org.agrona.collections.Long2LongHashMap;

/** Numbers distinct {@code long} values 0, 1, 2 … in order of arrival. One thread. */
final class LongIndex {
  private static final long NONE = -1;

  private final Long2LongHashMap numbers = new Long2LongHashMap(NONE);
  private long[] values = new long[512];

  /** {@return the number of a value, which is given one if it is new} */
  int numberOf(long value) {
    long known = numbers.get(value);
    if (known != NONE) return (int) known;
    int next = size();
    if (next == values.length) values = Arrays.copyOf(values, next * 2);
    values[next] = value;
    numbers.put(value, next);
    return next;
  }

  int size() {
    return numbers.size();
  }

  /** {@return the values by number} */
  long[] values() {
    return Arrays.copyOf(values, size());
  }
}

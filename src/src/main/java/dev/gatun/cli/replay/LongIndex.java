package dev.gatun.cli.replay;

import java.util.Arrays;

/** Numbers distinct {@code long} values 0, 1, 2 … in order of arrival. One thread. */
final class LongIndex {
  private static final int EMPTY = -1;

  // Capacity is a power of two, kept at most half full so that probing stays short.
  private int[] slots = new int[1024];
  private long[] values = new long[512];
  private int size;

  LongIndex() {
    Arrays.fill(slots, EMPTY);
  }

  /** {@return the number of a value, which is given one if it is new} */
  int numberOf(long value) {
    int slot = slotOf(value);
    if (slots[slot] != EMPTY) return slots[slot];
    if (size == values.length) {
      grow();
      slot = slotOf(value);
    }
    values[size] = value;
    slots[slot] = size;
    return size++;
  }

  int size() {
    return size;
  }

  /** {@return the values by number} */
  long[] values() {
    return Arrays.copyOf(values, size);
  }

  private int slotOf(long value) {
    int mask = slots.length - 1;
    int slot = (int) (Mix.mix(value) & mask);
    while (slots[slot] != EMPTY && values[slots[slot]] != value)
      slot = (slot + 1) & mask;
    return slot;
  }

  private void grow() {
    values = Arrays.copyOf(values, size * 2);
    slots = new int[slots.length * 2];
    Arrays.fill(slots, EMPTY);
    for (int number = 0; number < size; number++)
      slots[slotOf(values[number])] = number;
  }
}

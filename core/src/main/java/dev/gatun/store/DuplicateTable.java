package dev.gatun.store;

import java.util.Arrays;

/**
 * Finds a key that is in a batch already: open addressing over preallocated slots, each the round it was written in and
 * an index. A new round empties it without touching the slots.
 */
final class DuplicateTable {
  static final int NONE = -1;

  private final long[] slots;
  private final int mask;
  private int round;

  DuplicateTable(int capacity) {
    this(capacity, 1);
  }

  /** Begins with another round than 1, so that a test reaches the wrap. */
  DuplicateTable(int capacity, int firstRound) {
    round = firstRound;
    // half empty at most, so that probes stay short
    slots = new long[Integer.highestOneBit(Math.max(1, capacity)) * 4];
    mask = slots.length - 1;
  }

  void clear() {
    round++;
    if (round == 0) {
      Arrays.fill(slots, 0);
      round = 1;
    }
  }

  /** Enters {@code keys[index]}. {@return the index of an equal key entered before, or {@link #NONE}} */
  int enter(KvKey[] keys, int index) {
    KvKey key = keys[index];
    for (int at = (int) key.hash() & mask;; at = (at + 1) & mask) {
      long slot = slots[at];
      if ((int) (slot >>> 32) != round) {
        slots[at] = (long) round << 32 | index;
        return NONE;
      }
      if (key.equals(keys[(int) slot])) return (int) slot;
    }
  }
}

package dev.gatun.store;

import java.util.Arrays;

/**
 * Finds a key that is in a batch already: open addressing over preallocated slots, each the round it was written in and
 * an index. A new round empties it without touching the slots.
 */
final class DuplicateTable {
  static final int NONE = -1;

  // at most an eighth full: a probe that meets another key is a mispredicted branch, and with half full those made up a
  // fifth of what adding an entry costs
  private static final int SLOTS_PER_ENTRY = 16;
  private static final int INDEX_BITS = Integer.numberOfTrailingZeros(StoreBatch.CAPACITY_MAX);
  private static final int INDEX = (1 << INDEX_BITS) - 1;
  private static final int ROUND_MAX = -1 >>> INDEX_BITS;

  private final int[] slots;
  private final int mask;
  private int round = 1;

  DuplicateTable(int capacity) {
    slots = new int[Integer.highestOneBit(Math.max(1, capacity)) * SLOTS_PER_ENTRY];
    mask = slots.length - 1;
  }

  void clear() {
    round++;
    if (round > ROUND_MAX) {
      Arrays.fill(slots, 0);
      round = 1;
    }
  }

  /** Enters {@code keys[index]}. {@return the index of an equal key entered before, or {@link #NONE}} */
  int enter(KvKey[] keys, int index) {
    int at = (int) keys[index].hash() & mask;
    if (slots[at] >>> INDEX_BITS == round) return probe(keys, index, at);
    slots[at] = round << INDEX_BITS | index;
    return NONE;
  }

  private int probe(KvKey[] keys, int index, int from) {
    KvKey key = keys[index];
    for (int at = from;; at = (at + 1) & mask) {
      int slot = slots[at];
      if (slot >>> INDEX_BITS != round) {
        slots[at] = round << INDEX_BITS | index;
        return NONE;
      }
      if (key.equals(keys[slot & INDEX])) return slot & INDEX;
    }
  }
}

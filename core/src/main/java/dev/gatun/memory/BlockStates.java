package dev.gatun.memory;

import java.util.concurrent.atomic.AtomicLongArray;

/** The state words of a pool. What the bits mean stands in {@link BlockWord}. */
final class BlockStates {
  // Up to this many blocks each word has 128 bytes to itself, so that threads working on neighbours do not share a
  // cache line: 512 KiB at most. Larger pools pack them; there neighbours are handed to one thread 64 at a time.
  private static final int SPREAD_MAX = 4096;
  private static final int SPREAD_SHIFT = 4;

  private final AtomicLongArray words;
  private final int count;
  private final int shift;

  /** All blocks begin with the same word. */
  BlockStates(int count, long first) {
    this.count = count;
    shift = count <= SPREAD_MAX ? SPREAD_SHIFT : 0;
    words = new AtomicLongArray(count << shift);
    for (int i = 0; first != 0 && i < count; i++)
      words.setPlain(i << shift, first);
  }

  int count() {
    return count;
  }

  long get(int index) {
    return words.get(index << shift);
  }

  boolean replace(int index, long expected, long next) {
    return words.compareAndSet(index << shift, expected, next);
  }

  /** Leases the block if it is free, and returns its handle but for the pool's part; 0 if it is not free. */
  long claim(int index, long leasedBits) {
    long word = get(index);
    return BlockWord.isFree(word) && replace(index, word, word | leasedBits) ? BlockWord.handle(word, 0, index) : 0;
  }
}

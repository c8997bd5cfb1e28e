package dev.gatun.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Where to look for a free block. Whether a block is free is said by its state word alone; what stands here are hints,
 * and a block is taken by changing its word. So a hint may be stale or doubled, but every free block has one.
 *
 * <p>Hints live in two places. A platform thread owns a cache, a small stack that only it writes, without atomic
 * operations; others may read it to steal. What does not fit there, and what threads without a cache release, is a bit
 * in a shared bitmap. Taking looks in the own cache, then refills it from the bitmap, then in everybody's cache, and
 * gives up only after a whole round during which nobody released a block.
 *
 * <p>Two rules keep every free block hinted: a hint is copied to its new place before it is removed from the old one,
 * and it is dropped only by someone who saw, after removing it, that the block was taken: whoever has it will hint again.
 */
final class FreeBlocks {
  private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);
  private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

  // Layout of a cache, an int array: three groups on cache lines of their own, with 128 bytes before and after
  private static final int TOP = 32;
  private static final int RELEASES = 33;
  private static final int CURSOR = 34;
  private static final int FIRST = 36;
  private static final int CAPACITY = 64; // one bitmap word refills it
  private static final int SHARED_RELEASES = FIRST + CAPACITY + 32;
  private static final int LENGTH = SHARED_RELEASES + 32;

  private final BlockStates states;
  private final long[] bits;
  private final CacheOwners owners = new CacheOwners();
  private final int[][] caches = new int[CacheOwners.COUNT][LENGTH];

  FreeBlocks(BlockStates states) {
    this.states = states;
    int count = states.count();
    bits = new long[Math.ceilDiv(count, Long.SIZE)];
    Arrays.fill(bits, -1L);
    if (count % Long.SIZE != 0) bits[bits.length - 1] = (1L << count) - 1;
    // where each cache begins to look in the bitmap: spread evenly, so that threads do not meet
    for (int i = 0; i < caches.length; i++)
      caches[i][CURSOR] = (int) ((long) bits.length * i / caches.length);
  }

  /**
   * Leases a free block.
   *
   * @param leasedBits what to add to its word
   * @return its index, -1 if none is free
   */
  int take(long leasedBits) {
    int own = owners.own();
    if (own < 0) return takeElsewhere(caches[~own], leasedBits);
    int[] cache = caches[own];
    int index = pop(cache, leasedBits);
    if (index >= 0) return index;
    while (refill(cache)) {
      index = pop(cache, leasedBits);
      if (index >= 0) return index;
    }
    return takeElsewhere(cache, leasedBits);
  }

  /** Hints a block that has just become free. */
  void put(int index) {
    int own = owners.own();
    if (own < 0) {
      setBit(index);
      INTS.getAndAdd(caches[~own], SHARED_RELEASES, 1);
      return;
    }
    int[] cache = caches[own];
    int top = cache[TOP];
    if (top == CAPACITY) top = spill(cache);
    cache[FIRST + top] = index;
    INTS.setRelease(cache, TOP, top + 1);
    INTS.setRelease(cache, RELEASES, cache[RELEASES] + 1);
  }

  private int pop(int[] cache, long leasedBits) {
    int top = cache[TOP];
    while (top > 0) {
      int index = cache[FIRST + --top];
      INTS.setRelease(cache, TOP, top);
      if (states.claim(index, leasedBits)) return index;
    }
    return -1;
  }

  /** Copies one bitmap word into the empty cache, then clears it. False if the bitmap is empty. */
  private boolean refill(int[] cache) {
    int at = cache[CURSOR];
    for (int n = 0; n < bits.length; n++) {
      if (at >= bits.length) at = 0;
      long word = (long) LONGS.getVolatile(bits, at);
      if (word != 0) {
        int top = 0;
        for (long rest = word; rest != 0; rest &= rest - 1) {
          cache[FIRST + top++] = at * Long.SIZE + Long.numberOfTrailingZeros(rest);
        }
        INTS.setRelease(cache, TOP, top);
        LONGS.getAndBitwiseAnd(bits, at, ~word);
        cache[CURSOR] = at;
        return true;
      }
      at++;
    }
    return false;
  }

  /** Moves the older half of a full cache to the bitmap, and returns the new top. */
  private int spill(int[] cache) {
    int half = CAPACITY / 2;
    for (int i = 0; i < half; i++)
      setBit(cache[FIRST + i]);
    System.arraycopy(cache, FIRST + half, cache, FIRST, half);
    INTS.setRelease(cache, TOP, half);
    return half;
  }

  private int takeElsewhere(int[] cache, long leasedBits) {
    while (true) {
      int before = releases();
      int index = takeFromBitmap(cache, leasedBits);
      if (index < 0) index = steal(leasedBits);
      if (index >= 0 || releases() == before) return index;
    }
  }

  private int takeFromBitmap(int[] cache, long leasedBits) {
    int at = (int) INTS.getOpaque(cache, CURSOR);
    for (int n = 0; n < bits.length; n++) {
      if (at >= bits.length) at = 0;
      for (long word = (long) LONGS.getVolatile(bits, at); word != 0; word = (long) LONGS.getVolatile(bits, at)) {
        long bit = Long.lowestOneBit(word);
        if (((long) LONGS.getAndBitwiseAnd(bits, at, ~bit) & bit) == 0) continue;
        int index = at * Long.SIZE + Long.numberOfTrailingZeros(bit);
        if (states.claim(index, leasedBits)) return index;
      }
      at++;
    }
    return -1;
  }

  private int steal(long leasedBits) {
    for (int i = 0; i < caches.length; i++) {
      int[] victim = caches[i];
      int top = (int) INTS.getAcquire(victim, TOP);
      for (int k = 0; k < top; k++) {
        int index = (int) INTS.getOpaque(victim, FIRST + k);
        if (states.claim(index, leasedBits)) return index;
      }
    }
    return -1;
  }

  private void setBit(int index) {
    LONGS.getAndBitwiseOr(bits, index / Long.SIZE, 1L << index);
  }

  private int releases() {
    int sum = 0;
    for (int[] cache : caches) {
      sum += (int) INTS.getAcquire(cache, RELEASES) + (int) INTS.getAcquire(cache, SHARED_RELEASES);
    }
    return sum;
  }
}

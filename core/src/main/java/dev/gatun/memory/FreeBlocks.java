package dev.gatun.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/**
 * Where to look for a free block. Whether a block is free is said by its state word alone; what stands here are hints,
 * and a block is taken by changing its word. So a hint may be stale or doubled, but every free block has one.
 *
 * <p>Hints live in two places. A platform thread owns a cache, a small stack that only it writes, without atomic
 * operations; others may read it to steal. What does not fit there, and what threads without a cache release, is a bit
 * in a shared bitmap. Taking looks in the own cache, then refills it from the bitmap, then in everybody's cache, and
 * gives up only after a whole round during which nobody released a block.
 *
 * <p>A free block has a hint at every moment: one is copied to its new place before it is removed from the old one, and
 * dropped only once its block was seen taken, so that whoever has it will hint it again.
 */
final class FreeBlocks {
  private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);
  private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

  // Layout of a cache, an int array: 128 bytes before and after, so that neighbours in memory share no cache line
  private static final int TOP = 32;
  private static final int RELEASES = 33;
  private static final int CURSOR = 34; // where in the bitmap to look next, plus 1; 0 at first
  private static final int FIRST = 36;
  private static final int CAPACITY = 64; // one bitmap word refills it
  private static final int LENGTH = FIRST + CAPACITY + 32;

  private final BlockStates states;
  private final long[] bits;
  private final ThreadCaches caches = new ThreadCaches(LENGTH);
  private final LongAdder sharedReleases = new LongAdder();

  FreeBlocks(BlockStates states) {
    this.states = states;
    int count = states.count();
    bits = new long[Math.ceilDiv(count, Long.SIZE)];
    Arrays.fill(bits, -1L);
    if (count % Long.SIZE != 0) bits[bits.length - 1] = (1L << count) - 1;
  }

  /**
   * Leases a free block.
   *
   * @param leasedBits what to add to its word
   * @return its handle but for the pool's part, 0 if none is free
   */
  long take(long leasedBits) {
    int[] cache = caches.own();
    if (cache != null) {
      do {
        long block = pop(cache, leasedBits);
        if (block != 0) return block;
      } while (refill(cache));
    }
    return takeElsewhere(leasedBits);
  }

  /**
   * Makes a block free and hints it.
   *
   * @param word what its word must be now
   * @param freed what its word is to become
   * @return false if the word has changed, and nothing was done
   */
  boolean give(int index, long word, long freed) {
    // looked up before the word is changed: a processor does not begin these loads until that is done
    int[] cache = caches.own();
    if (cache == null) return giveShared(index, word, freed);
    int top = cache[TOP];
    int releases = cache[RELEASES];
    if (!states.replace(index, word, freed)) return false;
    if (top == CAPACITY) {
      top = spill(cache);
      releases = cache[RELEASES];
    }
    cache[FIRST + top] = index;
    INTS.setRelease(cache, TOP, top + 1);
    INTS.setRelease(cache, RELEASES, releases + 1);
    return true;
  }

  private boolean giveShared(int index, long word, long freed) {
    if (!states.replace(index, word, freed)) return false;
    setBit(index);
    sharedReleases.increment();
    return true;
  }

  private long pop(int[] cache, long leasedBits) {
    int top = cache[TOP];
    while (top > 0) {
      int index = cache[FIRST + --top];
      long block = states.claim(index, leasedBits);
      INTS.setRelease(cache, TOP, top);
      if (block != 0) return block;
    }
    return 0;
  }

  /** Copies one bitmap word into the empty cache, then clears it. False if the bitmap is empty. */
  private boolean refill(int[] cache) {
    int at = cache[CURSOR] == 0 ? firstLook() : cache[CURSOR] - 1;
    for (int n = 0; n < bits.length; n++) {
      if (at >= bits.length) at = 0;
      long word = bitsAt(at);
      if (word != 0) {
        int top = 0;
        for (long rest = word; rest != 0; rest &= rest - 1) {
          cache[FIRST + top++] = at * Long.SIZE + Long.numberOfTrailingZeros(rest);
        }
        INTS.setRelease(cache, TOP, top);
        LONGS.getAndBitwiseAnd(bits, at, ~word);
        cache[CURSOR] = at + 1;
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
    // counts as a release: whoever has looked at the bitmap already must look again
    INTS.setRelease(cache, RELEASES, cache[RELEASES] + 1);
    INTS.setRelease(cache, TOP, half);
    return half;
  }

  private long takeElsewhere(long leasedBits) {
    while (true) {
      long before = releases();
      long block = takeFromBitmap(leasedBits);
      if (block == 0) block = steal(leasedBits);
      if (block != 0 || releases() == before) return block;
    }
  }

  private long takeFromBitmap(long leasedBits) {
    int at = firstLook();
    for (int n = 0; n < bits.length; n++) {
      if (at >= bits.length) at = 0;
      for (long word = bitsAt(at); word != 0; word = bitsAt(at)) {
        long bit = Long.lowestOneBit(word);
        int index = at * Long.SIZE + Long.numberOfTrailingZeros(bit);
        long block = states.claim(index, leasedBits);
        LONGS.getAndBitwiseAnd(bits, at, ~bit);
        // not taken: somebody has it and will hint it again, unless that happened just before the bit went
        if (block == 0) block = states.claim(index, leasedBits);
        if (block != 0) return block;
      }
      at++;
    }
    return 0;
  }

  private long steal(long leasedBits) {
    for (int place = 0; place < ThreadCaches.COUNT; place++) {
      int[] victim = caches.at(place);
      if (victim == null) continue;
      int top = (int) INTS.getAcquire(victim, TOP);
      for (int k = 0; k < top; k++) {
        long block = states.claim((int) INTS.getOpaque(victim, FIRST + k), leasedBits);
        if (block != 0) return block;
      }
    }
    return 0;
  }

  /** {@return where in the bitmap the calling thread looks first: spread, so that threads do not meet} */
  private int firstLook() {
    int place = (int) Thread.currentThread().threadId() & (ThreadCaches.COUNT - 1);
    return (int) ((long) bits.length * place / ThreadCaches.COUNT);
  }

  private long bitsAt(int at) {
    return (long) LONGS.getVolatile(bits, at);
  }

  private void setBit(int index) {
    LONGS.getAndBitwiseOr(bits, index / Long.SIZE, 1L << index);
  }

  private long releases() {
    long sum = sharedReleases.sum();
    for (int place = 0; place < ThreadCaches.COUNT; place++) {
      int[] cache = caches.at(place);
      if (cache != null) sum += (int) INTS.getAcquire(cache, RELEASES);
    }
    return sum;
  }
}

package dev.gatun.backend;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts what is under way, for a door that must not be a bottleneck: threads count in different cache lines. Counting
 * takes no lock and allocates nothing; any thread.
 *
 * <p>Whoever enters counts <em>before</em> the door's state is read, and whoever closes writes the state <em>before</em>
 * summing: one of the two always sees the other.
 */
public final class StripedCount {
  // 16 stripes of 128 bytes for each kind: two cache lines keep adjacent-line prefetch from coupling them; power of two,
  // unmeasured
  private static final int STRIPES = 16;
  private static final int STRIDE = 128 / Long.BYTES;
  private static final int SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(STRIPES);
  /** Slots of one kind; a slot of the first kind is below this. */
  public static final int SLOTS = STRIPES * STRIDE;

  private final AtomicLongArray counts;

  /**
   * Counts from 0.
   *
   * @param kinds how many things are counted apart
   */
  public StripedCount(int kinds) {
    counts = new AtomicLongArray(kinds * SLOTS);
  }

  /**
   * {@return where this thread counts}
   *
   * @param kind from 0
   */
  public int slot(int kind) {
    long id = Thread.currentThread().threadId();
    // Fibonacci hashing: thread numbers are consecutive, their low bits alone would do, their product spreads gaps too
    return kind * SLOTS + (int) ((id * 0x9E3779B97F4A7C15L) >>> SHIFT) * STRIDE;
  }

  /**
   * One more.
   *
   * @param slot of this thread
   */
  public void add(int slot) {
    counts.getAndIncrement(slot);
  }

  /**
   * One less.
   *
   * @param slot where it was counted, by whatever thread
   */
  public void subtract(int slot) {
    counts.getAndDecrement(slot);
  }

  /**
   * {@return how many of a kind are under way; a moment's figure while more may come}
   *
   * @param kind from 0
   */
  public long sum(int kind) {
    long sum = 0;
    for (int stripe = 0; stripe < STRIPES; stripe++)
      sum += counts.get(kind * SLOTS + stripe * STRIDE);
    return sum;
  }
}

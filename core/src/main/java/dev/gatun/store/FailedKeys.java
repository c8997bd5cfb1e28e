package dev.gatun.store;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Keys whose transfer failed moments ago, by hash, so that one dead segment is not asked again for every request. A
 * fixed table: a newer failure may displace an older one. Costs one read while nothing has failed; allocates nothing.
 */
final class FailedKeys {
  static final long NONE = 0;
  // 1,024 entries of 24 bytes; more failures than that in a few seconds mean that the store is down, which health tells
  private static final int SLOTS = 1024;
  private static final int HASH = 0;
  private static final int UNTIL = 1;
  private static final int RAW = 2;
  private static final int WORDS = 3;

  private final AtomicLongArray table = new AtomicLongArray(SLOTS * WORDS);
  private final long nanos;
  private volatile long lastUntil;
  private volatile boolean used;

  FailedKeys(Duration memory) {
    nanos = memory.toNanos();
  }

  /** {@return whether any key may be in it: the quick question before asking for each} */
  boolean active() {
    return used && lastUntil - System.nanoTime() > 0;
  }

  void add(long hash, long rawCode) {
    if (nanos == 0) return;
    int slot = slot(hash);
    long until = System.nanoTime() + nanos;
    table.set(slot + UNTIL, until);
    table.set(slot + RAW, rawCode);
    table.set(slot + HASH, hash);
    lastUntil = until;
    used = true;
  }

  /** {@return the code with which the key failed, or {@link #NONE}} */
  long rawCode(long hash) {
    int slot = slot(hash);
    if (table.get(slot + HASH) != hash || table.get(slot + UNTIL) - System.nanoTime() <= 0) return NONE;
    return table.get(slot + RAW);
  }

  void remove(long hash) {
    table.compareAndSet(slot(hash) + HASH, hash, 0);
  }

  void clear() {
    used = false;
    for (int slot = 0; slot < SLOTS; slot++)
      table.set(slot * WORDS + HASH, 0);
  }

  private static int slot(long hash) {
    return (int) (hash & (SLOTS - 1)) * WORDS;
  }
}

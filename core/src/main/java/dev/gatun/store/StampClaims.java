package dev.gatun.store;

import dev.gatun.memory.BlockPool;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Which blocks of a pool have a stamp that running puts are sending. A block may be put by several stores at once under
 * the same key, which needs the same stamp; while one is being sent, no other may replace it. Shared by all stores of the
 * process; lock free but for the wait while another thread copies its 64 bytes.
 */
final class StampClaims {
  private static final int WRITING = -1;
  // 1 us: longer than copying 64 bytes takes, unless that thread lost its core
  private static final long WAIT_NANOS = 1_000;
  private static final Map<BlockPool, StampClaims> ALL = Collections.synchronizedMap(new WeakHashMap<>());

  private final AtomicIntegerArray senders;

  private StampClaims(int blocks) {
    senders = new AtomicIntegerArray(blocks);
  }

  static StampClaims of(BlockPool pool) {
    return ALL.computeIfAbsent(pool, key -> new StampClaims(key.layout().pageCount()));
  }

  /** Puts the encoded stamp before the block's page. {@return false if another one is being sent from there} */
  boolean claim(int index, Stamp stamp, long offset) {
    while (true) {
      int count = senders.get(index);
      if (count == WRITING) {
        LockSupport.parkNanos(this, WAIT_NANOS);
      } else if (count == 0) {
        if (!senders.compareAndSet(index, 0, WRITING)) continue;
        boolean copied = false;
        try {
          stamp.copyTo(offset);
          copied = true;
        } finally {
          senders.set(index, copied ? 1 : 0);
        }
        return true;
      } else if (senders.compareAndSet(index, count, count + 1)) {
        if (stamp.isAt(offset)) return true;
        release(index);
        return false;
      }
    }
  }

  void release(int index) {
    senders.decrementAndGet(index);
  }
}

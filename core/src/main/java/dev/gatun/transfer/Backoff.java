package dev.gatun.transfer;

import java.util.concurrent.locks.LockSupport;

/**
 * How a waiting thread spends its time: first it looks again at once, for the lowest latency, then it lets other threads
 * run between two looks, then it sleeps for longer and longer. One thread at a time.
 */
final class Backoff {
  // 50 us: one page of 64 KiB takes 20 to 40 us within one machine; with more, whoever moves the bytes needs the core
  private static final long SPIN_NANOS = 50_000;
  // 2 ms: a batch of pages on one connection ends by then; unmeasured default
  private static final long YIELD_NANOS = 2_000_000;
  // the end of a wait is seen at most a sixty-fourth of it late, and what the kernel adds; unmeasured default
  private static final long PARK_PART = 64;
  private static final long PARK_MIN_NANOS = 20_000;
  private static final long PARK_MAX_NANOS = 5_000_000;

  private long beganNanos;

  /** Something happened, or a new wait begins. */
  void reset() {
    beganNanos = 0;
  }

  /** Passes a little time, at most so much. */
  @SuppressWarnings("ThreadPriorityCheck") // on few cores the threads that move the bytes must get one at once
  void pause(long mostNanos) {
    long now = System.nanoTime();
    if (beganNanos == 0) beganNanos = now;
    long waited = now - beganNanos;
    if (waited < SPIN_NANOS) {
      Thread.onSpinWait();
    } else if (waited < YIELD_NANOS) {
      Thread.yield();
    } else {
      LockSupport.parkNanos(this, Math.min(Math.clamp(waited / PARK_PART, PARK_MIN_NANOS, PARK_MAX_NANOS), mostNanos));
    }
  }
}

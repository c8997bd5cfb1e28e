package dev.gatun.transfer;

/** When to say again what has not been answered: ever more rarely, and not for ever. One thread at a time. */
final class Reminder {
  // a message and its answer take a millisecond, so at the first repeat something is wrong; unmeasured defaults
  private static final long FIRST_NANOS = 200_000_000;
  private static final long PAUSE_MAX_NANOS = 30_000_000_000L;
  /** How often it is said again: with the pauses some 15 minutes, well over any time-out of a transport. */
  static final int TIMES_MAX = 36;

  private long nextNanos;
  private long pauseNanos = FIRST_NANOS;
  private int left = TIMES_MAX;

  /** Counts from when it was said first. */
  Reminder(long nowNanos) {
    nextNanos = nowNanos + pauseNanos;
  }

  /** {@return whether it is to be said again now} */
  boolean due(long nowNanos) {
    if (left == 0 || nowNanos - nextNanos < 0) return false;
    left--;
    pauseNanos = Math.min(PAUSE_MAX_NANOS, pauseNanos * 2);
    nextNanos = nowNanos + pauseNanos;
    return true;
  }

  /** {@return whether it was said for the last time} */
  boolean isSpent() {
    return left == 0;
  }

  /** {@return whether an answer is no longer to be expected} */
  boolean isOver(long nowNanos) {
    return left == 0 && nowNanos - nextNanos >= 0;
  }
}

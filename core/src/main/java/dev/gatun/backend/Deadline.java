package dev.gatun.backend;

import java.time.Duration;

/**
 * A moment by which a wait ends. Every wait in Gatun has one. Immutable, usable by any thread.
 *
 * @param atNanos value of {@link System#nanoTime()} at which it is reached
 */
public record Deadline(long atNanos) {
  // about 146 years: keeps the sum clear of overflow however long a wait the caller asks for
  private static final long LONGEST_NANOS = Long.MAX_VALUE >> 1;
  // a hand-over lasts seconds; what is meant to stand for longer is no lease
  private static final Duration LEASE_MAX = Duration.ofHours(24);

  /**
   * {@return the deadline that lies {@code wait} from now}
   *
   * @param wait how long to wait, zero or more
   * @throws IllegalArgumentException if negative
   */
  public static Deadline after(Duration wait) {
    if (wait.isNegative()) throw new IllegalArgumentException("deadline must not be negative: " + wait);
    long nanos = wait.compareTo(Duration.ofNanos(LONGEST_NANOS)) > 0 ? LONGEST_NANOS : wait.toNanos();
    return new Deadline(System.nanoTime() + nanos);
  }

  /**
   * {@return the end of a lease that begins now}
   *
   * @param lease how long it lasts, above 0 and at most a day
   * @throws IllegalArgumentException if it does not
   */
  public static Deadline ofLease(Duration lease) {
    if (lease.isNegative() || lease.isZero() || lease.compareTo(LEASE_MAX) > 0) {
      throw new IllegalArgumentException("lease must be above 0 and at most " + LEASE_MAX + ": " + lease);
    }
    return after(lease);
  }

  /**
   * {@return the later of two}
   *
   * @param other another deadline
   */
  public Deadline later(Deadline other) {
    return atNanos - other.atNanos >= 0 ? this : other;
  }

  /**
   * {@return the earlier of two}
   *
   * @param other another deadline
   */
  public Deadline earlier(Deadline other) {
    return atNanos - other.atNanos >= 0 ? other : this;
  }

  /** {@return nanoseconds left, 0 once reached} */
  public long remainingNanos() {
    return Math.max(0, atNanos - System.nanoTime());
  }

  /** {@return whether it has been reached} */
  public boolean reached() {
    return remainingNanos() == 0;
  }
}

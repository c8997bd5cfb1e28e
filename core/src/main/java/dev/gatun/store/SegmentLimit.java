package dev.gatun.store;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreCode;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Tells a value that is larger than any segment from one that finds no room now: libraries answer both with the same
 * numbers. Asks the master only if a put was refused so, and seldom. Any thread.
 */
final class SegmentLimit {
  // 10 s: segments come and go with hosts, and a store that refuses every put must not ask for each; 2 s: an answer
  // takes milliseconds; both unmeasured defaults
  private static final long ASK_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final Duration ANSWER_MAX = Duration.ofSeconds(2);

  private final Optional<StoreCensus> census;
  // both guarded by this
  private OptionalLong largestBytes = OptionalLong.empty();
  private long askAtNanos = System.nanoTime();

  SegmentLimit(Optional<StoreCensus> census) {
    this.census = census;
  }

  /** {@return what an answer to a put leaves open; empty if nothing} */
  String detail(KvKey key, long objectBytes, long outcome) {
    boolean invalid = outcome == StoreCode.INVALID_PARAMS.raw();
    if (!invalid && outcome != StoreCode.NO_AVAILABLE_HANDLE.raw()) return "";
    OptionalLong largest = largest(objectBytes);
    if (largest.isEmpty()) {
      return invalid
          ? "put of " + key + ", " + objectBytes + " bytes: among other things, INVALID_PARAMS says that no segment is "
              + "as large as the value"
          : "";
    }
    if (objectBytes <= largest.getAsLong()) return "";
    return "put of " + key + ": " + objectBytes + " bytes are more than the largest segment of the store has, "
        + largest.getAsLong() + "; give it a larger one, or split the value";
  }

  private synchronized OptionalLong largest(long objectBytes) {
    if (largestBytes.isPresent() && objectBytes <= largestBytes.getAsLong()) return largestBytes;
    if (census.isEmpty() || System.nanoTime() - askAtNanos < 0) return largestBytes;
    try {
      largestBytes = census.get().largestSegmentBytes(Deadline.after(ANSWER_MAX));
    } catch (GatunException unknown) {
      largestBytes = OptionalLong.empty();
    }
    askAtNanos = System.nanoTime() + ASK_NANOS;
    return largestBytes;
  }
}

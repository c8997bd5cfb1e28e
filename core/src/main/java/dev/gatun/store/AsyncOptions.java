package dev.gatun.store;

import java.time.Duration;

/**
 * How an {@link AsyncKvStore} runs its operations.
 *
 * @param lanes platform threads, and so native calls at once, 1 to 64
 * @param inFlightMax operations accepted and not yet ended, running ones included, 1 to 65,536
 * @param backPressure what happens to one more
 * @param admitMax how long {@link BackPressure#BLOCK} waits for a place, at most an hour
 * @param operationMax how long an operation may take from its acceptance on, above 0 and at most a day
 */
public record AsyncOptions(int lanes, int inFlightMax, BackPressure backPressure, Duration admitMax,
    Duration operationMax) {

  /** What to do with an operation for which there is no place. */
  public enum BackPressure {
    /** Let the caller wait, up to {@link AsyncOptions#admitMax}. */
    BLOCK,
    /** Refuse it at once and count it: a cache may be left unfilled. */
    SKIP
  }

  // bounds against slips of a digit; unmeasured defaults
  private static final int LANES_MAX = 64;
  private static final int IN_FLIGHT_LIMIT = 65_536;
  private static final Duration ADMIT_LIMIT = Duration.ofHours(1);
  private static final Duration OPERATION_LIMIT = Duration.ofDays(1);

  /**
   * One lane: measured on 2 cores over TCP, a second call at once made both slower (0.63 to 0.93 of one); on a store in
   * the same process two lanes gained 1.1 to 1.65 times, which is a reason to raise it there. 64 operations, 10 s and
   * 60 s, the longest that the library waits for one transfer, are unmeasured defaults.
   */
  public static final AsyncOptions DEFAULT = new AsyncOptions(1, 64, BackPressure.BLOCK, Duration.ofSeconds(10),
      Duration.ofSeconds(60));

  /** Refuses numbers outside their ranges. */
  public AsyncOptions {
    requireRange("lanes", lanes, LANES_MAX);
    requireRange("inFlightMax", inFlightMax, IN_FLIGHT_LIMIT);
    if (inFlightMax < lanes) {
      throw new IllegalArgumentException("inFlightMax must be at least lanes, " + lanes + ": " + inFlightMax);
    }
    if (admitMax.isNegative() || admitMax.compareTo(ADMIT_LIMIT) > 0) {
      throw new IllegalArgumentException("admitMax must be 0 to 1 hour: " + admitMax);
    }
    if (!operationMax.isPositive() || operationMax.compareTo(OPERATION_LIMIT) > 0) {
      throw new IllegalArgumentException("operationMax must be above 0 and at most 1 day: " + operationMax);
    }
  }

  private static void requireRange(String field, int value, int max) {
    if (value < 1 || value > max) throw new IllegalArgumentException(field + " must be 1 to " + max + ": " + value);
  }

  /**
   * {@return the same with other lanes}
   *
   * @param count platform threads
   */
  public AsyncOptions withLanes(int count) {
    return new AsyncOptions(count, Math.max(count, inFlightMax), backPressure, admitMax, operationMax);
  }

  /**
   * {@return the same with another limit and what happens at it}
   *
   * @param operations most operations in flight
   * @param policy what happens to one more
   */
  public AsyncOptions withInFlightMax(int operations, BackPressure policy) {
    return new AsyncOptions(lanes, operations, policy, admitMax, operationMax);
  }

  /**
   * {@return the same with another wait for a place}
   *
   * @param wait how long a caller waits
   */
  public AsyncOptions withAdmitMax(Duration wait) {
    return new AsyncOptions(lanes, inFlightMax, backPressure, wait, operationMax);
  }

  /**
   * {@return the same with another deadline for operations}
   *
   * @param time from acceptance on
   */
  public AsyncOptions withOperationMax(Duration time) {
    return new AsyncOptions(lanes, inFlightMax, backPressure, admitMax, time);
  }
}

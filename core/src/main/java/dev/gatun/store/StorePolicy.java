package dev.gatun.store;

import java.time.Duration;

/**
 * How a {@link KvStore} behaves where the library leaves a choice.
 *
 * @param keysPerCallMax most keys in one native call, 1 to 65,536; longer batches are split and joined again in order
 * @param bytesPerCallMax most bytes in one native call, above 0, so that a call ends well within a read lease; a single
 *     page may be longer
 * @param parkMax how long a get waits at the gate for a running refit, at most an hour
 * @param failedKeysFor how long a key whose transfer failed is answered as failed without asking again, 0 for never, at
 *     most an hour: a dead segment fails each get only after a second or more
 * @param probeBeforePut ask for each key before a batch put, so that {@link PutResult.AlreadyPresent} can be told; costs
 *     one more round trip, and the question grants a lease
 * @param patterns permit {@link KvStore#removeMatching}
 */
public record StorePolicy(int keysPerCallMax, long bytesPerCallMax, Duration parkMax, Duration failedKeysFor,
    boolean probeBeforePut, boolean patterns) {
  // what a backend takes in one call
  private static final int KEYS_PER_CALL_LIMIT = 65_536;
  private static final Duration WAIT_LIMIT = Duration.ofHours(1);

  /**
   * 4,096 keys: at the 35 us an object measured over TCP, 0.14 s. 4 GiB: at the 2 GB/s measured over TCP, 2 s, a fifth of
   * the library's default lease of 10 s. 30 s at the gate and 5 s for failed keys (half the time after which a master
   * gives a dead client up) are unmeasured defaults.
   */
  public static final StorePolicy DEFAULT = new StorePolicy(4_096, 4L << 30, Duration.ofSeconds(30),
      Duration.ofSeconds(5), false, false);

  /** Refuses numbers outside their ranges. */
  public StorePolicy {
    if (keysPerCallMax < 1 || keysPerCallMax > KEYS_PER_CALL_LIMIT) {
      throw new IllegalArgumentException("keysPerCallMax must be 1 to " + KEYS_PER_CALL_LIMIT + ": " + keysPerCallMax);
    }
    if (bytesPerCallMax < 1) throw new IllegalArgumentException("bytesPerCallMax must be positive: " + bytesPerCallMax);
    requireWait("parkMax", parkMax);
    requireWait("failedKeysFor", failedKeysFor);
  }

  private static void requireWait(String field, Duration wait) {
    if (wait.isNegative() || wait.compareTo(WAIT_LIMIT) > 0) {
      throw new IllegalArgumentException(field + " must be 0 to 1 hour: " + wait);
    }
  }

  /**
   * {@return the same with other limits for one native call}
   *
   * @param keys most keys
   * @param bytes most bytes
   */
  public StorePolicy withCallLimits(int keys, long bytes) {
    return new StorePolicy(keys, bytes, parkMax, failedKeysFor, probeBeforePut, patterns);
  }

  /**
   * {@return the same with another wait at the gate}
   *
   * @param wait how long gets wait for a refit
   */
  public StorePolicy withParkMax(Duration wait) {
    return new StorePolicy(keysPerCallMax, bytesPerCallMax, wait, failedKeysFor, probeBeforePut, patterns);
  }

  /**
   * {@return the same with another memory for failed keys}
   *
   * @param time how long, 0 for never
   */
  public StorePolicy withFailedKeysFor(Duration time) {
    return new StorePolicy(keysPerCallMax, bytesPerCallMax, parkMax, time, probeBeforePut, patterns);
  }

  /** {@return the same, asking before each batch put} */
  public StorePolicy probing() {
    return new StorePolicy(keysPerCallMax, bytesPerCallMax, parkMax, failedKeysFor, true, patterns);
  }

  /** {@return the same, with removal by pattern permitted} */
  public StorePolicy withPatterns() {
    return new StorePolicy(keysPerCallMax, bytesPerCallMax, parkMax, failedKeysFor, probeBeforePut, true);
  }
}

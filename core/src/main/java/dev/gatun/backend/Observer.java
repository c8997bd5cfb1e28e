package dev.gatun.backend;

/**
 * Sees the outcome of each operation. Called on the operating thread, right after the native call, so implementations
 * must be fast and must not block. What one throws does not reach the operation, and is logged the first time. Counts
 * are keys, sizes bytes, times nanoseconds.
 */
public interface Observer {
  /** Sees nothing. */
  Observer NONE = new Observer() {
  };

  /**
   * A put, single or batch.
   *
   * @param stored keys that were stored, or were present already where the library cannot tell
   * @param alreadyPresent keys known to have been present
   * @param failed keys that failed
   * @param bytes bytes of the stored keys
   * @param nanos duration of the native call
   */
  default void onPut(int stored, int alreadyPresent, int failed, long bytes, long nanos) {}

  /**
   * A get, single or batch.
   *
   * @param hits keys whose bytes arrived
   * @param misses keys that are not in the store
   * @param leaseExpired keys whose read outlasted its lease
   * @param rejected keys whose stamp did not match: stale, torn, swapped or foreign pages
   * @param failed keys that failed otherwise
   * @param bytes bytes of the hits
   * @param nanos duration of the native call
   */
  default void onGet(int hits, int misses, int leaseExpired, int rejected, int failed, long bytes, long nanos) {}

  /**
   * An existence query.
   *
   * @param present keys that exist
   * @param absent keys that do not
   * @param failed keys for which the store could not say
   * @param nanos duration of the native call
   */
  default void onExists(int present, int absent, int failed, long nanos) {}

  /**
   * A removal by key, prefix or pattern.
   *
   * @param removed objects removed
   * @param failed whether the call failed
   * @param nanos duration of the native call
   */
  default void onRemove(long removed, boolean failed, long nanos) {}

  /**
   * Work that was not attempted: back-pressure, a closed gate, a negative cache.
   *
   * @param reason a short constant word
   * @param keys keys concerned
   */
  default void onSkip(String reason, int keys) {}

  /**
   * A refit that ended.
   *
   * @param epoch the new epoch
   * @param outcome VERIFIED, ISOLATED, UNVERIFIED or FAILED
   * @param removed objects that the removal reported
   * @param nanos from closing the gate to the verdict
   */
  default void onReset(WeightEpoch epoch, String outcome, long removed, long nanos) {}
}

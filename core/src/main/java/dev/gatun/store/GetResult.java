package dev.gatun.store;

import dev.gatun.backend.StoreCode;

/** Outcome of getting one key. Only after a {@link Hit} may the destination be read. */
public sealed interface GetResult {

  /**
   * The page arrived.
   *
   * @param bytes its length, 1 or more, without the stamp
   */
  record Hit(long bytes) implements GetResult {}

  /** There is no such object. */
  record Miss() implements GetResult {}

  /**
   * Bytes arrived, but not those of this page. Treat it as a miss, and count it.
   *
   * @param reason what is wrong with them
   */
  record Rejected(Rejection reason) implements GetResult {}

  /**
   * The page may exist, but did not arrive.
   *
   * @param code why
   * @param rawCode the number the library answered
   */
  record GetFailed(StoreCode code, long rawCode) implements GetResult {
    /** {@return whether the same get may succeed later} */
    public boolean retryable() {
      return code.retryable();
    }
  }
}

package dev.gatun.store;

import dev.gatun.backend.StoreCode;

/** Answer to the question how long a stored page is. */
public sealed interface SizeResult {

  /**
   * There is one.
   *
   * @param bytes its length without the stamp
   */
  record Known(long bytes) implements SizeResult {}

  /** There is no such object. */
  record Absent() implements SizeResult {}

  /**
   * The store could not say.
   *
   * @param code why
   * @param rawCode the number the library answered
   */
  record Unknown(StoreCode code, long rawCode) implements SizeResult {}
}

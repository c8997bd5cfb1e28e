package dev.gatun.store;

import dev.gatun.backend.StoreCode;

/** Outcome of putting one key. */
public sealed interface PutResult {

  /**
   * The page is in the store, or was there already and nothing was written: the library does not tell. The latter
   * includes a put by somebody else that is still in flight and may yet fail.
   */
  record Stored() implements PutResult {}

  /** The key was there before, and nothing was written. Known only when the store probes before it puts. */
  record AlreadyPresent() implements PutResult {}

  /**
   * Nothing can be read under this key by this put.
   *
   * @param code why
   * @param rawCode the number the library answered
   */
  record PutFailed(StoreCode code, long rawCode) implements PutResult {
    /** {@return whether the same put may succeed later} */
    public boolean retryable() {
      return code.retryable();
    }
  }
}

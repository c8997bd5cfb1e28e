package dev.gatun.store;

import dev.gatun.backend.StoreCode;

/** Outcome of removing one key. */
public sealed interface RemoveResult {

  /** It was there and is gone. */
  record Removed() implements RemoveResult {}

  /** It was not there: as good as removed. */
  record Absent() implements RemoveResult {}

  /**
   * It is still there.
   *
   * @param code why: {@link StoreCode#OBJECT_HAS_LEASE} after a recent read, {@link StoreCode#REPLICA_IS_NOT_READY}
   *     while a put is in flight
   * @param rawCode the number the library answered
   */
  record RemoveFailed(StoreCode code, long rawCode) implements RemoveResult {
    /** {@return whether the same removal may succeed later} */
    public boolean retryable() {
      return code.retryable();
    }
  }

  /** {@return whether the key is gone, by this call or before} */
  default boolean gone() {
    return !(this instanceof RemoveFailed);
  }
}

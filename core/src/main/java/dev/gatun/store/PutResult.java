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
   * @param detail what the number leaves open, such as that the value is larger than any segment; empty if nothing
   */
  record PutFailed(StoreCode code, long rawCode, String detail) implements PutResult {

    /**
     * A failure whose number says all.
     *
     * @param code why
     * @param rawCode the number the library answered
     */
    public PutFailed(StoreCode code, long rawCode) {
      this(code, rawCode, "");
    }

    /** {@return whether the same put may succeed later; a value larger than any segment never does} */
    public boolean retryable() {
      return code.retryable() && detail.isEmpty();
    }
  }
}

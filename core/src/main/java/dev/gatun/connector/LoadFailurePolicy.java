package dev.gatun.connector;

/** What an engine does with a request whose KV could not be loaded: {@code kv_load_failure_policy}. */
public enum LoadFailurePolicy {
  /** Computes the missing blocks. */
  RECOMPUTE("recompute"),
  /** Ends the request with an error. */
  FAIL("fail");

  private final String text;

  LoadFailurePolicy(String text) {
    this.text = text;
  }

  /** {@return the word that configurations use} */
  @Override
  public String toString() {
    return text;
  }
}

package dev.gatun.refit;

/** What came back from a call on a {@link Lane}. */
sealed interface Answer<T> {
  /** It returned. */
  record Value<T>(T value) implements Answer<T> {}

  /** It threw. */
  record Thrown<T>(String problem) implements Answer<T> {}

  /** It is still running, or was never started; the text says which call holds the lane. */
  record Pending<T>(String problem) implements Answer<T> {}
}

package dev.gatun.fleet;

/**
 * What becomes of running requests when an engine pauses. There is no way to keep them: their KV would survive the reset,
 * and a real engine died when its cache was cleared under requests that it had kept.
 */
public enum PauseMode {
  /** They end at once. */
  ABORT,
  /** They are waited for. */
  WAIT
}

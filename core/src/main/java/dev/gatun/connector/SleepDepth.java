package dev.gatun.connector;

/** How much memory a sleeping host gives up. KV goes at either depth. */
public enum SleepDepth {
  /** Weights are kept aside, to be brought back. */
  KEEP_WEIGHTS,
  /** Weights are dropped, to be loaded anew. */
  DROP_WEIGHTS
}

package dev.gatun.example;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Stands in for a model: the KV of a block depends on the weights, on every byte of the KV before it and on its tokens, and
 * the next token on all KV. One wrong byte in a loaded page changes what is generated.
 *
 * @param weights number of the weights
 */
record ToyModel(long weights) {
  /** Tokens a block. */
  static final int BLOCK_TOKENS = 16;
  /** Different tokens. */
  static final int VOCABULARY = 50_000;

  private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

  /** Computes the KV of a block, given that of all blocks before it. */
  void prefill(List<MemorySegment> before, List<Integer> tokens, MemorySegment page) {
    long state = digest(before, tokens);
    for (long at = 0; at < page.byteSize(); at++) {
      state = mix(state + at);
      page.set(ValueLayout.JAVA_BYTE, at, (byte) state);
    }
  }

  /** {@return the token that follows, given the KV of all full blocks and the tokens behind them} */
  int next(List<MemorySegment> pages, List<Integer> tail) {
    return Math.floorMod(digest(pages, tail), VOCABULARY);
  }

  private long digest(List<MemorySegment> pages, List<Integer> tokens) {
    long state = mix(weights);
    // the last page holds what all before it come to
    if (!pages.isEmpty()) {
      MemorySegment last = pages.getLast();
      for (long at = 0; at < last.byteSize(); at++)
        state = mix(state ^ last.get(ValueLayout.JAVA_BYTE, at));
    }
    for (int token : tokens)
      state = mix(state + token);
    return state;
  }

  private static long mix(long state) {
    long product = (state ^ (state >>> 29)) * MULTIPLIER;
    return product ^ (product >>> 32);
  }
}

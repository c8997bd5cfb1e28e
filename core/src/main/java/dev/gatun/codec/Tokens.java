package dev.gatun.codec;

/** Checks of token ids. */
final class Tokens {
  private Tokens() {}

  static void require(long[] tokens, int perPage) {
    if (perPage < 1) throw new IllegalArgumentException("tokens a block must be 1 or more: " + perPage);
    for (int i = 0; i < tokens.length; i++) {
      if (tokens[i] < 0) throw new IllegalArgumentException("token " + i + " must be 0 or more: " + tokens[i]);
    }
  }
}

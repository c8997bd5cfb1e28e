package dev.gatun.cli.replay;

/** The finishing step of SplitMix64: spreads each bit of a {@code long} over all of them; a bijection. */
final class Mix {
  private Mix() {}

  static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}

package dev.gatun.bench;

import java.util.Arrays;

/** Quantiles of figures that are no nanoseconds; {@link Samples} has those. */
final class Quantiles {
  private Quantiles() {}

  static double median(double[] values) {
    return of(values, 0.5);
  }

  /** {@return the value below which this part of all lies, as {@link Samples#quantile} counts it} */
  static double of(double[] values, double part) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[(int) (part * (sorted.length - 1))];
  }
}

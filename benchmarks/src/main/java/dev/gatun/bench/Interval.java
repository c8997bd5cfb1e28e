package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * The mean over launches with its 95 % interval, by Student's t; or a difference of medians with that of a bootstrap.
 *
 * @param mean arithmetic mean of differences, geometric mean of ratios, difference of medians
 * @param low lower end, minus infinity (0 for ratios) after one launch
 * @param high upper end
 */
record Interval(double mean, double low, double high) {
  private static final int RESAMPLES = 10_000; // some 250 of them beyond each end
  // two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom
  private static final double[] T_95 = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201,
      2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052,
      2.048, 2.045, 2.042};

  /** Takes one difference a launch. */
  static Interval ofDifferences(List<Double> differences) {
    if (differences.isEmpty()) throw new IllegalArgumentException("nothing was measured");
    int count = differences.size();
    double mean = differences.stream().mapToDouble(Double::doubleValue).sum() / count;
    if (count == 1) return new Interval(mean, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY);
    double squares = 0;
    for (double difference : differences)
      squares += (difference - mean) * (difference - mean);
    // beyond 30 degrees the last value makes the interval at most 4 % too wide
    double t = T_95[Math.min(count - 1, T_95.length) - 1];
    double half = t * Math.sqrt(squares / (count - 1) / count);
    return new Interval(mean, mean - half, mean + half);
  }

  /**
   * Takes what two ways gave in each of several rounds: the difference of their medians, with the 95 % interval of a bootstrap
   * over rounds.
   */
  static Interval ofMedianDifference(double[] way, double[] other) {
    if (way.length == 0 || way.length != other.length) {
      throw new IllegalArgumentException("both ways must have as many rounds, one or more: " + way.length + ", "
          + other.length);
    }
    Random random = new Random(1); // the same figures give the same interval
    double[] differences = new double[RESAMPLES];
    double[] drawn = new double[way.length];
    double[] drawnOther = new double[way.length];
    for (int sample = 0; sample < RESAMPLES; sample++) {
      for (int round = 0; round < way.length; round++) {
        int of = random.nextInt(way.length);
        drawn[round] = way[of];
        drawnOther[round] = other[of];
      }
      differences[sample] = Quantiles.median(drawn) - Quantiles.median(drawnOther);
    }
    return new Interval(Quantiles.median(way) - Quantiles.median(other), Quantiles.of(differences, 0.025),
        Quantiles.of(differences, 0.975));
  }

  /** Takes one ratio a launch, above 0; works on logarithms, since ratios multiply and times are skewed. */
  static Interval ofRatios(List<Double> ratios) {
    Interval logs = ofDifferences(ratios.stream().map(Math::log).toList());
    return new Interval(Math.exp(logs.mean), Math.exp(logs.low), Math.exp(logs.high));
  }

  ObjectNode json() {
    return JsonNodeFactory.instance.objectNode().put("mean", mean).put("low", low).put("high", high);
  }

  /** {@return mean and ends in brackets, each in one format of {@link String#format}} */
  String text(String format) {
    return String.format(Locale.ROOT, format + " [" + format + ", " + format + "]", mean, low, high);
  }
}

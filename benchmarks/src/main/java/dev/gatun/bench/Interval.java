package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;

/**
 * The mean over launches with its 95 % interval, by Student's t.
 *
 * @param mean arithmetic mean of differences, geometric mean of ratios
 * @param low lower end, minus infinity (0 for ratios) after one launch
 * @param high upper end
 */
record Interval(double mean, double low, double high) {
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

package dev.gatun.internal.backend;

import java.util.HashMap;
import java.util.Map;

/** Reads Prometheus' text format: one {@code name{labels} value} a line. Labels are dropped and their samples added up. */
public final class PrometheusText {
  private PrometheusText() {}

  /**
   * {@return samples by name, without their fractions; lines that are no samples are passed over}
   *
   * @param text what {@code /metrics} answered
   */
  public static Map<String, Long> parse(String text) {
    Map<String, Long> samples = new HashMap<>();
    text.lines().forEach(line -> {
      int space = line.lastIndexOf(' ');
      if (space < 1 || line.startsWith("#")) return;
      int labels = line.indexOf('{');
      String name = line.substring(0, labels > 0 ? labels : line.indexOf(' '));
      try {
        samples.merge(name, (long) Double.parseDouble(line.substring(space + 1)), Long::sum);
      } catch (NumberFormatException notASample) {
        // a reader of metrics skips what it does not know; a metric that is needed and missing is reported by name
      }
    });
    return samples;
  }
}

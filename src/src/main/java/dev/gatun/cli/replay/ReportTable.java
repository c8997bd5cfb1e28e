package dev.gatun.cli.replay;

import java.util.Locale;

/** Lines of a report, in columns. */
final class ReportTable {
  private static final String ROW = "%-32s %16s %16s%n";

  private final StringBuilder text = new StringBuilder();

  void head(String first, String second) {
    text.append(String.format(Locale.ROOT, ROW, "", first, second));
  }

  void row(String name, long measured, long ideal) {
    text.append(String.format(Locale.ROOT, ROW, name, number(measured), number(ideal)));
  }

  void rowIfAny(String name, long measured) {
    if (measured > 0) text.append(String.format(Locale.ROOT, ROW, name, number(measured), ""));
  }

  void gap() {
    text.append(System.lineSeparator());
  }

  void note(String name, String what) {
    text.append(String.format(Locale.ROOT, "%-16s %s%n", name, what));
  }

  void rates(String name, long bytes, double gBps, LatencyHistogram times) {
    String moved = bytes == 0 ? "" : String.format(Locale.ROOT, "%.2f GB at %.2f GB/s, ", bytes / 1e9, gBps);
    note(name, moved + times(times));
  }

  static String times(LatencyHistogram times) {
    return String.format(Locale.ROOT, "%,d calls, p50 %s, p99 %s", times.count(), micros(times.quantileNanos(0.5)),
        micros(times.quantileNanos(0.99)));
  }

  private static String micros(long nanos) {
    return nanos < 10_000_000
        ? String.format(Locale.ROOT, "%.1f µs", nanos / 1e3)
        : String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
  }

  private static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  @Override
  public String toString() {
    return text.toString();
  }
}

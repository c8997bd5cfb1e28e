package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

/** The table of a comparison and what it says about the project's targets. */
final class ComparisonReport {
  private static final double SPEED_MIN = 0.97;
  private static final double CELL_SPEED_MIN = 0.90;

  private final List<ComparedCell> cells;

  ComparisonReport(List<ComparedCell> cells) {
    this.cells = cells;
  }

  void addTo(ObjectNode report) {
    List<ComparedCell> compared = puts(cell -> cell.has(ComparedCell.PROGRAM));
    if (!compared.isEmpty()) {
      report.put("geometricMeanSpeedOfJava", speed(compared, ComparedCell::speedOfJava));
      report.put("geometricMeanSpeedOfC", speed(compared, ComparedCell::speedOfC));
    }
    ArrayNode array = report.putArray("cells");
    cells.forEach(cell -> array.add(cell.json()));
  }

  String text() {
    Formatter text = new Formatter(Locale.ROOT);
    if (cells.stream().anyMatch(cell -> cell.has(LaunchOptions.C_IN_JVM))) overheads(text);
    if (cells.stream().anyMatch(cell -> cell.has(ComparedCell.PROGRAM))) speeds(text);
    double allocated = cells.stream().mapToDouble(ComparedCell::allocatedBytes).max().orElse(0);
    text.format("Allocated by an operation in steady state, most of all cells: %.3f B (target 0): %s%n", allocated,
        allocated == 0 ? "met" : "MISSED");
    return text.toString();
  }

  private void overheads(Formatter text) {
    text.format("%7s %5s %-8s %13s %13s %13s %13s  %-32s %9s  %s%n", "page", "batch", "", "C program ns", "C in JVM ns",
        "downcall ns", "StoreBatch ns", "over C in JVM, ns [95 %]", "allowed", "");
    for (ComparedCell cell : cells) {
      if (!cell.has(LaunchOptions.C_IN_JVM)) continue;
      Interval over = cell.overNanos(LaunchOptions.C_IN_JVM);
      text.format("%7s %5d %-8s %13s %13.0f %13s %13.0f  %-32s %9.0f  %s%n", cell.cell().pageText(),
          cell.cell().batch(),
          cell.operation().text(), nanos(cell, ComparedCell.PROGRAM), cell.nanos(LaunchOptions.C_IN_JVM),
          nanos(cell, LaunchOptions.RAW_DOWNCALL), cell.nanos(LaunchOptions.STORE_BATCH), over.text("%.0f"),
          cell.allowedNanos(), verdict(over, cell.allowedNanos()));
    }
  }

  private void speeds(Formatter text) {
    text.format("%n%7s %5s %-8s %13s %13s  %-24s %s%n", "page", "batch", "", "C us", "StoreBatch us",
        "C / Java [95 %]", "C / C [95 %]");
    List<ComparedCell> compared = puts(cell -> cell.has(ComparedCell.PROGRAM));
    List<String> slow = new ArrayList<>();
    for (ComparedCell cell : compared) {
      Interval java = cell.speedOfJava();
      if (java.high() < CELL_SPEED_MIN)
        slow.add(cell.cell().pageText() + " x " + cell.cell().batch() + ' ' + cell.operation().text());
      text.format("%7s %5d %-8s %13.1f %13.1f  %-24s %s%n", cell.cell().pageText(), cell.cell().batch(),
          cell.operation().text(), cell.nanos(ComparedCell.PROGRAM) / 1e3,
          cell.nanos(LaunchOptions.STORE_BATCH) / 1e3, java.text("%.3f"), cell.speedOfC().text("%.3f"));
    }
    double mean = speed(compared, ComparedCell::speedOfJava);
    text.format(
        "Geometric mean: Java %.3f of C's speed, C %.3f of its own (target on real Mooncake: %.2f or more): %s%n",
        mean, speed(compared, ComparedCell::speedOfC), SPEED_MIN, mean >= SPEED_MIN ? "met" : "MISSED");
    text.format("Cells whose interval lies below %.2f (target on real Mooncake: none): %s%n", CELL_SPEED_MIN,
        slow.isEmpty() ? "none, met" : "MISSED, " + String.join(", ", slow));
  }

  private List<ComparedCell> puts(Predicate<ComparedCell> which) {
    return cells.stream().filter(which)
        .filter(cell -> cell.operation() == StoreOperation.PUT || cell.operation() == StoreOperation.GET).toList();
  }

  private interface Speed {
    Interval of(ComparedCell cell);
  }

  private static double speed(List<ComparedCell> cells, Speed speed) {
    return Interval.ofRatios(cells.stream().map(cell -> speed.of(cell).mean()).toList()).mean();
  }

  private static String nanos(ComparedCell cell, String peer) {
    return cell.has(peer) ? String.format(Locale.ROOT, "%.0f", cell.nanos(peer)) : "";
  }

  /** Above a few milliseconds an operation scatters by more than what is allowed: then neither can be shown. */
  private static String verdict(Interval over, double allowedNanos) {
    if (over.high() <= allowedNanos) return "met";
    return over.low() > allowedNanos ? "MISSED" : "not resolved";
  }
}

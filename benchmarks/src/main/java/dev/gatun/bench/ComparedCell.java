package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The medians of one operation on one cell: for each peer one a launch. */
final class ComparedCell {
  /** The C program. */
  static final String PROGRAM = "cProgram";
  /** The C program once more: what differs from {@link #PROGRAM} is the machine's mood. */
  static final String PROGRAM_AGAIN = "cProgramAgain";

  // the project's target: at most 500 ns a call and 25 ns a key over C
  private static final double ALLOWED_CALL_NANOS = 500;
  private static final double ALLOWED_KEY_NANOS = 25;

  private final StoreCell cell;
  private final StoreOperation operation;
  private final Map<String, List<Double>> medians = new LinkedHashMap<>();
  private double allocatedBytes;

  ComparedCell(StoreCell cell, StoreOperation operation) {
    this.cell = cell;
    this.operation = operation;
  }

  StoreCell cell() {
    return cell;
  }

  StoreOperation operation() {
    return operation;
  }

  /** Takes one launch of a peer, as its program reports it. */
  void add(String peer, JsonNode measured) {
    medians.putIfAbsent(peer, new ArrayList<>());
    of(peer).add(measured.path("medianNanos").asDouble());
    allocatedBytes = Math.max(allocatedBytes, measured.path("allocatedBytesPerOperation").asDouble(0));
  }

  boolean has(String peer) {
    return medians.containsKey(peer);
  }

  /** {@return bytes that Java allocates in one operation, the most of any launch} */
  double allocatedBytes() {
    return allocatedBytes;
  }

  /** {@return the median over launches of a peer's medians} */
  double nanos(String peer) {
    double[] sorted = of(peer).stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return sorted[(sorted.length - 1) / 2];
  }

  /** {@return how much longer Java takes than a peer of the same launch} */
  Interval overNanos(String peer) {
    List<Double> differences = new ArrayList<>();
    List<Double> theirs = of(peer);
    List<Double> own = of(LaunchOptions.STORE_BATCH);
    for (int i = 0; i < own.size(); i++)
      differences.add(own.get(i) - theirs.get(i));
    return Interval.ofDifferences(differences);
  }

  double allowedNanos() {
    return ALLOWED_CALL_NANOS + ALLOWED_KEY_NANOS * cell.batch();
  }

  /** {@return Java's speed in units of the C program's: the geometric mean of the two C launches beside each Java launch} */
  Interval speedOfJava() {
    List<Double> ratios = new ArrayList<>();
    List<Double> own = of(LaunchOptions.STORE_BATCH);
    for (int i = 0; i < own.size(); i++) {
      ratios.add(Math.sqrt(of(PROGRAM).get(i) * of(PROGRAM_AGAIN).get(i)) / own.get(i));
    }
    return Interval.ofRatios(ratios);
  }

  /** {@return the C program's speed in units of its own: what chance alone does} */
  Interval speedOfC() {
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < of(PROGRAM).size(); i++)
      ratios.add(of(PROGRAM).get(i) / of(PROGRAM_AGAIN).get(i));
    return Interval.ofRatios(ratios);
  }

  private List<Double> of(String peer) {
    List<Double> values = medians.get(peer);
    if (values == null) throw new IllegalStateException(peer + " was not launched for " + cell);
    return values;
  }

  ObjectNode json() {
    ObjectNode node = JsonNodeFactory.instance.objectNode().put("pageBytes", cell.pageBytes())
        .put("batch", cell.batch()).put("operation", operation.text())
        .put("allocatedBytesPerOperation", allocatedBytes);
    ObjectNode nanos = node.putObject("medianNanos");
    medians.forEach((peer, values) -> values.forEach(nanos.withArray(peer)::add));
    if (has(PROGRAM)) {
      node.set("speedOfJava", speedOfJava().json());
      node.set("speedOfC", speedOfC().json());
    }
    for (String peer : List.of(LaunchOptions.C_IN_JVM, PROGRAM)) {
      if (has(peer)) node.withObject("/overNanos").set(peer, overNanos(peer).json());
    }
    return node.put("allowedOverNanos", allowedNanos());
  }
}

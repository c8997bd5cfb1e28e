package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What the programs of {@link EngineComparison} measured. Java and the library's own benchmark are compared with the
 * geometric mean of the two C launches beside them, C with C itself.
 */
final class EngineFigures {
  private static final double SPEED_MIN = 0.97;
  private static final String MEDIAN = "medianNanos";
  private static final String MEAN = "meanNanos";

  /** For each cell and operation, each program's results, one a launch. */
  private final Map<String, Map<String, List<JsonNode>>> results = new LinkedHashMap<>();

  void add(String program, Iterable<JsonNode> cells) {
    for (JsonNode cell : cells) {
      for (String operation : List.of("read", "write")) {
        String name = String.format(Locale.ROOT, "%7d x %3d %-5s", cell.path("blockBytes").asLong(),
            cell.path("batch").asInt(), operation);
        results.computeIfAbsent(name, key -> new LinkedHashMap<>())
            .computeIfAbsent(program, key -> new ArrayList<>()).add(cell.path(operation));
      }
    }
  }

  /** Adds everything to a report. {@return a table and the verdicts} */
  String report(ObjectNode report) {
    StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%-20s %10s %10s  %-22s %-22s %-22s %-22s %s%n",
        "cell", "C us", "Java us", "medians C/Java [95 %]", "C/C", "means C/Java", "C/C", "C/upstream"));
    ArrayNode cells = report.putArray("cells");
    results.forEach((name, cell) -> cell(cells.addObject().put("cell", name.strip()), name, cell, text));
    text.append("Geometric means over all cells, in units of C's speed:\n");
    Interval medians = overall(text, report, "mediansOfJava", MEDIAN, EnginePrograms.JAVA);
    overall(text, report, "mediansOfC", MEDIAN, EnginePrograms.PROGRAM_AGAIN);
    Interval means = overall(text, report, "meansOfJava", MEAN, EnginePrograms.JAVA);
    overall(text, report, "meansOfC", MEAN, EnginePrograms.PROGRAM_AGAIN);
    if (has(EnginePrograms.UPSTREAM)) overall(text, report, "meansOfUpstream", MEAN, EnginePrograms.UPSTREAM);
    double spread = spread();
    double allocated = allocatedBytes();
    report.put("lowestMeansOfC", spread).put("allocatedBytesMost", allocated);
    return text.append(String.format(Locale.ROOT, """
        Medians: Java %.3f of C's speed (target %.2f or more): %s
        Means: Java %.3f, C's launches among each other down to %.3f (target: within): %s
        Allocated by a batch in steady state, most of all cells: %.3f B (target 0)
        """, medians.mean(), SPEED_MIN, verdict(medians.mean() >= SPEED_MIN), means.mean(), spread,
        verdict(means.mean() >= spread), allocated)).toString();
  }

  private static void cell(ObjectNode json, String name, Map<String, List<JsonNode>> cell, StringBuilder text) {
    Interval median = Interval.ofRatios(ratios(cell, MEDIAN, EnginePrograms.JAVA));
    Interval medianOfC = Interval.ofRatios(ratios(cell, MEDIAN, EnginePrograms.PROGRAM_AGAIN));
    Interval mean = Interval.ofRatios(ratios(cell, MEAN, EnginePrograms.JAVA));
    Interval meanOfC = Interval.ofRatios(ratios(cell, MEAN, EnginePrograms.PROGRAM_AGAIN));
    json.set("medianSpeedOfJava", median.json());
    json.set("medianSpeedOfC", medianOfC.json());
    json.set("meanSpeedOfJava", mean.json());
    json.set("meanSpeedOfC", meanOfC.json());
    String upstream = "";
    if (cell.containsKey(EnginePrograms.UPSTREAM)) {
      Interval speed = Interval.ofRatios(ratios(cell, MEAN, EnginePrograms.UPSTREAM));
      json.set("meanSpeedOfUpstream", speed.json());
      upstream = speed.text("%.3f");
    }
    ObjectNode nanos = json.putObject("nanos");
    cell.forEach((program, launches) -> {
      ObjectNode figures = nanos.putObject(program);
      for (String figure : List.of(MEDIAN, MEAN)) {
        if (launches.getFirst().has(figure)) {
          ArrayNode values = figures.putArray(figure);
          launches.forEach(launch -> values.add(Math.round(launch.path(figure).asDouble())));
        }
      }
    });
    text.append(String.format(Locale.ROOT, "%-20s %10.1f %10.1f  %-22s %-22s %-22s %-22s %s%n", name,
        middle(cell, EnginePrograms.PROGRAM) / 1e3, middle(cell, EnginePrograms.JAVA) / 1e3, median.text("%.3f"),
        medianOfC.text("%.3f"), mean.text("%.3f"), meanOfC.text("%.3f"), upstream));
  }

  private Interval overall(StringBuilder text, ObjectNode report, String name, String figure, String program) {
    Interval speed = Interval.ofRatios(launches(figure, program));
    report.withObject("/geometricMeanSpeed").set(name, speed.json());
    text.append(String.format(Locale.ROOT, "  %-16s %s%n", name, speed.text("%.3f")));
    return speed;
  }

  /** {@return for each launch the geometric mean over all cells of a program's speed} */
  private List<Double> launches(String figure, String program) {
    List<List<Double>> cells = results.values().stream().map(cell -> ratios(cell, figure, program)).toList();
    List<Double> means = new ArrayList<>();
    for (int launch = 0; launch < cells.getFirst().size(); launch++) {
      int at = launch;
      means.add(Interval.ofRatios(cells.stream().map(cell -> cell.get(at)).toList()).mean());
    }
    return means;
  }

  /** {@return how slow one C launch looks beside the other, at worst: which of the two is first is chance} */
  private double spread() {
    return launches(MEAN, EnginePrograms.PROGRAM_AGAIN).stream().mapToDouble(speed -> Math.min(speed, 1 / speed)).min()
        .orElseThrow();
  }

  private double allocatedBytes() {
    return results.values().stream().flatMap(cell -> launches(cell, EnginePrograms.JAVA).stream())
        .mapToDouble(launch -> launch.path("allocatedBytes").asDouble()).max().orElseThrow();
  }

  private boolean has(String program) {
    return results.values().stream().allMatch(cell -> cell.containsKey(program));
  }

  /** {@return a program's speed, launch by launch} */
  private static List<Double> ratios(Map<String, List<JsonNode>> cell, String figure, String program) {
    List<Double> first = of(cell, figure, EnginePrograms.PROGRAM);
    List<Double> again = of(cell, figure, EnginePrograms.PROGRAM_AGAIN);
    List<Double> other = of(cell, figure, program);
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < other.size(); i++) {
      double base = program.equals(EnginePrograms.PROGRAM_AGAIN)
          ? first.get(i)
          : Math.sqrt(first.get(i) * again.get(i));
      ratios.add(base / other.get(i));
    }
    return ratios;
  }

  private static List<Double> of(Map<String, List<JsonNode>> cell, String figure, String program) {
    return launches(cell, program).stream().map(launch -> launch.path(figure).asDouble()).toList();
  }

  private static List<JsonNode> launches(Map<String, List<JsonNode>> cell, String program) {
    List<JsonNode> launches = cell.get(program);
    if (launches == null) throw new IllegalStateException("no launch of " + program);
    return launches;
  }

  private static double middle(Map<String, List<JsonNode>> cell, String program) {
    List<Double> sorted = of(cell, MEDIAN, program).stream().sorted().toList();
    return sorted.get(sorted.size() / 2);
  }

  private static String verdict(boolean met) {
    return met ? "met" : "MISSED";
  }
}

package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.nativelib.MooncakeInstaller;
import dev.gatun.nativelib.NativeLibraries;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Reads and writes of an engine with one peer process: launches the Java program, the C program and the C program again in
 * turns, and prints what Java costs beside what chance does.
 *
 * <p>Flags: {@code --engine loopback|mooncake}, {@code --launches}, {@code --blocks}, {@code --batches},
 * {@code --cell-millis}, {@code --output FILE}.
 */
public final class EngineComparison {
  private static final double SPEED_MIN = 0.97;
  private static final String JAVA = "java";
  private static final String PROGRAM = "c";
  private static final String PROGRAM_AGAIN = "cAgain";

  /** For each cell and operation, each program's results, one a launch. */
  private final Map<String, Map<String, List<JsonNode>>> results = new LinkedHashMap<>();

  private EngineComparison() {}

  /**
   * Compares, prints a table, and writes JSON if told to.
   *
   * @param arguments see above
   * @throws IOException if a program cannot be started or a file not be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    String engine = flags.word("--engine", List.of("loopback", "mooncake"));
    int launches = Math.toIntExact(Math.max(1, flags.number("--launches", 10)));
    List<Long> blocks = flags.numbers("--blocks", List.of(65_536L, 1_048_576L));
    List<Long> batches = flags.numbers("--batches", List.of(1L, 16L, 128L));
    long cellMillis = flags.number("--cell-millis", 500);
    String output = flags.text("--output", "");
    flags.requireKnown();
    Path log = Files.createDirectories(Path.of("benchmarks/target")).resolve("engine-comparison.log").toAbsolutePath();
    Files.deleteIfExists(log);
    List<Path> libraries = engine.equals("loopback")
        ? NativeLibraries.locateLoopback().loadOrder()
        : MooncakeInstaller.install(System.err::println).libraries();
    Launcher launcher = new Launcher(log, Map.of("MC_FORCE_TCP", "1"));
    long bytes = blocks.stream().mapToLong(Long::longValue).max().orElseThrow()
        * batches.stream().mapToLong(Long::longValue).max().orElseThrow();
    ObjectNode report = Machine.describe();
    Process peer = launcher.startJava(EnginePeer.class, List.of("--engine", engine, "--bytes", Long.toString(bytes)));
    EngineComparison comparison = new EngineComparison();
    try {
      String line = new BufferedReader(peer.inputReader(StandardCharsets.UTF_8)).readLine();
      if (line == null) throw new IllegalStateException("the peer did not start; see " + log);
      int space = line.indexOf(' ');
      List<String> common = List.of("--peer", line.substring(0, space), "--address", line.substring(space + 1),
          "--bytes", Long.toString(bytes), "--blocks", list(blocks), "--batches", list(batches), "--cell-millis",
          Long.toString(cellMillis));
      for (int launch = 0; launch < launches; launch++) {
        comparison.launch(launch, launcher, engine, libraries, common);
        System.err.printf("launch %d of %d done, load %.1f%n", launch + 1, launches, Machine.load());
      }
    } finally {
      peer.getOutputStream().close(); // it waits for this
    }
    report.put("loadAfter", Machine.load()).put("engine", engine).put("launches", launches)
        .put("cellMillis", cellMillis);
    System.out.print(comparison.text(report));
    if (!output.isEmpty()) Files.writeString(Path.of(output), report.toPrettyString() + "\n");
  }

  /** One launch of each program; which comes first changes, so that none is always the one after a pause. */
  private void launch(int number, Launcher launcher, String engine, List<Path> libraries, List<String> common)
      throws IOException {
    String program = PROGRAM;
    for (int place = 0; place < 3; place++) {
      List<String> command = new ArrayList<>();
      if (place == number % 3) {
        command.addAll(List.of("--engine", engine));
        command.addAll(common);
        add(JAVA, launcher.result(launcher.startJava(EngineLaunch.class, command)));
      } else {
        command.addAll(List.of(CLoop.built("gatun_engine_bench").toString(), "--libraries",
            String.join(",", libraries.stream().map(Path::toString).toList())));
        command.addAll(common);
        add(program, launcher.result(launcher.start(command)));
        program = PROGRAM_AGAIN;
      }
    }
  }

  private void add(String program, JsonNode launched) {
    for (JsonNode cell : launched.path("cells")) {
      for (String operation : List.of("read", "write")) {
        String name = String.format(Locale.ROOT, "%7d x %3d %-5s", cell.path("blockBytes").asLong(),
            cell.path("batch").asInt(), operation);
        results.computeIfAbsent(name, key -> new LinkedHashMap<>())
            .computeIfAbsent(program, key -> new ArrayList<>()).add(cell.path(operation));
      }
    }
  }

  private String text(ObjectNode report) {
    StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%-20s %10s %10s  %-24s %-24s %-24s %s%n", "cell",
        "C us", "Java us", "median C/Java [95 %]", "median C/C [95 %]", "mean C/Java [95 %]", "mean C/C [95 %]"));
    ArrayNode cells = report.putArray("cells");
    List<Double> medians = new ArrayList<>();
    List<Double> chance = new ArrayList<>();
    double allocated = 0;
    for (Map.Entry<String, Map<String, List<JsonNode>>> cell : results.entrySet()) {
      Interval median = ratio(cell.getValue(), "medianNanos", JAVA);
      Interval medianChance = ratio(cell.getValue(), "medianNanos", PROGRAM_AGAIN);
      Interval mean = ratio(cell.getValue(), "meanNanos", JAVA);
      Interval meanChance = ratio(cell.getValue(), "meanNanos", PROGRAM_AGAIN);
      medians.add(median.mean());
      chance.add(medianChance.mean());
      for (JsonNode one : cell.getValue().getOrDefault(JAVA, List.of()))
        allocated = Math.max(allocated, one.path("allocatedBytes").asDouble());
      text.append(String.format(Locale.ROOT, "%-20s %10.1f %10.1f  %-24s %-24s %-24s %s%n", cell.getKey(),
          middle(cell.getValue(), PROGRAM) / 1e3, middle(cell.getValue(), JAVA) / 1e3, median.text("%.3f"),
          medianChance.text("%.3f"), mean.text("%.3f"), meanChance.text("%.3f")));
      ObjectNode json = cells.addObject().put("cell", cell.getKey().strip());
      json.set("medianSpeedOfJava", median.json());
      json.set("medianSpeedOfC", medianChance.json());
      json.set("meanSpeedOfJava", mean.json());
      json.set("meanSpeedOfC", meanChance.json());
      json.put("cNanos", middle(cell.getValue(), PROGRAM)).put("javaNanos", middle(cell.getValue(), JAVA));
    }
    double speed = Interval.ofRatios(medians).mean();
    report.put("geometricMeanSpeedOfJava", speed).put("geometricMeanSpeedOfC", Interval.ofRatios(chance).mean());
    report.put("allocatedBytesMost", allocated);
    return text.append(String.format(Locale.ROOT,
        "Geometric mean of medians: Java %.3f of C's speed, C %.3f of its own (target %.2f or more): %s%n"
            + "Allocated by a batch in steady state, most of all cells: %.3f B (target 0)%n",
        speed, Interval.ofRatios(chance).mean(), SPEED_MIN, speed >= SPEED_MIN ? "met" : "MISSED", allocated))
        .toString();
  }

  /** {@return how fast a program is by the side of the C program, launch by launch} */
  private static Interval ratio(Map<String, List<JsonNode>> cell, String figure, String program) {
    List<JsonNode> c = cell.getOrDefault(PROGRAM, List.of());
    List<JsonNode> other = cell.getOrDefault(program, List.of());
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < Math.min(c.size(), other.size()); i++)
      ratios.add(c.get(i).path(figure).asDouble() / other.get(i).path(figure).asDouble());
    return Interval.ofRatios(ratios);
  }

  private static double middle(Map<String, List<JsonNode>> cell, String program) {
    return cell.getOrDefault(program, List.of()).stream().mapToDouble(one -> one.path("medianNanos").asDouble())
        .sorted().skip(cell.getOrDefault(program, List.of()).size() / 2).findFirst().orElse(0);
  }

  private static String list(List<Long> values) {
    return String.join(",", values.stream().map(String::valueOf).toList());
  }
}

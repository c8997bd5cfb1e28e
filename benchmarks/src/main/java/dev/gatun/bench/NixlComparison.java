package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.nativelib.NixlInstaller;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/**
 * NIXL through Java beside NIXL's own Python API: launches the Java program, the Python program and the Python program
 * again in turns, each reading and writing the pages of one and the same process, and prints how fast Java is beside what
 * chance does. Python runs each batch in both ways that its API has: with descriptors prepared once and indices for each
 * transfer, and with fresh descriptors for each.
 *
 * <p>Flags: {@code --python} (an interpreter with the packages numpy and nixl-cu13), {@code --launches}, {@code --blocks},
 * {@code --batches}, {@code --cell-millis}, {@code --transports} ({@code UCX_TLS} for all), {@code --output FILE}.
 */
public final class NixlComparison {
  private static final double SPEED_MIN = 1.0;
  private static final double SMALL_SPEED_MIN = 2.0;
  private static final long SMALL_BYTES = 4_096;
  private final List<String> common;
  private final Launcher launcher;
  private final Path script;
  private final String python;
  private final Map<NixlCell, NixlFigures> cells = new LinkedHashMap<>();
  private double allocatedBytes;

  private NixlComparison(List<String> common, Launcher launcher, Path script, String python) {
    this.common = common;
    this.launcher = launcher;
    this.script = script;
    this.python = python;
  }

  /**
   * Compares, prints a table, and writes JSON if told to.
   *
   * @param arguments see above
   * @throws IOException if a program cannot be started or a file not be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    int launches = Math.toIntExact(Math.max(1, flags.number("--launches", 7)));
    List<Long> blocks = flags.numbers("--blocks", List.of(4_096L, 65_536L, 1_048_576L));
    List<Long> batches = flags.numbers("--batches", List.of(1L, 16L, 128L));
    long cellMillis = flags.number("--cell-millis", 200);
    String transports = flags.text("--transports", "");
    String python = flags.text("--python", "python3");
    String output = flags.text("--output", "");
    flags.requireKnown();
    NixlInstaller.install(System.err::println);
    Path folder = Files.createDirectories(Path.of("benchmarks/target")).toAbsolutePath();
    Path log = folder.resolve("nixl-comparison.log");
    Files.deleteIfExists(log);
    // the package's RDMA transports end a process in a segmentation fault; Java's runtime has none
    Map<String, String> environment = new LinkedHashMap<>(Map.of("UCX_NET_DEVICES", "lo", "UCX_MODULES", "^ib"));
    if (!transports.isEmpty()) environment.put("UCX_TLS", transports);
    Launcher launcher = new Launcher(log, environment);
    // a cell uses every other slot of a slab
    long bytes = 2 * blocks.stream().mapToLong(Long::longValue).max().orElseThrow()
        * batches.stream().mapToLong(Long::longValue).max().orElseThrow();
    ObjectNode report = Machine.describe();
    Process owner = launcher.startJava(NixlOwner.class, List.of("--bytes", Long.toString(bytes)));
    try {
      String peer = new BufferedReader(owner.inputReader(StandardCharsets.UTF_8)).readLine();
      if (peer == null) throw new IllegalStateException("the owner of the pages did not start; see " + log);
      NixlComparison comparison = new NixlComparison(
          List.of("--peer", peer, "--bytes", Long.toString(bytes), "--blocks",
              list(blocks), "--batches", list(batches), "--cell-millis", Long.toString(cellMillis)),
          launcher,
          script(folder), python);
      for (int launch = 0; launch < launches; launch++) {
        comparison.launch(launch);
        System.err.printf("launch %d of %d done, load %.1f%n", launch + 1, launches, Machine.load());
      }
      report.put("loadAfter", Machine.load()).put("launches", launches).put("cellMillis", cellMillis)
          .put("transports", transports.isEmpty() ? "UCX's choice" : transports)
          .put("nixl", NixlInstaller.VERSION);
      System.out.print(comparison.text(report));
    } finally {
      owner.getOutputStream().close(); // it waits for this
    }
    if (!output.isEmpty()) Files.writeString(Path.of(output), report.toPrettyString() + "\n");
  }

  private static Path script(Path folder) throws IOException {
    Path script = folder.resolve("nixl_launch.py");
    try (InputStream in = NixlComparison.class.getResourceAsStream("nixl_launch.py")) {
      if (in == null) throw new IllegalStateException("nixl_launch.py is not among the classes");
      Files.write(script, in.readAllBytes());
    }
    return script;
  }

  /** One launch of each program; which comes first changes, so that none is always the one after a pause. */
  private void launch(int number) throws IOException {
    String program = NixlFigures.PYTHON;
    for (int place = 0; place < 3; place++) {
      if (place == number % 3) {
        add("", launcher.result(launcher.startJava(NixlLaunch.class, common)));
      } else {
        List<String> command = new ArrayList<>(List.of(python, script.toString()));
        command.addAll(common);
        add(program, launcher.result(launcher.start(command)));
        program = NixlFigures.PYTHON_AGAIN;
      }
    }
  }

  private void add(String program, JsonNode launched) {
    for (JsonNode measured : launched.path("cells")) {
      cells.computeIfAbsent(NixlCell.of(measured), key -> new NixlFigures())
          .add(program + measured.path("way").asText(), measured.path("medianNanos").asDouble());
      allocatedBytes = Math.max(allocatedBytes, measured.path("allocatedBytes").asDouble(0));
    }
  }

  private String text(ObjectNode report) {
    StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%-34s %10s %12s %10s  %-24s %-24s %s%n", "cell",
        "Java us", "prepared us", "fresh us", "Python prepared / Java", "Python fresh / Java", "Python / Python"));
    ArrayNode array = report.putArray("cells");
    List<String> slow = new ArrayList<>();
    cells.forEach((cell, figures) -> {
      ObjectNode json = cell.json();
      figures.addTo(json);
      array.add(json);
      Interval prepared = figures.speed(NixlCell.PREPARED);
      Interval fresh = figures.speed(NixlCell.FRESH);
      if (Math.min(prepared.high(), fresh.high()) < SPEED_MIN) slow.add(cell.toString());
      text.append(String.format(Locale.ROOT, "%-34s %10.1f %12.1f %10.1f  %-24s %-24s %s%n", cell,
          figures.micros(NixlCell.JAVA), figures.micros(NixlFigures.PYTHON + NixlCell.PREPARED),
          figures.micros(NixlFigures.PYTHON + NixlCell.FRESH), prepared.text("%.2f"), fresh.text("%.2f"),
          figures.chance().text("%.2f")));
    });
    ObjectNode means = report.putObject("geometricMeanSpeedOfJava");
    for (String way : List.of(NixlCell.PREPARED, NixlCell.FRESH)) {
      mean(text, means, way, "all cells", SPEED_MIN, cell -> true);
      for (String layout : List.of(NixlCell.SCATTERED, NixlCell.CONSECUTIVE)) {
        mean(text, means, way, "4 KiB " + layout, SMALL_SPEED_MIN,
            cell -> cell.blockBytes() == SMALL_BYTES && cell.layout().equals(layout));
      }
    }
    report.put("allocatedBytesMost", allocatedBytes);
    return text.append(String.format(Locale.ROOT, "Cells whose interval lies below %.1f (target: none): %s%n"
        + "Allocated by a batch in steady state, most of all cells: %.3f B (target 0)%n", SPEED_MIN,
        slow.isEmpty() ? "none, met" : "MISSED, " + String.join(", ", slow), allocatedBytes)).toString();
  }

  private void mean(StringBuilder text, ObjectNode report, String way, String what, double target,
      Predicate<NixlCell> which) {
    List<Double> speeds = cells.entrySet().stream().filter(cell -> which.test(cell.getKey()))
        .map(cell -> cell.getValue().speed(way).mean()).toList();
    if (speeds.isEmpty()) return;
    double mean = Interval.ofRatios(speeds).mean();
    report.put(what + ", " + way, mean);
    text.append(String.format(Locale.ROOT, "Geometric mean, %s: %.2f times Python's speed with %s descriptors (target "
        + "%.1f or more): %s%n", what, mean, way, target, mean >= target ? "met" : "MISSED"));
  }

  private static String list(List<Long> values) {
    return String.join(",", values.stream().map(String::valueOf).toList());
  }
}

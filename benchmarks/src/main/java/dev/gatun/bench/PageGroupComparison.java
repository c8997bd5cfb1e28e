package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.connector.StoreTransferOptions;
import dev.gatun.nativelib.MooncakeInstaller;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.function.ToDoubleFunction;

/**
 * Page groups on a real Mooncake over TCP: a store connector, gather and scatter included, beside Mooncake's own Python
 * client with one key a page in batches of 128, launched in turns against one master. The same client with lists of buffers
 * grouped the same way, and the connector page by page, are reported beside them.
 *
 * <p>Flags: {@code --python FILE} (interpreter) and {@code --python-path DIR} (where the package {@code mooncake} of the
 * installed runtime's version lies); without the latter the connector page by page is the baseline, and the report says so.
 * {@code --launches}, {@code --pages}, {@code --groups}, {@code --blocks}, {@code --cell-millis}, {@code --staging},
 * {@code --output FILE}.
 */
public final class PageGroupComparison {
  private static final String PYTHON = "python";
  private static final String GROUPED = "storeConnector";
  private static final String SINGLE_PAGES = "storeConnectorSinglePages";
  private static final List<String> OPERATIONS = List.of("put", "get");
  /** The project's targets, by page size. */
  private static final Map<Long, Double> SPEED_MIN = Map.of(4_096L, 5.0, 65_536L, 1.8);
  private static final long SEGMENT_BYTES = 1L << 30;

  private final List<String> shared;
  private final String staging;
  private final List<String> python;
  private final Topology topology;
  /** Figures of the launches, by page size, operation and peer. */
  private final Map<Long, Map<String, Map<String, List<Figures>>>> figures = new LinkedHashMap<>();
  private final Map<Long, Integer> groups = new LinkedHashMap<>();

  /**
   * What a launch measured. The low decile tells more than the median where other work disturbs most operations.
   *
   * @param medianNanos median of the operation
   * @param lowNanos its low decile
   */
  private record Figures(double medianNanos, double lowNanos) {}

  private PageGroupComparison(List<String> shared, String staging, List<String> python, Topology topology) {
    this.shared = shared;
    this.staging = staging;
    this.python = python;
    this.topology = topology;
  }

  /**
   * Compares, prints a table, and writes JSON if told to.
   *
   * @param arguments see above
   * @throws IOException if a program cannot be started or a file not be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    int launches = Math.toIntExact(Math.max(1, flags.number("--launches", 5)));
    List<Long> pages = flags.numbers("--pages", List.of(4_096L, 65_536L));
    List<Long> groups = flags.numbers("--groups", pages.stream()
        .map(bytes -> (long) StoreTransferOptions.forPages(bytes).blocksPerGroup()).toList());
    List<String> shared = List.of("--pages", list(pages), "--groups", list(groups), "--blocks",
        Long.toString(flags.number("--blocks", 128)), "--cell-millis",
        Long.toString(flags.number("--cell-millis", 1000)));
    String staging = Long.toString(flags.number("--staging", StoreTransferOptions.SINGLE_PAGES.stagingBytes()));
    String path = flags.text("--python-path", "");
    List<String> python = path.isEmpty() ? List.of() : python(flags.text("--python", "python3"), Path.of(path));
    String output = flags.text("--output", "");
    flags.requireKnown();
    Path log = Files.createDirectories(Path.of("benchmarks/target")).resolve("page-groups.log").toAbsolutePath();
    Files.deleteIfExists(log);
    ObjectNode report = Machine.describe();
    try (Topology topology = Topology.mooncake("tcp", SEGMENT_BYTES, log)) {
      PageGroupComparison comparison = new PageGroupComparison(shared, staging, python, topology);
      for (int launch = 0; launch < launches; launch++) {
        comparison.launch(launch % 2 == 0);
        System.err.printf("launch %d of %d done, load %.1f%n", launch + 1, launches, Machine.load());
      }
      report.put("loadAfter", Machine.load()).put("topology", topology.name()).put("launches", launches);
      comparison.addTo(report);
    }
    if (!output.isEmpty()) Files.writeString(Path.of(output), report.toPrettyString() + "\n");
  }

  /** The libraries of the installed runtime stand in for what the package's own are linked to. */
  private static List<String> python(String interpreter, Path packages) {
    Path libraries = MooncakeInstaller.install(System.err::println).libraries().getLast().getParent();
    return List.of("env", "PYTHONPATH=" + packages.toAbsolutePath(),
        "LD_LIBRARY_PATH=" + libraries + File.pathSeparator + System.getenv().getOrDefault("LD_LIBRARY_PATH", ""),
        interpreter, Path.of("benchmarks/python/page_groups.py").toAbsolutePath().toString());
  }

  private void launch(boolean javaFirst) throws IOException {
    if (javaFirst) launchJava();
    if (!python.isEmpty()) {
      List<String> command = new ArrayList<>(python);
      command.addAll(shared);
      command.addAll(master());
      add(topology.launcher().result(topology.launcher().start(command)));
    }
    if (!javaFirst) launchJava();
  }

  private void launchJava() throws IOException {
    List<String> flags = new ArrayList<>(shared);
    flags.addAll(master());
    flags.addAll(List.of("--staging", staging));
    add(topology.launcher().result(topology.launcher().startJava(PageGroupLaunch.class, flags)));
  }

  private List<String> master() {
    List<String> flags = topology.commonFlags();
    int at = flags.indexOf("--master");
    return flags.subList(at, at + 2);
  }

  private void add(JsonNode launched) {
    for (JsonNode cell : launched.path("cells")) {
      long pageBytes = cell.path("pageBytes").asLong();
      groups.put(pageBytes, Math.max(groups.getOrDefault(pageBytes, 1), cell.path("group").asInt()));
      for (String operation : OPERATIONS) {
        figures.computeIfAbsent(pageBytes, fresh -> new LinkedHashMap<>())
            .computeIfAbsent(operation, fresh -> new LinkedHashMap<>())
            .computeIfAbsent(cell.path("peer").asText(), fresh -> new ArrayList<>())
            .add(new Figures(cell.path(operation).path("medianNanos").asDouble(),
                cell.path(operation).path("p10Nanos").asDouble()));
      }
    }
  }

  private void addTo(ObjectNode report) {
    String baseline = python.isEmpty() ? SINGLE_PAGES : PYTHON;
    report.put("baseline", python.isEmpty() ? "the connector page by page: no Python client was given" : PYTHON);
    ArrayNode cells = report.putArray("cells");
    System.out.printf("%8s %6s %5s  %-28s %10s  %-24s %s%n", "page", "group", "", "peer", "median us", "speed [95 %]",
        "of low deciles [95 %]");
    for (Entry<Long, Map<String, Map<String, List<Figures>>>> page : figures.entrySet()) {
      for (Entry<String, Map<String, List<Figures>>> operation : page.getValue().entrySet())
        addCell(cells.addObject(), page.getKey(), operation.getKey(), operation.getValue(), baseline);
    }
  }

  private void addCell(ObjectNode cell, long pageBytes, String operation, Map<String, List<Figures>> peers,
      String baseline) {
    cell.put("pageBytes", pageBytes).put("group", groups.get(pageBytes)).put("operation", operation);
    peers.forEach((peer, measured) -> {
      ObjectNode json = cell.putObject(peer);
      ArrayNode medians = json.putArray("medianNanos");
      ArrayNode lows = json.putArray("lowDecileNanos");
      measured.forEach(each -> {
        medians.add(each.medianNanos);
        lows.add(each.lowNanos);
      });
      List<Figures> base = peers.getOrDefault(baseline, measured);
      Interval speed = speed(base, measured, Figures::medianNanos);
      Interval low = speed(base, measured, Figures::lowNanos);
      json.set("speedAgainstBaseline", speed.json());
      json.set("speedOfLowDeciles", low.json());
      double mean = measured.stream().mapToDouble(Figures::medianNanos).average().orElseThrow();
      System.out.printf(Locale.ROOT, "%8d %6d %5s  %-28s %10.0f  %-24s %s%s%n", pageBytes, groups.get(pageBytes),
          operation, peer, mean / 1e3, speed.text("%.2f"), low.text("%.2f"),
          peer.equals(GROUPED) ? verdict(pageBytes, speed) : "");
    });
  }

  private static Interval speed(List<Figures> base, List<Figures> measured, ToDoubleFunction<Figures> figure) {
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < measured.size(); i++)
      ratios.add(figure.applyAsDouble(base.get(i)) / figure.applyAsDouble(measured.get(i)));
    return Interval.ofRatios(ratios);
  }

  private static String verdict(long pageBytes, Interval speed) {
    Double target = SPEED_MIN.get(pageBytes);
    if (target == null) return "";
    return String.format(Locale.ROOT, "  (target %.1f: %s)", target, speed.mean() >= target ? "met" : "MISSED");
  }

  private static String list(List<Long> values) {
    return String.join(",", values.stream().map(String::valueOf).toList());
  }
}

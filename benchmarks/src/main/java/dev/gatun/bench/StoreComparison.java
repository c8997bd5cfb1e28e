package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.StoreOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Launches the Java program, the C program and the C program again in turns, on the embedded library or on a real
 * Mooncake over a master of its own, and prints what Java costs beside what chance does.
 *
 * <p>Flags: {@code --library loopback|mooncake}, {@code --topology local|tcp} (where the store's memory is),
 * {@code --launches}, {@code --output FILE}, and those of {@link LaunchOptions} for cells and times.
 */
public final class StoreComparison {
  private final LaunchOptions options;
  private final Topology topology;
  private final Map<String, ComparedCell> compared = new LinkedHashMap<>();

  private StoreComparison(LaunchOptions options, Topology topology) {
    this.options = options;
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
    int launches = Math.toIntExact(Math.max(1, flags.number("--launches", 10)));
    String topologyName = flags.word("--topology", List.of("local", "tcp"));
    String output = flags.text("--output", "");
    LaunchOptions options = LaunchOptions.parse(flags);
    Path log = Files.createDirectories(Path.of("benchmarks/target")).resolve("store-comparison.log").toAbsolutePath();
    Files.deleteIfExists(log);
    ObjectNode report = Machine.describe();
    try (Topology topology = topology(options, topologyName, log)) {
      StoreComparison comparison = new StoreComparison(options, topology);
      for (int launch = 0; launch < launches; launch++) {
        comparison.launch(launch);
        System.err.printf("launch %d of %d done, load %.1f%n", launch + 1, launches, Machine.load());
      }
      report.put("loadAfter", Machine.load()).put("library", options.store().library())
          .put("topology", topology.name()).put("launches", launches).put("cellMillis", options.cellMillis());
      ComparisonReport result = new ComparisonReport(List.copyOf(comparison.compared.values()));
      result.addTo(report);
      System.out.print(result.text());
    }
    if (!output.isEmpty()) Files.writeString(Path.of(output), report.toPrettyString() + "\n");
  }

  private static Topology topology(LaunchOptions options, String name, Path log) {
    long segmentBytes = options.store().segmentBytes();
    return options.store().library().equals(StoreOptions.LOOPBACK)
        ? Topology.loopback(segmentBytes, log)
        : Topology.mooncake(name, segmentBytes, log);
  }

  /** One launch of each program; which comes first changes, so that none is always the one after a pause. */
  private void launch(int number) throws IOException {
    int javaPlace = number % 3;
    String program = ComparedCell.PROGRAM;
    for (int place = 0; place < 3; place++) {
      if (place == javaPlace) {
        add(topology.launcher().result(topology.launcher().startJava(StoreLaunch.class, javaArguments())), "");
      } else {
        add(topology.launcher().result(topology.launcher().start(programCommand())), program);
        program = ComparedCell.PROGRAM_AGAIN;
      }
    }
  }

  private void add(JsonNode launched, String program) {
    for (JsonNode measured : launched.path("cells")) {
      StoreCell cell = new StoreCell(measured.path("pageBytes").asLong(), measured.path("batch").asInt());
      String peer = measured.path("peer").asText(program);
      for (StoreOperation operation : options.operations()) {
        String name = measured.has(operation.text()) ? operation.text() : operation.inC().text();
        if (!measured.has(name)) continue;
        ComparedCell known = compared.get(cell + " " + operation);
        if (known == null) {
          known = new ComparedCell(cell, operation);
          compared.put(cell + " " + operation, known);
        }
        known.add(peer, measured.path(name));
      }
    }
  }

  private List<String> javaArguments() {
    List<String> arguments = new ArrayList<>(topology.javaFlags());
    arguments.addAll(commonArguments());
    arguments.addAll(List.of("--peers", String.join(",", options.peers()), "--operations",
        String.join(",", options.operations().stream().map(StoreOperation::text).toList()), "--warm-millis",
        Long.toString(options.warmMillis())));
    return arguments;
  }

  private List<String> programCommand() {
    List<String> command = new ArrayList<>(List.of(CLoop.built("gatun_c_bench").toString()));
    command.addAll(topology.programFlags());
    command.addAll(commonArguments());
    command.add("--no-memcpy");
    if (!options.operations().contains(StoreOperation.EXISTS)) command.add("--no-exists");
    return command;
  }

  private List<String> commonArguments() {
    List<StoreCell> cells = options.cells();
    List<String> arguments = new ArrayList<>(topology.commonFlags());
    arguments.addAll(List.of("--pages", list(cells.stream().map(StoreCell::pageBytes).toList()), "--batches",
        list(cells.stream().map(cell -> (long) cell.batch()).toList()), "--max-batch",
        Long.toString(cells.stream().mapToLong(StoreCell::bytes).max().orElseThrow()), "--cell-millis",
        Long.toString(options.cellMillis()), "--min-iterations", Integer.toString(options.iterationsMin()),
        "--local-buffer", Long.toString(options.store().localBufferBytes())));
    return arguments;
  }

  private static String list(List<Long> values) {
    return String.join(",", values.stream().distinct().sorted().map(String::valueOf).toList());
  }
}

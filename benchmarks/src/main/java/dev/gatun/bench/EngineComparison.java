package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.nativelib.MooncakeInstaller;
import dev.gatun.nativelib.NativeLibraries;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes of an engine with one peer process: launches the Java program, the C program, the library's own
 * benchmark if it is given, and the C program again in turns, and prints what Java costs beside what chance does.
 *
 * <p>Flags: {@code --engine loopback|mooncake}, {@code --upstream FILE} (the {@code transfer_engine_bench} of the package
 * that the runtime was installed from), {@code --upstream-seconds}, {@code --launches}, {@code --blocks},
 * {@code --batches}, {@code --cell-millis}, {@code --output FILE}.
 */
public final class EngineComparison {
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
    String upstream = flags.text("--upstream", "");
    long upstreamSeconds = Math.max(1, flags.number("--upstream-seconds", 1));
    String output = flags.text("--output", "");
    flags.requireKnown();
    Path log = Files.createDirectories(Path.of("benchmarks/target")).resolve("engine-comparison.log").toAbsolutePath();
    Files.deleteIfExists(log);
    List<Path> libraries = engine.equals("loopback")
        ? NativeLibraries.locateLoopback().loadOrder()
        : MooncakeInstaller.install(System.err::println).libraries();
    Launcher launcher = new Launcher(log, EnginePrograms.environment());
    long bytes = blocks.stream().mapToLong(Long::longValue).max().orElseThrow()
        * batches.stream().mapToLong(Long::longValue).max().orElseThrow();
    ObjectNode report = Machine.describe();
    EngineFigures figures = new EngineFigures();
    Process peer = launcher.startJava(EnginePeer.class, List.of("--engine", engine, "--bytes", Long.toString(bytes)));
    try {
      String line = new BufferedReader(peer.inputReader(StandardCharsets.UTF_8)).readLine();
      if (line == null) throw new IllegalStateException("the peer did not start; see " + log);
      int space = line.indexOf(' ');
      List<String> common = List.of("--peer", line.substring(0, space), "--address", line.substring(space + 1),
          "--bytes", Long.toString(bytes), "--blocks", list(blocks), "--batches", list(batches), "--cell-millis",
          Long.toString(cellMillis));
      @Nullable
      UpstreamBench bench = upstream.isEmpty()
          ? null
          : new UpstreamBench(Path.of(upstream).toAbsolutePath(),
              libraries.getLast().resolveSibling("").toAbsolutePath(),
              line.substring(0, space), bytes, blocks, batches, upstreamSeconds);
      EnginePrograms programs = new EnginePrograms(launcher, engine, libraries, common, bench);
      for (int launch = 0; launch < launches; launch++) {
        programs.launch(launch, figures);
        System.err.printf("launch %d of %d done, load %.1f%n", launch + 1, launches, Machine.load());
      }
    } finally {
      peer.getOutputStream().close(); // it waits for this
    }
    report.put("loadAfter", Machine.load()).put("engine", engine).put("launches", launches)
        .put("cellMillis", cellMillis);
    System.out.print(figures.report(report));
    if (!output.isEmpty()) Files.writeString(Path.of(output), report.toPrettyString() + "\n");
  }

  private static String list(List<Long> values) {
    return String.join(",", values.stream().map(String::valueOf).toList());
  }
}

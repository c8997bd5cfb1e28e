package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The programs of {@link EngineComparison}, launched one at a time against one peer process. */
final class EnginePrograms {
  static final String JAVA = "java";
  static final String PROGRAM = "c";
  static final String PROGRAM_AGAIN = "cAgain";
  static final String UPSTREAM = "upstream";

  private final Launcher launcher;
  private final String engine;
  private final List<Path> libraries;
  private final List<String> common;
  private final @Nullable UpstreamBench upstream;

  /**
   * @param libraries of the engine, in the order of loading
   * @param common flags of the Java and the C program
   * @param upstream the library's own benchmark, null to leave it out
   */
  EnginePrograms(Launcher launcher, String engine, List<Path> libraries, List<String> common,
      @Nullable UpstreamBench upstream) {
    this.launcher = launcher;
    this.engine = engine;
    this.libraries = List.copyOf(libraries);
    this.common = List.copyOf(common);
    this.upstream = upstream;
  }

  /** Launches each program once; which comes first changes, so that none is always the one after a pause. */
  void launch(int number, EngineFigures figures) throws IOException {
    List<String> order = new ArrayList<>(List.of(JAVA, PROGRAM, PROGRAM_AGAIN));
    if (upstream != null) order.add(2, UPSTREAM);
    for (int place = 0; place < order.size(); place++) {
      String program = order.get((place + number) % order.size());
      figures.add(program, launch(program));
    }
  }

  private Iterable<JsonNode> launch(String program) throws IOException {
    if (program.equals(UPSTREAM) && upstream != null) return upstream.cells(launcher);
    List<String> command = new ArrayList<>();
    if (program.equals(JAVA)) {
      command.addAll(List.of("--engine", engine));
      command.addAll(common);
      return launcher.result(launcher.startJava(EngineLaunch.class, command)).path("cells");
    }
    command.addAll(List.of(CLoop.built("gatun_engine_bench").toString(), "--libraries",
        String.join(",", libraries.stream().map(Path::toString).toList())));
    command.addAll(common);
    return launcher.result(launcher.start(command)).path("cells");
  }

  /** The environment of every program. */
  static Map<String, String> environment() {
    return Map.of("MC_FORCE_TCP", "1");
  }
}

package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs {@link ChildMain} in a JVM of its own, for what a test JVM cannot undo: loaded libraries, refused access, exits.
 */
final class ChildJvm {
  private static final Path TARGET = Path.of(System.getProperty("basedir"), "target").toAbsolutePath();
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final List<String> flags = new ArrayList<>();
  private final Map<String, String> environment = new LinkedHashMap<>();
  private boolean onModulePath;

  /** What the child printed, and how it ended. */
  record Ended(int code, String out, String err) {
    /** The value after the last {@code name=}. */
    String value(String name) {
      String start = name + "=";
      return out.lines().filter(line -> line.startsWith(start)).reduce((first, last) -> last)
          .orElseThrow(() -> new AssertionError("no " + start + " in\n" + this)).substring(start.length());
    }

    @Override
    public String toString() {
      return "exit code " + code + "\n" + out + "\n" + err;
    }
  }

  ChildJvm flag(String flag) {
    flags.add(flag);
    return this;
  }

  ChildJvm environment(String name, String value) {
    environment.put(name, value);
    return this;
  }

  ChildJvm onModulePath() {
    onModulePath = true;
    return this;
  }

  static ChildJvm granted() {
    return new ChildJvm().flag("--enable-native-access=ALL-UNNAMED").flag("--illegal-native-access=deny");
  }

  Process start(Path out, Path err, String... arguments) throws IOException {
    List<String> program = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx256m", "-XX:ErrorFile=" + TARGET.resolve("hs_err_child_%p.log")));
    for (String passed : List.of(CacheDirectory.PROPERTY, "gatun.marker.library", "gatun.loopback.library")) {
      if (System.getProperty(passed) != null) program.add("-D" + passed + "=" + System.getProperty(passed));
    }
    program.addAll(flags);
    String classes = TARGET.resolve("classes").toString();
    String tests = TARGET.resolve("test-classes").toString();
    if (onModulePath) {
      program.addAll(List.of("-p", classes, "--patch-module", "dev.gatun.nativelib=" + tests, "-m",
          "dev.gatun.nativelib/" + ChildMain.class.getName()));
    } else {
      program.addAll(List.of("-cp", classes + ":" + tests, ChildMain.class.getName()));
    }
    program.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(program).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().putAll(environment);
    return builder.start();
  }

  Ended run(String... arguments) {
    try {
      Path out = Files.createTempFile("child-", ".out");
      Path err = Files.createTempFile("child-", ".err");
      try {
        Process process = start(out, err, arguments);
        boolean ended = process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        process.destroyForcibly().waitFor();
        Ended result = new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
        if (!ended) throw new AssertionError("child did not end within " + LIMIT + ": " + result);
        return result;
      } finally {
        Files.delete(out);
        Files.delete(err);
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}

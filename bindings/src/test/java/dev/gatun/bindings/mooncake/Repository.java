package dev.gatun.bindings.mooncake;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Where the sources are, and the programs that a test runs on them. */
final class Repository {
  static final Path ROOT = Path.of(property("gatun.root"));
  static final Path ABI = ROOT.resolve("native/abi");
  private static final int PROGRAM_SECONDS_MAX = 120; // bounds a hang; a compile takes about one second

  private Repository() {}

  static String property(String name) {
    String value = System.getProperty(name);
    if (value == null) {
      throw new AssertionError("system property " + name + " is not set: run this test through Maven");
    }
    return value;
  }

  /** Every Java source that is shipped: of all modules, generated ones included, tests not. */
  static Stream<Path> javaSources() throws IOException {
    List<Path> sources;
    try (Stream<Path> files = Files.walk(ROOT)) {
      sources = files.filter(file -> file.toString().endsWith(".java"))
          .filter(
              file -> file.toString().contains("/src/main/java/") || file.toString().contains("/src/generated/java/"))
          .toList();
    }
    for (String module : List.of("native", "bindings", "core", "src", "benchmarks")) {
      if (sources.stream().noneMatch(file -> file.startsWith(ROOT.resolve(module))))
        throw new AssertionError("no sources of " + module + " under " + ROOT);
    }
    return sources.stream();
  }

  /** A file that the native module has built. */
  static Path built(String name) {
    Path file = Path.of(property("gatun.native.out"), name);
    if (!Files.exists(file)) {
      throw new AssertionError("no " + file + "; build the native module first: mvn package -pl native");
    }
    return file;
  }

  /** Compiles with the C++ compiler that the native module needs anyway. */
  static void compile(String... arguments) throws IOException, InterruptedException {
    String[] command = new String[arguments.length + 1];
    command[0] = "c++";
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    run(List.of(command));
  }

  /** Runs a program and returns what it printed, or fails with that. */
  static String run(List<String> command) throws IOException, InterruptedException {
    Path output = Files.createTempFile("gatun", ".out");
    Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
    boolean ended = process.waitFor(PROGRAM_SECONDS_MAX, TimeUnit.SECONDS);
    if (!ended) {
      process.destroyForcibly();
    }
    String printed = Files.readString(output);
    Files.delete(output);
    if (!ended || process.exitValue() != 0) {
      throw new AssertionError(
          command + (ended ? " exited with " + process.exitValue() : " did not end") + ":\n" + printed);
    }
    return printed;
  }
}

package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.console.Json;
import dev.gatun.cli.console.JsonFields;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The command in a process of its own, as users run it, with the modules of this test. */
final class GatunProcess implements AutoCloseable {
  private static final long LIMIT_SECONDS = 300;

  private final List<String> command;
  private final Path out;
  private final Path err;
  private final Process process;

  private GatunProcess(List<String> properties, List<String> arguments) throws IOException {
    // the first compiler alone: these commands are short, and most of their time would be compiling
    command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx1g",
        "-XX:TieredStopAtLevel=1"));
    System.getProperties().forEach((name, value) -> {
      if (name.toString().startsWith("gatun.")) command.add("-D" + name + '=' + value);
    });
    command.addAll(properties);
    String modules = System.getProperty("jdk.module.path");
    if (modules != null) {
      command.addAll(List.of("--enable-native-access=dev.gatun.nativelib,dev.gatun.bindings,dev.gatun.core",
          "--illegal-native-access=deny", "-p", modules, "-m", "dev.gatun.cli/dev.gatun.cli.Gatun"));
    } else {
      command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
          "dev.gatun.cli.Gatun"));
    }
    command.addAll(arguments);
    out = Files.createTempFile("gatun-test-", ".out");
    err = Files.createTempFile("gatun-test-", ".err");
    process = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
  }

  /** What a command that has ended left behind. */
  record Outcome(int code, String out, String err) {

    JsonFields json() {
      return new JsonFields(Json.parse(out));
    }

    Outcome exits(int expected) {
      assertEquals(expected, code, () -> "out: " + out + "\nerr: " + err);
      return this;
    }

    Outcome says(String expected) {
      assertTrue(err.contains(expected), () -> "expected \"" + expected + "\" in: " + err);
      return this;
    }

    long number(String field) {
      return json().number(field).longValue();
    }
  }

  static Outcome run(String... arguments) throws Exception {
    return run(List.of(), arguments);
  }

  static Outcome run(List<String> properties, String... arguments) throws Exception {
    try (GatunProcess started = new GatunProcess(properties, List.of(arguments))) {
      return started.await();
    }
  }

  static GatunProcess start(String... arguments) throws IOException {
    return start(List.of(), arguments);
  }

  static GatunProcess start(List<String> properties, String... arguments) throws IOException {
    return new GatunProcess(properties, List.of(arguments));
  }

  Outcome await() throws Exception {
    assertTrue(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS), () -> "did not end: " + command);
    return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  /** Waits until the whole of standard output is one JSON object. */
  JsonFields awaitJson() throws Exception {
    long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (true) {
      String text = Files.readString(out);
      if (text.endsWith("}\n")) return new JsonFields(Json.parse(text));
      assertTrue(process.isAlive(), () -> "ended: " + errors());
      assertTrue(System.nanoTime() < giveUpAt, () -> "no JSON: " + errors());
      Thread.onSpinWait();
    }
  }

  /** Waits until standard error holds a text. */
  void awaitErrors(String text) {
    long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (!errors().contains(text)) {
      assertTrue(process.isAlive(), () -> "ended: " + errors());
      assertTrue(System.nanoTime() < giveUpAt, () -> "no " + text + ": " + errors());
      Thread.onSpinWait();
    }
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  private String errors() {
    try {
      return Files.readString(err);
    } catch (IOException gone) {
      return gone.toString();
    }
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly().onExit().join();
    Files.deleteIfExists(out);
    Files.deleteIfExists(err);
  }
}

package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gatun.nativelib.Leftovers;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Starts programs, one at a time, with JSON on their standard output; their standard error goes to one log. */
final class Launcher {
  private static final long MINUTES_MAX = 15;

  private final Path log;
  private final Map<String, String> environment;

  /**
   * @param log receives what the programs and the native libraries say
   * @param environment variables for every program
   */
  Launcher(Path log, Map<String, String> environment) {
    this.log = log;
    this.environment = Map.copyOf(environment);
  }

  /** Starts this JVM again, with the same classes and flags, for another main class. */
  Process startJava(Class<?> main, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(arguments);
    return start(command);
  }

  Process start(List<String> command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command)
        .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(environment);
    return Leftovers.start(builder);
  }

  /** Waits for a program that ends by itself. {@return the JSON that it printed} */
  JsonNode result(Process process) {
    try {
      return new ObjectMapper().readTree(text(process));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for a program that ends by itself. {@return what it printed} */
  String text(Process process) {
    try (InputStream printed = process.getInputStream()) {
      String output = new String(printed.readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(MINUTES_MAX, TimeUnit.MINUTES) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new IllegalStateException(
            "a launch failed, output so far:\n" + output + "\nend of " + log + ":\n" + tail());
      }
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** {@return the end of the log} */
  String tail() throws IOException {
    List<String> lines = Files.readAllLines(log, StandardCharsets.ISO_8859_1);
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
  }
}

package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A finished program run.
 *
 * @param code exit code
 * @param output what it wrote to both streams
 */
record Command(int code, String output) {

  /**
   * Runs a program to its end.
   *
   * @throws IOException if it cannot be started
   * @throws LibraryUnavailableException if it does not end in time or the wait is interrupted
   */
  static Command run(List<String> program, Duration limit) throws IOException {
    Path output = Leftovers.temporaryFile("gatun-command-", ".out");
    try {
      Process process = Leftovers.start(
          new ProcessBuilder(program).redirectErrorStream(true).redirectOutput(output.toFile()));
      process.getOutputStream().close();
      boolean ended = await(process, limit);
      String text = Files.readString(output, StandardCharsets.ISO_8859_1);
      if (ended) return new Command(process.exitValue(), text);
      throw new LibraryUnavailableException(
          "did not end within " + limit.toSeconds() + " s: " + String.join(" ", program) + "\n" + tail(text, 10),
          List.of(), "run it by hand to see why");
    } finally {
      Leftovers.delete(output);
    }
  }

  private static boolean await(Process process, Duration limit) {
    try {
      return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      process.destroyForcibly(); // nothing to do for one that has ended
    }
  }

  /** The last lines of a text. */
  static String tail(String text, int lines) {
    List<String> all = text.lines().toList();
    return String.join("\n", all.subList(Math.max(0, all.size() - lines), all.size()));
  }
}

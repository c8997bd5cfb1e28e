package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A replay on the embedded store that is told to end by a signal. */
class EndedFromOutsideTest {
  @TempDir
  Path temporary;

  @ParameterizedTest
  @CsvSource({"TERM, 143", "INT, 130", "HUP, 129"})
  @DisplayName("a signal ends a replay with its code, without a word, and no temporary file stays")
  void replay(String signal, int code) throws Exception {
    // as soon as there is something to leave behind, and in the middle of the work
    for (String point : List.of("log", "requests")) {
      try (GatunProcess replay = GatunProcess.start(properties(temporary), "replay", "--speed", "trace",
          "--page-bytes", "4k")) {
        if (point.equals("log")) awaitFile(replay, temporary, "gatun-");
        else
          replay.awaitErrors("of 1,000 requests");
        signal(replay, signal);
        GatunProcess.Outcome outcome = replay.await().exits(code);
        assertTrue(!outcome.err().contains("gatun: "), outcome.err());
        assertEquals(List.of(), files(temporary));
      }
    }
  }

  static List<String> properties(Path temporary) {
    return List.of("-Djava.io.tmpdir=" + temporary);
  }

  static void signal(GatunProcess process, String signal) throws Exception {
    assertEquals(0, new ProcessBuilder("kill", "-" + signal, Long.toString(process.handle().pid())).start().waitFor());
  }

  /** Waits until a name in the folder, or below it, begins so. */
  static void awaitFile(GatunProcess process, Path folder, String prefix) throws IOException {
    long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (files(folder).stream().noneMatch(name -> name.startsWith(prefix))) {
      assertTrue(process.handle().isAlive(), "it ended before there was a " + prefix);
      assertTrue(System.nanoTime() < giveUpAt, () -> "no " + prefix);
      Thread.onSpinWait();
    }
  }

  static List<String> files(Path folder) {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(path -> !path.equals(folder)).map(path -> path.getFileName().toString()).sorted().toList();
    } catch (IOException | java.io.UncheckedIOException changing) {
      return List.of("a folder that is changing: " + changing.getMessage());
    }
  }
}

package dev.gatun.cli.pd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A side that does not do what it should. */
class PdChildTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @TempDir
  Path folder;

  private PdChild child(Duration answerMax, String... command) throws Exception {
    return new PdChild(PdSide.DECODE, List.of(command), folder.resolve("log"), answerMax);
  }

  @Test
  @DisplayName("K7.03 a side that does not answer is ended at the deadline, by name; nobody waits for ever")
  void silent() throws Exception {
    try (PdChild child = child(Duration.ofMillis(1), "sleep", "60")) {
      String message = String.valueOf(
          assertThrows(PdChild.Ended.class, () -> child.ask(PdProtocol.BLOCKS, Map.of())).getMessage());
      assertTrue(message.startsWith("decode (process "), message);
      assertTrue(message.contains(" did not answer blocks within PT0.001S and was ended; its log: "), message);
      assertTrue(child.hasEnded());
    }
  }

  @Test
  @DisplayName("a side that ends instead of answering is told apart from one that is silent")
  void ended() throws Exception {
    try (PdChild child = child(LIMIT, "sh", "-c", "read line; exit 3")) {
      String message = String.valueOf(
          assertThrows(PdChild.Ended.class, () -> child.ask(PdProtocol.BLOCKS, Map.of())).getMessage());
      assertTrue(message.contains(") ended before its work did: exit code 3; its log: "), message);
    }
  }

  @Test
  @DisplayName("a side that has not opened yet has no blocks: the other may be killed as early")
  void notOpen() throws Exception {
    try (PdChild child = new PdChild(PdSide.DECODE, folder.resolve("log"), LIMIT)) {
      assertEquals(0, child.ask(PdProtocol.BLOCKS, Map.of()).number("blocks").intValue());
      assertEquals(0, child.ask(PdProtocol.BLOCKS, Map.of()).number("free").intValue());
    }
  }

  @Test
  @DisplayName("answers are read line by line, each for its question")
  void answers() throws Exception {
    try (PdChild child = child(LIMIT, "sh", "-c",
        "read a; echo '{\"answer\":{\"n\":1}}'; read b; echo '{\"answer\":{\"n\":2}}'; read c")) {
      assertEquals(1, child.ask(PdProtocol.BLOCKS, Map.of()).number("n").intValue());
      assertEquals(2, child.ask(PdProtocol.BLOCKS, Map.of()).number("n").intValue());
    }
  }
}

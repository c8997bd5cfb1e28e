package dev.gatun.cli.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceReaderTest {
  private static final String GOOD = "{\"timestamp\": 5, \"input_length\": 6758, \"output_length\": 500, \"hash_ids\": [7, -9, 8]}\n";

  @TempDir
  Path folder;

  @Test
  @DisplayName("requests, chains and predecessors are read; unknown fields and the last line end do not matter")
  void readsRequests() throws Exception {
    Trace trace = read(GOOD
        + "{\"hash_ids\":[7,-9,11],\"model\":{\"a\":[1]},\"timestamp\":5,\"input_length\":0,\"output_length\":0}");
    assertEquals(2, trace.requests());
    assertEquals(6, trace.blocks());
    assertEquals(4, trace.distinctBlocks());
    assertEquals(-9, trace.hashId(trace.block(1, 1)));
    assertEquals(Trace.NONE, trace.predecessor(trace.block(1, 0)));
    assertEquals(trace.block(0, 1), trace.predecessor(trace.block(1, 2)));
    assertEquals(0, trace.contradictions());
  }

  @Test
  @DisplayName("a block after another one than at first is counted and keeps its first predecessor")
  void countsContradictions() throws Exception {
    Trace trace = read(GOOD + GOOD.replace("7, -9, 8", "-9, 7"));
    assertEquals(2, trace.contradictions());
    assertEquals(trace.block(0, 0), trace.predecessor(trace.block(1, 0)));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '\'', value = {
      "'{\"timestamp\": 1'                                                               | not JSON",
      "'[1]'                                                                             | not a JSON object",
      "''                                                                                | empty",
      "'{\"timestamp\":1,\"input_length\":1,\"output_length\":1}'                        | hash_ids is missing",
      "'{\"timestamp\":1,\"input_length\":1,\"hash_ids\":[]}'                            | output_length is missing",
      "'{\"input_length\":1,\"output_length\":1,\"hash_ids\":[]}'                        | timestamp is missing",
      "'{\"timestamp\":-1,\"input_length\":1,\"output_length\":1,\"hash_ids\":[]}'       | timestamp must be 0 or more: -1",
      "'{\"timestamp\":1.5,\"input_length\":1,\"output_length\":1,\"hash_ids\":[]}'      | timestamp must be a whole number: 1.5",
      "'{\"timestamp\":9,\"input_length\":1,\"output_length\":1,\"hash_ids\":[1,\"x\"]}' | hash_ids[1] must be a whole number: x",
      "'{\"timestamp\":9,\"input_length\":1,\"output_length\":1,\"hash_ids\":[[]]}'      | hash_ids[0] must be a whole number: [",
      "'{\"timestamp\":9,\"input_length\":1,\"output_length\":1,\"hash_ids\":{}}'        | hash_ids must be an array",
      "'{\"timestamp\":9,\"input_length\":1,\"output_length\":1,\"hash_ids\":[99999999999999999999]}' | must fit in 64 bits",
      "'{\"timestamp\":9,\"input_length\":1,\"output_length\":1,\"hash_ids\":[3,3]}'     | hash_ids holds 3 twice",
      "'{\"timestamp\":4,\"input_length\":1,\"output_length\":1,\"hash_ids\":[]}'        | timestamp 4 is before the 5",
      "'{\"timestamp\":9,\"timestamp\":9,\"input_length\":1,\"output_length\":1,\"hash_ids\":[]}' | Duplicate field",
      "'{\"timestamp\":9,\"input_length\":1,\"output_length\":1,\"hash_ids\":[]} 1'      | more than one JSON value"})
  @DisplayName("bad lines are refused with their number and what is allowed")
  void refusesBadLines(String line, String expected) {
    TraceException refusal = assertThrows(TraceException.class, () -> read(GOOD + line + "\n" + GOOD));
    assertTrue(refusal.toString().contains("t.jsonl line 2: "), refusal.toString());
    assertTrue(refusal.toString().contains(expected), refusal.toString());
  }

  @Test
  @DisplayName("a file without line ends is refused, not read into memory")
  void refusesEndlessLine() throws Exception {
    Path file = folder.resolve("endless");
    Files.write(file, new byte[BoundedLines.LINE_BYTES_MAX + 1]);
    TraceException refusal = assertThrows(TraceException.class, () -> TraceReader.read(file));
    assertTrue(refusal.toString().contains("line 1 is longer than"), refusal.toString());
  }

  @Test
  @DisplayName("a missing file, a folder and an empty file are refused by name")
  void refusesNoTrace() throws Exception {
    assertTrue(assertThrows(TraceException.class, () -> TraceReader.read(folder.resolve("none"))).toString()
        .endsWith("none: no such file"));
    assertThrows(TraceException.class, () -> TraceReader.read(folder));
    assertTrue(assertThrows(TraceException.class, () -> read("")).toString().contains("holds no request"));
  }

  @Test
  @DisplayName("lines of every length around the buffer's size come back whole")
  void readsLongLines() throws Exception {
    StringBuilder text = new StringBuilder();
    int next = 0;
    for (int blocks = 7_000; blocks < 7_400; blocks += 7) {
      StringBuilder ids = new StringBuilder();
      for (int i = 0; i < blocks; i++)
        ids.append(i == 0 ? "" : ",").append(next++);
      text.append(GOOD.replace("7, -9, 8", ids));
    }
    Trace trace = read(text.toString());
    assertEquals(next, trace.blocks());
    assertEquals(next, trace.distinctBlocks());
  }

  private Trace read(String text) throws TraceException, IOException {
    Path file = folder.resolve("t.jsonl");
    Files.writeString(file, text, StandardCharsets.UTF_8);
    return TraceReader.read(file);
  }
}

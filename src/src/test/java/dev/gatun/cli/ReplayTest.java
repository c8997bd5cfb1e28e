package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.GatunProcess.Outcome;
import dev.gatun.cli.console.JsonFields;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code gatun replay} on the embedded store, end to end. */
class ReplayTest {
  private static final String REQUEST = "{\"timestamp\": %d, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [%s]}%n";

  @TempDir
  Path folder;

  @Test
  @DisplayName("S1.9 several replicas, puts, gets and a reset at every step boundary: counted, and no old page was served")
  void leavesEvidence() throws Exception {
    Outcome run = GatunProcess.run("replay", "--requests", "400", "--replicas", "3", "--page-bytes", "4k", "--json");
    run.exits(0);
    JsonFields report = run.json();
    JsonFields ideal = report.object("ideal");
    assertEquals(400, run.number("requests"));
    assertEquals(5, run.number("resets"));
    assertEquals(5, report.object("refitOutcomes").number("VERIFIED").longValue());
    assertEquals(run.number("blocks"), run.number("hits") + run.number("puts"));
    assertTrue(run.number("hits") > 0 && run.number("hits") <= ideal.number("hits").longValue(), run.out());
    assertEquals(ideal.number("removedPages").longValue(), run.number("removedPages"));
    assertEquals(run.number("hits") * 4096, run.number("getBytes"));
    assertEquals(run.number("puts") * 4096, run.number("putBytes"));
    for (String bad : List.of("stalePages", "wrongPages", "rejectedPages", "lostHits", "refusedPuts", "failures")) {
      assertEquals(0, run.number(bad), bad);
    }
    assertTrue(report.number("putGBps").doubleValue() > 0 && report.number("getGBps").doubleValue() > 0, run.out());
    assertTrue(report.object("putMicros").number("p99").doubleValue() >= report.object("putMicros").number("p50")
        .doubleValue(), run.out());
  }

  @ParameterizedTest
  @CsvSource({"yes, 16k, none", "no, 18433, none", "no, 4k, full", "yes, 32, stamp"})
  @DisplayName("one replica does exactly what an ideal cache does, with the epoch in the keys or without, stamped or not")
  void matchesTheIdealCache(String epochInKey, String pageBytes, String verify) throws Exception {
    Outcome run = GatunProcess.run("replay", "--requests", "300", "--replicas", "1", "--refit-every", "120000",
        "--epoch-in-key", epochInKey, "--page-bytes", pageBytes, "--verify", verify, "--json");
    run.exits(0);
    for (String figure : List.of("hits", "puts", "resets", "removedPages")) {
      assertEquals(run.json().object("ideal").number(figure).longValue(), run.number(figure), figure);
    }
    assertEquals(29, run.number("resets"));
  }

  @Test
  @DisplayName("a trace file is replayed; steps begin at multiples of trace time")
  void replaysFile() throws Exception {
    Outcome run = GatunProcess.run("replay", "--trace", trace(REQUEST.formatted(5, "1,2,3")
        + REQUEST.formatted(99, "1,2,4") + REQUEST.formatted(100, "1,2,4") + REQUEST.formatted(399, "1")),
        "--replicas", "1", "--refit-every", "100", "--json").exits(0);
    assertEquals(Map.of("requests", 4L, "blocks", 10L, "hits", 2L, "puts", 8L, "resets", 3L, "removedPages", 7L),
        figures(run, "requests", "blocks", "hits", "puts", "resets", "removedPages"));
  }

  @Test
  @DisplayName("without --refit-every a trace file has no resets")
  void replaysFileWithoutRefits() throws Exception {
    Outcome run = GatunProcess.run("replay", "--trace", trace(REQUEST.formatted(5, "1,2,3")
        + REQUEST.formatted(99_999_999, "1,2,4")), "--json").exits(0);
    assertEquals(0, run.number("resets"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"drop-removal", "ignore-removal-code", "late-foreign-put"})
  @DisplayName("control: the removal broken, no epoch in the keys, no proof: stale pages are served and seen")
  void seesStalePages(String fault) throws Exception {
    Outcome run = GatunProcess
        .run("replay", "--requests", "120", "--page-bytes", "4k", "--epoch-in-key", "no", "--fault",
            fault, "--proof", "no", "--json")
        .exits(1).says("stale pages were served");
    assertTrue(run.number("stalePages") > 0, run.out());
    assertEquals(5, run.number("resets"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"drop-removal", "ignore-removal-code", "late-foreign-put"})
  @DisplayName("control: the removal broken, no epoch in the keys: the proof refuses the refit before a page is served")
  void refusesUnprovenRefit(String fault) throws Exception {
    Outcome run = GatunProcess
        .run("replay", "--requests", "120", "--page-bytes", "4k", "--epoch-in-key", "no", "--fault",
            fault, "--json")
        .exits(1).says("left the gate closed");
    assertEquals(0, run.number("stalePages"));
    assertEquals(1, run.number("resets"));
    assertTrue(run.number("requests") < 120, run.out());
  }

  @ParameterizedTest
  @CsvSource({"yes, none, 0", "no, none, 0", "no, drop-removal, 1"})
  @DisplayName("pages in the memory of a device: the same hits, puts and stale pages as in host memory")
  void pagesOnDevice(String epochInKey, String fault, int exitCode) throws Exception {
    String[] command = {"replay", "--requests", "120", "--page-bytes", "4k", "--replicas", "1", "--epoch-in-key",
        epochInKey, "--fault", fault, "--proof", fault.equals("none") ? "yes" : "no", "--json", "--device", "none"};
    Outcome inHostMemory = GatunProcess.run(command).exits(exitCode);
    command[command.length - 1] = "host";
    Outcome onDevice = GatunProcess.run(command).exits(exitCode);
    String[] figures = {"requests", "hits", "puts", "resets", "removedPages", "stalePages", "wrongPages"};
    assertEquals(figures(inHostMemory, figures), figures(onDevice, figures));
    assertEquals(exitCode == 1, onDevice.number("stalePages") > 0, onDevice.out());
    assertEquals("host", onDevice.json().object("settings").text("device"));
  }

  @Test
  @DisplayName("without a GPU driver, --device cuda says what is missing; pages that are no whole words are refused")
  void noDevice() throws Exception {
    GatunProcess.run(List.of("-Dgatun.cuda.library=/nowhere/libcuda.so"), "replay", "--device", "cuda").exits(4)
        .says("/nowhere/libcuda.so");
    GatunProcess.run("replay", "--device", "host", "--page-bytes", "18433").exits(2)
        .says("--page-bytes must be a multiple of 8: 18433");
    GatunProcess.run("replay", "--device", "gpu").exits(2).says("--device must be one of none, cuda, host: \"gpu\"");
  }

  @Test
  @DisplayName("control: the removal dropped, no epoch in the keys, no proof: stamps give every stale page away")
  void stampsGiveStalePagesAway() throws Exception {
    Outcome run = GatunProcess
        .run("replay", "--requests", "120", "--page-bytes", "4k", "--epoch-in-key", "no", "--fault",
            "drop-removal", "--proof", "no", "--verify", "stamp", "--json")
        .exits(1).says("given away by their stamp");
    assertEquals(0, run.number("stalePages"));
    assertTrue(run.number("rejectedPages") > 0, run.out());
  }

  @ParameterizedTest
  @CsvSource({"drop-removal, no", "late-foreign-put, no", "late-foreign-put, yes"})
  @DisplayName("with the epoch in the keys no broken removal lets a stale page through; the run says it is unproven")
  void epochInKeyIsolates(String fault, String proof) throws Exception {
    Outcome run = GatunProcess
        .run("replay", "--requests", "120", "--page-bytes", "4k", "--fault", fault, "--proof", proof,
            "--json")
        .exits(3).says("could not be verified");
    assertEquals(0, run.number("stalePages") + run.number("wrongPages"));
    assertEquals(120, run.number("requests"));
  }

  @Test
  @DisplayName("a store that is too small evicts: fewer hits, no wrong page, and the report says so")
  void survivesEviction() throws Exception {
    Outcome run = GatunProcess.run("replay", "--requests", "300", "--page-bytes", "32k", "--capacity", "32m", "--json");
    run.exits(0);
    assertFalse(run.json().object("settings").flag("capacityEnough"));
    assertEquals(0, run.number("stalePages") + run.number("wrongPages"));
    assertTrue(run.number("hits") < run.json().object("ideal").number("hits").longValue(), run.out());
  }

  @Test
  @DisplayName("people get a table on standard output and the plan on standard error, and a bar only on a terminal")
  void printsTable() throws Exception {
    Outcome plain = GatunProcess.run("replay", "--requests", "50", "--page-bytes", "4k").exits(0);
    for (String row : List.of("requests", "hits", "stale pages served", "p99", "GB/s")) {
      assertTrue(plain.out().contains(row), plain.out());
    }
    plain.says("50 requests").says("loopback store, 2 replicas");
    assertFalse(plain.err().contains("░"), plain.err());

    Outcome terminal = GatunProcess.run(List.of("-Dgatun.terminal=true"), "replay", "--requests", "50", "--page-bytes",
        "4k", "--speed", "3600x").exits(0);
    terminal.says("░").says("of 50 requests");
    assertFalse(terminal.out().contains("░"), terminal.out());
  }

  @Test
  @DisplayName("--speed follows trace time: an hour at 3600x takes a second at least")
  void followsTraceTime() throws Exception {
    Outcome run = GatunProcess.run("replay", "--requests", "50", "--page-bytes", "4k", "--speed", "3600x", "--json");
    assertTrue(run.exits(0).json().number("seconds").doubleValue() >= 0.9, run.out());
  }

  @Test
  @DisplayName("the page size of a model is that of its published geometry")
  void takesModelPages() throws Exception {
    Outcome run = GatunProcess.run("replay", "--requests", "5", "--model", "deepseek-v3", "--block-tokens", "16",
        "--json");
    assertEquals(61 * 576 * 2 * 16, run.exits(0).json().object("settings").number("pageBytes").intValue());
  }

  @Test
  @DisplayName("a bad line of the trace is named before anything is started")
  void namesBadTraceLine() throws Exception {
    Outcome run = GatunProcess.run("replay", "--trace", trace(REQUEST.formatted(5, "1") + "{}\n"), "--json").exits(2)
        .says("line 2: timestamp is missing");
    assertEquals(2, run.number("exitCode"));
    assertTrue(run.json().text("error").contains("line 2"), run.out());
  }

  private String trace(String lines) throws Exception {
    return Files.writeString(folder.resolve("trace.jsonl"), lines).toString();
  }

  private static Map<String, Long> figures(Outcome run, String... names) {
    return List.of(names).stream().collect(Collectors.toMap(name -> name, run::number));
  }
}

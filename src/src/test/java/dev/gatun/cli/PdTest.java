package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.GatunProcess.Outcome;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.nativelib.MooncakeInstaller;
import dev.gatun.nativelib.NixlInstaller;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code gatun pd}, end to end: two processes hand the KV of prompts over. */
class PdTest {
  private static final long LIMIT_NANOS = TimeUnit.MINUTES.toNanos(2);

  @TempDir
  Path folder;

  @BeforeAll
  static void install() {
    MooncakeInstaller.install(System.out::println);
    NixlInstaller.install(System.out::println);
  }

  @ParameterizedTest(name = "{0}, {2} bytes")
  @CsvSource({"loopback, 100, 4096, 32", "loopback, 3, 18433, 2", "mooncake, 100, 4096, 32",
      "mooncake, 40, 1048576, 40",
      "nixl, 100, 4096, 32", "nixl, 3, 18433, 2"})
  @DisplayName("S3.4 every page of every prompt arrives in the other process, every byte of it right")
  void handsOver(String engine, int pages, int pageBytes, int promptPages) throws Exception {
    Outcome run = GatunProcess.run("pd", "--engine", engine, "--pages", "" + pages, "--page-bytes", "" + pageBytes,
        "--prompt-pages", "" + promptPages, "--json").exits(0);
    assertEquals(pages, run.number("pages"));
    assertEquals(0, run.number("wrongPages"));
    assertEquals((pages + promptPages - 1) / promptPages, run.number("prompts"));
    assertEquals((long) pages * pageBytes, run.number("bytes"));
    JsonFields report = run.json();
    assertTrue(report.number("gbps").doubleValue() > 0, run.out());
    double median = report.number("handoverP50Ms").doubleValue();
    assertTrue(median > 0 && median <= report.number("handoverP99Ms").doubleValue(), run.out());
  }

  @ParameterizedTest(name = "{0}, {1}")
  @CsvSource({"loopback,prefill", "loopback,decode", "mooncake,prefill", "mooncake,decode", "nixl,prefill",
      "nixl,decode"})
  @DisplayName("S3.4 K7.04 one side is killed: the report says which and how far it came, and the other has all its blocks back")
  void killed(String engine, String side) throws Exception {
    try (
        GatunProcess running = GatunProcess.start("pd", "--engine", engine, "--pages", "4000000", "--page-bytes", "16k",
            "--prompt-pages", "64", "--timeout", "5s", "--native-log", folder.resolve("pd").toString(), "--json")) {
      awaitWork(side);
      kill(running, "pd-" + side);
      Outcome end = running.await().exits(1).says(side + " (process ");
      end.says("ended before its work did: exit code 137");
      JsonFields survivor = end.json().object("survivor");
      assertEquals(side.equals("prefill") ? "decode" : "prefill", survivor.text("side"));
      assertEquals(survivor.number("blocks"), survivor.number("free"), end::out);
      assertEquals(0, survivor.number("quarantined").intValue(), end::out);
      assertEquals(0, end.number("wrongPages"));
    }
  }

  @Test
  @DisplayName("the figures for people name engine, pages, throughput and both latencies")
  void text() throws Exception {
    Outcome run = GatunProcess.run("pd", "--pages", "4", "--page-bytes", "64", "--prompt-pages", "2").exits(0);
    assertTrue(run.out().startsWith("loopback: 4 pages of 64 bytes in 2 prompts, 0 wrong\n"), run.out());
    assertTrue(run.out().contains("Gbit/s while handing over"), run.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"--engine=rdma", "--pages=0", "--page-bytes=31", "--prompt-pages=0", "--timeout=0s",
      "--timeout=5"})
  @DisplayName("an option that cannot be is refused before anything is started")
  void usage(String option) throws Exception {
    Outcome run = GatunProcess.run("pd", option).exits(2);
    run.says(option.substring(0, option.indexOf('=')));
  }

  /** Waits until a side has logged its hundredth prompt: hand-overs are running. */
  private void awaitWork(String side) throws IOException {
    Path log = folder.resolve("pd." + side + ".log");
    long giveUpAt = System.nanoTime() + LIMIT_NANOS;
    while (!Files.exists(log) || !Files.readString(log).contains(side + ": 101 prompts")) {
      if (System.nanoTime() > giveUpAt) throw new AssertionError(side + " did not come to work");
      LockSupport.parkNanos(1_000_000);
    }
  }

  private static void kill(GatunProcess running, String subcommand) {
    running.handle().children().filter(child -> isRunning(child, subcommand)).findFirst().orElseThrow()
        .destroyForcibly();
  }

  private static boolean isRunning(ProcessHandle child, String subcommand) {
    String[] arguments = child.info().arguments().orElse(new String[0]);
    return arguments.length > 0 && arguments[arguments.length - 1].equals(subcommand);
  }
}

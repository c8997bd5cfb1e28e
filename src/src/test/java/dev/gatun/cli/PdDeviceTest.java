package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.GatunProcess.Outcome;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.nativelib.NixlInstaller;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code gatun pd --device host}, end to end: two processes hand pages over in device memory. */
class PdDeviceTest {
  private static final long LIMIT_NANOS = TimeUnit.MINUTES.toNanos(2);

  @TempDir
  Path folder;

  @BeforeAll
  static void install() {
    NixlInstaller.install(System.out::println);
  }

  @ParameterizedTest(name = "{0}, ranks {1}")
  @CsvSource({"auto,1:1,same-host", "same-host,1:2,same-host", "auto,4:1,same-host", "staged,1:1,staged",
      "staged,1:2,staged", "nixl,1:1,nixl", "nixl,2:1,nixl"})
  @DisplayName("K10.08 every page arrives on the other side's device, every byte right, by the path that is chosen and named")
  void handsOver(String path, String ranks, String taken) throws Exception {
    Outcome run = GatunProcess.run("pd", "--device", "host", "--path", path, "--tp", ranks, "--kv", "3x8x32", "--pages",
        "70", "--prompt-pages", "32", "--json").exits(0);
    assertEquals(70, run.number("pages"));
    assertEquals(0, run.number("wrongPages"));
    JsonFields report = run.json();
    assertEquals(taken, report.text("path"));
    assertEquals(taken.equals("nixl") ? "nixl" : taken.equals("staged") ? "loopback" : "none", report.text("engine"));
    assertEquals(path.equals("auto")
        ? "both run on this host as one user and their memory can be shared"
        : "fixed by configuration", report.text("pathWhy"));
    int degree = Math.max(ranks.charAt(0), ranks.charAt(2)) - '0';
    assertEquals(3L * 2 * 16 * (8 / degree) * 32 * 2 * 70, run.number("bytes"), "the heads that both sides have");
    assertTrue(report.number("gbps").doubleValue() > 0, run.out());
    double median = report.number("handoverP50Ms").doubleValue();
    assertTrue(median > 0 && median <= report.number("handoverP99Ms").doubleValue(), run.out());
  }

  @Test
  @DisplayName("a refit in the middle of hand-overs: what was taken back is handed over again, no page changes once its block is lent again")
  void refits() throws Exception {
    Outcome run = GatunProcess
        .run("pd", "--device", "host", "--kv", "4x8x128", "--pages", "1600", "--prompt-pages", "32",
            "--refit-every", "2", "--json")
        .exits(0);
    assertEquals(1600, run.number("pages"));
    assertEquals(0, run.number("wrongPages"));
    assertEquals(25, run.number("refits"));
    assertTrue(run.number("revokedPrompts") > 0, run.out());
    assertEquals(0, run.number("changedAfterLease"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"prefill", "decode"})
  @DisplayName("K7.04 K11.04 one side is killed: the report says which, and the other has every block back and nothing of it open")
  void killed(String side) throws Exception {
    try (GatunProcess running = GatunProcess.start("pd", "--device", "host", "--kv", "2x8x64", "--pages", "4000000",
        "--prompt-pages", "64", "--timeout", "5s", "--native-log", folder.resolve("pd").toString(), "--json")) {
      awaitWork(side);
      running.handle().children().filter(child -> isRunning(child, "pd-" + side)).findFirst().orElseThrow()
          .destroyForcibly();
      Outcome end = running.await().exits(1).says(side + " (process ");
      end.says("ended before its work did: exit code 137");
      JsonFields survivor = end.json().object("survivor");
      assertEquals(side.equals("prefill") ? "decode" : "prefill", survivor.text("side"));
      assertEquals(survivor.number("blocks"), survivor.number("free"), end::out);
      assertEquals(0, survivor.number("quarantined").intValue(), end::out);
      assertEquals(0, survivor.number("attached").intValue(), end::out);
      assertEquals(0, end.number("wrongPages"));
      assertEquals("same-host", end.json().text("path"));
    }
  }

  @Test
  @DisplayName("the figures for people name the path and why it was taken")
  void text() throws Exception {
    Outcome run = GatunProcess.run("pd", "--device", "host", "--kv", "1x1x8", "--pages", "4", "--prompt-pages", "2",
        "--refit-every", "1").exits(0);
    assertTrue(
        run.out().contains("path same-host (both run on this host as one user and their memory can be shared)\n"),
        run.out());
    assertTrue(run.out().contains("2 refits during hand-overs, "), run.out());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "--path=rdma|path must be one of same-host, nixl, staged|2", "--kv=8x128|--kv must be layers|2",
      "--kv=1x1x1|--kv must have heads|2", "--tp=3:1|ranks must divide 8 heads|2", "--tp=two|--tp must be|2",
      "--refit-every=-1|--refit-every must be 0 or more|2", "--page-bytes=64k|--page-bytes is of host memory|2"})
  @DisplayName("an option that cannot be is refused by name")
  void usage(String option, String says, int code) throws Exception {
    GatunProcess.run("pd", "--device", "host", option, "--pages", "1").exits(code).says(says);
  }

  @Test
  @DisplayName("a path that is fixed and cannot be taken says why, and no other is taken in its place")
  void noNixl() throws Exception {
    GatunProcess.run(List.of("-Dgatun.nixl.library=" + folder.resolve("libnixl_capi.so")), "pd", "--device", "host",
        "--path=nixl", "--pages", "1").exits(4).says("path nixl is fixed by configuration and cannot be taken: nixl: ")
        .says("libnixl_capi.so");
  }

  @Test
  @DisplayName("a device that is none is refused by name, and so is a path for pages in host memory")
  void device() throws Exception {
    GatunProcess.run("pd", "--device", "rocm").exits(2).says("--device must be none, cuda or host: \"rocm\"");
    GatunProcess.run("pd", "--path", "same-host").exits(2).says("--path and --refit-every need --device");
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

  private static boolean isRunning(ProcessHandle child, String subcommand) {
    String[] arguments = child.info().arguments().orElse(new String[0]);
    return arguments.length > 0 && arguments[arguments.length - 1].equals(subcommand);
  }
}

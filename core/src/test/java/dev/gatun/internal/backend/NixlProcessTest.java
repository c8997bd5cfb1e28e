package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** NIXL between processes, and what would end a process. */
@Tag("nixl")
class NixlProcessTest {
  /** Transports: empty is UCX's own choice, on one host copies from process to process by the kernel. */
  private static final String TCP = "tcp";

  @BeforeAll
  static void install() {
    NixlTestRuntime.options(); // once, before processes do it side by side
  }

  private static ChildJvm start(String transports, String... arguments) {
    Map<String, String> environment = transports.isEmpty() ? Map.of() : Map.of("UCX_TLS", transports);
    return ChildJvm.start(NixlScenarios.class, environment, List.of(), arguments);
  }

  private static String run(String transports, String scenario) {
    try (ChildJvm child = start(transports, scenario)) {
      ChildJvm.End end = ended(child);
      assertEquals(0, end.code(), end.output());
      return end.output();
    }
  }

  private static ChildJvm.End ended(ChildJvm child) {
    ChildJvm.End end = child.await();
    assertTrue(Files.notExists(Path.of("target", "children", "hs_err_pid" + child.pid() + ".log")), end.output());
    return end;
  }

  private static void says(String output, String... lines) {
    for (String line : lines)
      assertTrue(output.lines().anyMatch(line::equals), () -> "\"" + line + "\" in\n" + output);
  }

  @ParameterizedTest(name = "UCX_TLS={0}")
  @ValueSource(strings = {"", TCP})
  @DisplayName("S3.4 pages are read from and written to another process, and a message arrives after them")
  void moves(String transports) {
    says(run(transports, "moves"), "read {COMPLETED=512}", "same true", "written COMPLETED", "seen");
  }

  @Test
  @DisplayName("K6.04 a peer that is killed while it is read: the requests fail, so do those after, and a new peer is read")
  void killed() {
    says(run(TCP, "killed"), "in flight true", "killed FAILED", "dead FAILED", "next {COMPLETED=512}", "same true");
  }

  @Test
  @DisplayName("K6.05 a peer that is frozen while it is read: no end by the deadline; the engine is destroyed and its memory freed")
  void stopped() {
    says(run(TCP, "stopped"), "connected {COMPLETED=512}", "at the deadline RUNNING", "pending []", "alive");
  }

  @Test
  @DisplayName("metadata that is cut, damaged or noise is refused, and the right one works afterwards; damage that no checksum finds is survived")
  void metadata() {
    says(run("", "metadata"), "cut 0", "damaged 0", "noise 0", "good COMPLETED true", "bare COMPLETED true",
        "survived");
  }

  @ParameterizedTest(name = "{0}: code {1}")
  @CsvSource({"return,0", "exit,3", "halt,4"})
  @DisplayName("K15.03 return, System.exit and halt with a live engine end with their codes and no crash report")
  void exits(String how, int code) {
    try (ChildJvm child = start("", how)) {
      ChildJvm.End end = ended(child);
      assertEquals(code, end.code(), end.output());
      assertEquals(!how.equals("halt"), end.output().contains("hook ran"), end.output());
    }
  }

  @ParameterizedTest(name = "SIG{0}: code {1}")
  @CsvSource({"HUP,129", "TERM,143"})
  @DisplayName("K15 signals end the JVM as they do without the library: UCX would take SIGHUP for itself")
  void signals(String signal, int code) throws Exception {
    try (ChildJvm child = start("", "wait")) {
      child.awaitLine("open");
      assertEquals(0, new ProcessBuilder("kill", "-" + signal, Long.toString(child.pid())).start().waitFor());
      ChildJvm.End end = ended(child);
      assertEquals(code, end.code(), end.output());
      assertTrue(end.output().contains("hook ran"), end.output());
    }
  }
}

package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A process with a live store ends in every way a JVM can end, with the code it should have and no crash report. */
abstract class ExitContract {
  /** {@code loopback}, or the address of a master. */
  abstract String store();

  private ChildJvm start(String how) {
    return start(how, Map.of());
  }

  private ChildJvm start(String how, Map<String, String> environment) {
    return ChildJvm.start(ExitScenarios.class, environment, List.of(), store(), how);
  }

  private ChildJvm.End ended(ChildJvm child, String how) {
    ChildJvm.End end = child.await();
    System.out.println("exit by " + how + " with store " + store() + ": code " + end.code() + " after " + end.millis()
        + " ms in all");
    assertTrue(Files.notExists(Path.of("target", "children", "hs_err_pid" + child.pid() + ".log")), end.output());
    return end;
  }

  @ParameterizedTest(name = "{0}: code {1}")
  @CsvSource({"return,0", "exit,3", "halt,4", "close,0"})
  @DisplayName("K15.03 K13.08 return, System.exit, halt, with a live store or a closed one")
  void exits(String how, int code) {
    try (ChildJvm child = start(how)) {
      ChildJvm.End end = ended(child, how);
      assertEquals(code, end.code(), end.output());
      assertEquals(!how.equals("halt"), end.output().contains("hook ran"), end.output());
    }
  }

  @Test
  @DisplayName("K15 SIGTERM runs the hooks and ends with 143")
  void terminated() {
    try (ChildJvm child = start("wait")) {
      child.awaitLine("open");
      child.terminate();
      ChildJvm.End end = ended(child, "SIGTERM");
      assertEquals(143, end.code(), end.output());
      assertTrue(end.output().contains("hook ran"), end.output());
    }
  }

  @Test
  @DisplayName("a store opened while the JVM goes down is refused, and leaves nothing behind")
  void openedLate() {
    try (ChildJvm child = start("late")) {
      ChildJvm.End end = ended(child, "return with a late store");
      assertEquals(0, end.code(), end.output());
      assertTrue(end.output().contains("late: no store or engine can be opened: the JVM is shutting down"),
          end.output());
    }
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"registered", "registered close"})
  @DisplayName("K12.07 a process with 8 GiB registered ends soon after its last line, closed before or by the hook")
  void largeRegistration(String how) {
    try (ChildJvm child = start(how)) {
      child.awaitLine("registered 8589934592");
      long start = System.nanoTime();
      ChildJvm.End end = ended(child, how);
      long millis = (System.nanoTime() - start) / 1_000_000;
      assertEquals(0, end.code(), end.output());
      assertFalse(end.output().contains("still pending"), end.output());
      // destroying a store takes up to 3 s, ending the process as long again; the rest is room for a busy machine
      assertTrue(millis < 30_000, "took " + millis + " ms");
    }
  }

  @Test
  @DisplayName("K15.07 System.exit under eight threads in gets: the hook drains them first, the code is 0")
  void exitUnderGets() {
    try (ChildJvm child = start("threads")) {
      assertEquals(0, ended(child, "exit under gets").code(), child.output());
    }
  }

  @RepeatedTest(10)
  @DisplayName("K15.02 open, put, close, return: code 0 ten times of ten")
  void closedTenTimes() {
    try (ChildJvm child = start("close")) {
      assertEquals(0, ended(child, "close").code(), child.output());
    }
  }

  /** What the child may print about signal handlers that the library has changed. */
  abstract List<String> changedHandlers();

  @Test
  @DisplayName("K15.04 P1 null checks of compiled code, GCs, this thread's signals and children keep working")
  void signals() {
    signals(Map.of());
  }

  @Test
  @DisplayName("K15.05 the same with libjsig preloaded")
  void signalsWithLibjsig() {
    Path libjsig = Path.of(System.getProperty("java.home"), "lib", "libjsig.so");
    assertTrue(Files.exists(libjsig), libjsig.toString());
    signals(Map.of("LD_PRELOAD", libjsig.toString()));
  }

  private void signals(Map<String, String> environment) {
    try (ChildJvm child = start("signals", environment)) {
      ChildJvm.End end = ended(child, "signals");
      assertEquals(0, end.code(), end.output());
      assertTrue(changedHandlers().stream().anyMatch(list -> end.output().contains("changed handlers " + list)),
          end.output());
      assertTrue(end.output().contains("blocked signals unchanged"), end.output());
      assertTrue(end.output().contains("caught 500000"), end.output());
      assertTrue(end.output().contains("child ended true"), end.output());
    }
  }
}

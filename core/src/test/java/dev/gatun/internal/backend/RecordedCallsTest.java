package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What native code sees of each option and call, told by a library that prints it. Each case is a process of its own. */
class RecordedCallsTest {
  @TempDir
  private static Path folder;
  private static Path library;

  @BeforeAll
  static void compile() throws IOException, InterruptedException {
    library = RecorderLibrary.compile(folder);
  }

  private static List<String> run(String scenario, Map<String, String> environment, String... more) {
    String[] arguments = new String[2 + more.length];
    arguments[0] = scenario;
    arguments[1] = library.toString();
    System.arraycopy(more, 0, arguments, 2, more.length);
    try (ChildJvm child = ChildJvm.start(RecorderScenarios.class, environment, List.of(), arguments)) {
      ChildJvm.End end = child.await();
      assertEquals(0, end.code(), end.output());
      assertTrue(end.output().contains("java end"), end.output());
      return end.output().lines().filter(line -> line.startsWith("native ") || line.startsWith("java ")).toList();
    }
  }

  private static String line(List<String> lines, String start) {
    return lines.stream().filter(line -> line.startsWith(start)).findFirst()
        .orElseThrow(() -> new AssertionError("no \"" + start + "\" in:\n" + String.join("\n", lines)));
  }

  @Test
  @DisplayName("K9.08 native code sees exactly the configured values, and the signal marker when it creates")
  void options() {
    List<String> lines = run("options", Map.of("MC_RPC_TIMEOUT_MS", "77"));
    assertEquals("native create tcp=1 ipv6=- rpc=1500 connect=1500 retries=3 marker=1", line(lines, "native create"));
    assertTrue(line(lines, "native setup").matches("native setup 1 host=127.0.0.1:12399 "
        + "metadata=http://127.0.0.1:8080/metadata segment=67108864 buffer=33554432 protocol=tcp devices=mlx5_0,mlx5_1 "
        + "master=127.0.0.1:\\d+"), line(lines, "native setup"));
    assertEquals("java name mooncake 127.0.0.1:PORT hostname recorder:1", line(lines, "java name"));
    assertEquals("native destroy 1", line(lines, "native destroy"));
  }

  @Test
  @DisplayName("K7.11 whoever wants more attempts of a set-up keeps them")
  void setupAttempts() {
    assertTrue(
        line(run("doubts", Map.of("MC_STORE_CLIENT_SETUP_RETRIES", "9")), "native create").contains("retries=9"));
  }

  @Test
  @DisplayName("K12.07 closing a store unregisters its memory before the native store goes, and frees it after")
  void unregistersFirst() {
    List<String> lines = run("registered", Map.of());
    List<String> order = lines.stream()
        .filter(line -> line.matches("native (un)?register .*|native destroy .*|java .*"))
        .toList();
    assertEquals(List.of("native register 1 " + (64 << 20), "native unregister 1", "native destroy 1",
        "java closed, 0 registrations", "java end"), order);
  }

  @Test
  @DisplayName("K4.02 lengths beyond 4 GiB and codes nobody knows cross unchanged, both ways")
  void calls() {
    List<String> lines = run("calls", Map.of("RECORDER_CODE", "-4242"), folder.resolve("sparse").toString());
    String bytes = "4294967297";
    assertEquals("native put k 1 " + bytes, line(lines, "native put"));
    assertEquals("java put -4242", line(lines, "java put"));
    assertEquals("native get k 1 " + bytes, line(lines, "native get"));
    assertEquals("java get " + bytes, line(lines, "java get"));
    assertTrue(line(lines, "native batch put").matches("native batch put k 0x[0-9a-f]+ " + bytes), lines::toString);
    assertEquals("java batchPut 0 -4242", line(lines, "java batchPut"));
    assertTrue(line(lines, "native batch get").matches("native batch get k 0x[0-9a-f]+ " + bytes), lines::toString);
    assertEquals("java batchGet 0 " + bytes, line(lines, "java batchGet"));
    assertEquals("java exists -4242", line(lines, "java exists"));
    assertEquals("java batchExists 0 -4242", line(lines, "java batchExists"));
    assertEquals("java size " + (5L << 32), line(lines, "java size"));
    assertEquals(List.of("native remove k 1", "native remove k 0", "native remove matching k 1", "native remove all 1",
        "native remove all 0"), lines.stream().filter(line -> line.startsWith("native remove")).toList());
    assertEquals("java removeMatching " + (6L << 32), line(lines, "java removeMatching"));
    assertEquals("java removeAll " + (7L << 32) + ' ' + (7L << 32), line(lines, "java removeAll"));
    assertEquals("native register 1 " + bytes, line(lines, "native register"));
    assertEquals("java health -4242", line(lines, "java health"));
  }

  @Test
  @DisplayName("K5.09 with a low locked-memory limit neither a store's own memory nor a slab reaches Mooncake over RDMA")
  void lockedMemory() {
    // root keeps its memory unlocked by a capability that lifts the limit
    List<String> limited = List.of("sh", "-c", "ulimit -l 64; [ $(id -u) = 0 ] || exec \"$@\";"
        + " exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \"$@\"", "limited");
    try (ChildJvm child = ChildJvm.start(limited, RecorderScenarios.class, Map.of(), List.of(), "locked",
        library.toString())) {
      ChildJvm.End end = child.await();
      assertEquals(0, end.code(), end.output());
      List<String> lines = end.output().lines().toList();
      String segment = line(lines, "java segment");
      assertTrue(segment.contains("segmentBytes 67108864 and localBufferBytes")
          && segment.contains("cannot be registered for protocol rdma"), segment);
      String slab = line(lines, "java slab");
      for (String part : List.of("67108864 bytes are locked once for each device", "limit is 65536 bytes", "ulimit -l"))
        assertTrue(slab.contains(part), slab);
      assertEquals(List.of(), lines.stream().filter(line -> line.startsWith("native register")).toList());
      assertEquals(1, lines.stream().filter(line -> line.startsWith("native setup")).count(), end.output());
    }
  }

  @Test
  @DisplayName("K12.05 each replicate option changes the bytes that native code sees, the array of names included")
  void replicate() {
    List<String> configs = run("replicate", Map.of()).stream().filter(line -> line.startsWith("native config"))
        .toList();
    assertEquals(List.of("native config 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 count=0 null=1",
        "native config 03 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 count=0 null=1",
        "native config 01 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 count=0 null=1",
        "native config 02 00 00 00 00 00 00 00 01 00 00 00 01 00 00 00 count=2 null=0 a:1 b:22"), configs);
  }

  @Test
  @DisplayName("one library and one set of process-wide settings: whatever else is asked for is refused with the reason")
  void refusals() {
    List<String> lines = run("refusals", Map.of());
    assertTrue(line(lines, "java redis").contains("no metadata client for redis is compiled into"), lines::toString);
    assertTrue(line(lines, "java later redis").contains("no metadata client for redis is compiled into"),
        lines::toString);
    assertTrue(line(lines, "java missing").contains("absent.so"), lines::toString);
    assertTrue(line(lines, "java nobody").contains("no master answers at 127.0.0.1:1"), lines::toString);
    assertEquals("java first opened", line(lines, "java first"));
    assertTrue(line(lines, "java timeout").contains("this process has opened a store with rpcTimeout 10000ms"),
        lines::toString);
    assertTrue(line(lines, "java protocol").contains("a store with rpcTimeout 10000ms, a protocol other than tcp"),
        lines::toString);
    assertEquals("java same opened", line(lines, "java same"));
    assertTrue(line(lines, "java loopback").contains("this process is bound to the mooncake library"), lines::toString);
    assertEquals(2, lines.stream().filter(line -> line.startsWith("native setup")).count());
  }

  @Test
  @DisplayName("K6.10 a native destroy that never returns: close says so, warns, and the JVM still exits")
  void destroyHangs() {
    try (ChildJvm child = ChildJvm.start(RecorderScenarios.class, Map.of("RECORDER_DESTROY_HANGS", "1"), List.of(),
        "destroyHangs", library.toString())) {
      ChildJvm.End end = child.await();
      assertEquals(0, end.code(), end.output());
      assertTrue(end.output().contains("java pending [destroying mooncake 127.0.0.1:"), end.output());
      assertTrue(end.output().contains("has not returned]"), end.output());
      assertTrue(end.output().contains("was not destroyed within 300 ms, still pending"), end.output());
      assertEquals(1, end.output().lines().filter(line -> line.equals("native destroy 1")).count(), end.output());
    }
  }

  @Test
  @DisplayName("K6.12 K13.10 a store that cannot be set up is destroyed once, and the message names master and code")
  void setupFails() {
    List<String> lines = run("setupFails", Map.of("RECORDER_SETUP", "-600"));
    String message = line(lines, "java GatunException");
    assertTrue(message.contains("setup(master 127.0.0.1:") && message.contains("INVALID_PARAMS (-600)"), message);
    assertEquals(1, lines.stream().filter(line -> line.equals("native destroy 1")).count(), lines::toString);
  }

  @Test
  @DisplayName("K13.10 a store that is set up but has no name is destroyed once, not lost")
  void hostnameFails() {
    List<String> lines = run("setupFails", Map.of("RECORDER_HOSTNAME", "-1"));
    String message = line(lines, "java StoreException");
    assertTrue(message.contains("hostname"), message);
    assertEquals(1, lines.stream().filter(line -> line.equals("native destroy 1")).count(), lines::toString);
  }

  @Test
  @DisplayName("a library that creates nothing gives an error, not a crash")
  void createFails() {
    List<String> lines = run("setupFails", Map.of("RECORDER_CREATE_NULL", "1"));
    assertTrue(line(lines, "java GatunException").contains("created no store"), lines::toString);
    assertFalse(lines.stream().anyMatch(line -> line.startsWith("native destroy")), lines::toString);
  }

  @Test
  @DisplayName("the library's own cache of hot objects is a doubt where it is on; a highly available master is no doubt, but nothing can be proved")
  void doubts() {
    assertTrue(line(run("doubts", Map.of("MC_STORE_LOCAL_HOT_CACHE_SIZE", "64MB")), "java doubts")
        .contains("MC_STORE_LOCAL_HOT_CACHE_SIZE is 64MB"));
    List<String> off = run("doubts", Map.of("MC_STORE_LOCAL_HOT_CACHE_SIZE", "0"));
    assertEquals("java doubts []", line(off, "java doubts"));
    assertTrue(line(off, "java unprovable").startsWith("java unprovable [][the master is highly available"),
        off::toString);
  }
}

package dev.gatun.nativelib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The installed runtime in JVMs of its own, against one master. */
@Tag("mooncake")
class MooncakeProcessTest {
  private static final MooncakeMaster master = MooncakeMaster.start(MooncakeInstaller.install());

  @AfterAll
  static void close() {
    master.close();
  }

  @Test
  @DisplayName("real Mooncake in a JVM: set up, miss, put, get, exists, remove all, miss, destroy; signals untouched")
  void roundTrip() {
    var child = ChildJvm.granted().run("round-trip", master.rpcAddress());

    assertEquals(0, child.code(), child::toString);
    assertEquals("0", child.value("setup"), child::toString);
    assertEquals("-704", child.value("absent"));
    assertEquals("0", child.value("put"));
    assertEquals(String.valueOf(1 << 20), child.value("get"));
    assertEquals("true", child.value("same"));
    assertEquals("1", child.value("exists"));
    assertEquals("1", child.value("removed"));
    assertEquals("-704", child.value("gone"));
    assertEquals("true", child.value("destroyed"));
    assertEquals(child.value("blocked before"), child.value("blocked after"));
  }

  @Test
  @DisplayName("the marker keeps the creating thread's signals free, which they are not without it; only the store sees it")
  void marker() {
    var marked = ChildJvm.granted().run("create", "marked");
    var plain = ChildJvm.granted().run("create", "plain");

    assertEquals(marked.value("before"), marked.value("after"));
    assertEquals("true", marked.value("takes effect"));
    assertEquals("false", marked.value("visible to others"));
    assertNotEquals(plain.value("before"), plain.value("after"));
  }

  @Test
  @DisplayName("K15.02 open, put, close, exit: code 0 ten times of ten")
  void exitsTenTimes() throws Exception {
    Callable<ChildJvm.Ended> run = () -> ChildJvm.granted().run("open-close", master.rpcAddress());
    List<Callable<ChildJvm.Ended>> runs = new ArrayList<>();
    for (int i = 0; i < 10; i++)
      runs.add(run);
    try (ExecutorService two = Executors.newFixedThreadPool(2)) {
      for (Future<ChildJvm.Ended> ended : two.invokeAll(runs)) {
        assertEquals(0, ended.get().code(), () -> ended.resultNow().toString());
        assertEquals("0", ended.get().value("put"), () -> ended.resultNow().toString());
      }
    }
  }

  @Test
  @DisplayName("K15.04 signal handlers are the JVM's own after load and set-up, and a million null pointers are caught")
  void nullPointers() {
    var child = ChildJvm.granted().flag("-XX:-OmitStackTraceInFastThrow").run("null-pointers", master.rpcAddress());

    assertEquals(0, child.code(), child::toString);
    assertEquals("0", child.value("setup"), child::toString);
    assertEquals(child.value("handlers before"), child.value("handlers after"));
    assertEquals("1000000", child.value("caught"));
    assertEquals("0", child.value("put"));
  }

  @Test
  @DisplayName("K14.10 a closed port is an error code, not a crash")
  void closedPort() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    var child = ChildJvm.granted().run("closed-port", "127.0.0.1:" + port);

    assertEquals(0, child.code(), child::toString);
    assertEquals("-600", child.value("setup"), child::toString);
  }
}

package dev.gatun.nativelib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("mooncake")
class MooncakeMasterTest {
  private final MooncakeRuntime runtime = MooncakeInstaller.install();

  @TempDir
  Path directory;

  private static String get(MooncakeMaster master, String path) throws IOException {
    var connection = (HttpURLConnection) master.adminUrl().resolve(path).toURL().openConnection();
    connection.setConnectTimeout(5000);
    connection.setReadTimeout(1000);
    try (var body = connection.getInputStream()) {
      return new String(body.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  @DisplayName("a started master serves, listens on loopback only, and is gone after closing, with its temporary log")
  void lifetime() throws IOException {
    MooncakeMaster master = MooncakeMaster.start(runtime);
    try (master) {
      assertTrue(get(master, "/metrics").contains("master_key_count"));
      assertTrue(master.rpcAddress().matches("127\\.0\\.0\\.1:\\d+"), master.rpcAddress());
      Set<String> listening = ListeningSockets.of(master.pid());
      assertEquals(2, listening.size());
      for (String address : listening)
        assertTrue(address.startsWith("0100007F:"), address);
      assertTrue(Files.size(master.logFile()) > 0);
    }
    assertFalse(master.isAlive());
    assertFalse(Files.exists(master.logFile()));
    master.close();
  }

  @Test
  @DisplayName("flags reach the master; one that it does not know fails the start with the master's own words")
  void flags() throws IOException {
    Path log = directory.resolve("master.log");
    MasterOptions options = MasterOptions.DEFAULT.withLog(log).withFlag("default_kv_lease_ttl", "537");
    MooncakeMaster.start(runtime, options).close();

    assertTrue(Files.readString(log).contains("537"), "the log shows the lease time");
    var refused = assertThrows(LibraryUnavailableException.class,
        () -> MooncakeMaster.start(runtime, options.withFlag("no_such_flag", "1")));
    assertTrue(refused.getMessage().contains("unknown command line flag 'no_such_flag'"), refused.getMessage());
  }

  @Test
  @DisplayName("K9.06 a taken port is named with its option, a host that is not this one by its name")
  void takenPort() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();

      var rpc = assertThrows(LibraryUnavailableException.class,
          () -> MooncakeMaster.start(runtime, MasterOptions.DEFAULT.withPorts(port, 0)));
      var admin = assertThrows(LibraryUnavailableException.class,
          () -> MooncakeMaster.start(runtime, MasterOptions.DEFAULT.withPorts(0, port)));

      assertTrue(rpc.getMessage().contains("rpcPort " + port), rpc.getMessage());
      assertTrue(admin.getMessage().contains("adminPort " + port), admin.getMessage());
      // 192.0.2.0/24 is reserved for documentation: nobody's address, and nothing is sent to it
      var host = assertThrows(IllegalArgumentException.class,
          () -> MooncakeMaster.start(runtime, MasterOptions.DEFAULT.withHost("192.0.2.77")));
      assertTrue(host.toString().contains("host must be an address of this machine"), host.toString());
    }
  }

  @Test
  @DisplayName("K9.04 masters started side by side get ports of their own")
  void sideBySide() {
    List<MooncakeMaster> masters = new ArrayList<>();
    try {
      Set<String> addresses = new HashSet<>();
      for (int i = 0; i < 4; i++)
        masters.add(MooncakeMaster.start(runtime));
      for (MooncakeMaster master : masters) {
        addresses.add(master.rpcAddress());
        addresses.add(master.adminUrl().getAuthority());
      }
      assertEquals(8, addresses.size());
    } finally {
      masters.forEach(MooncakeMaster::close);
    }
  }

  @Test
  @DisplayName("a killed master comes back on the same ports as another process")
  void restart() throws IOException {
    try (MooncakeMaster master = MooncakeMaster.start(runtime)) {
      String address = master.rpcAddress();
      long pid = master.pid();
      master.kill();
      assertFalse(master.isAlive());
      assertThrows(IOException.class, () -> get(master, "/health"));
      assertThrows(IllegalStateException.class, master::freeze);

      master.restart();

      assertEquals(address, master.rpcAddress());
      assertNotEquals(pid, master.pid());
      assertTrue(get(master, "/health").contains("\"status\":\"ok\""));
    }
  }

  @Test
  @DisplayName("a frozen master accepts connections and answers nothing; thawed, it goes on; frozen, it can be closed")
  void freeze() throws IOException {
    MooncakeMaster master = MooncakeMaster.start(runtime);
    try (master) {
      master.freeze();
      assertThrows(SocketTimeoutException.class, () -> get(master, "/health"));
      master.thaw();
      assertTrue(get(master, "/health").contains("\"status\":\"ok\""));
      master.freeze();
    }
    assertFalse(master.isAlive());
  }

  @Test
  @DisplayName("the master ends when its parent is killed, and its watcher with it")
  void parentKilled() throws Exception {
    Path out = directory.resolve("out");
    Process parent = ChildJvm.granted().start(out, directory.resolve("err"), "master");
    try {
      await("the child prints a line", () -> read(out).contains("\n"));
      long pid = Long.parseLong(read(out).strip().substring("pid=".length()));
      ProcessHandle master = ProcessHandle.of(pid).orElseThrow();
      List<ProcessHandle> watchers = master.children().toList();
      assertEquals(1, watchers.size());

      parent.destroyForcibly().waitFor();

      await("the master ends", () -> !master.isAlive());
      await("the watcher ends", () -> !watchers.getFirst().isAlive());
    } finally {
      parent.destroyForcibly();
    }
  }

  @Test
  @DisplayName("a closed master leaves no watcher behind")
  void watcherEnds() throws Exception {
    MooncakeMaster master = MooncakeMaster.start(runtime);
    ProcessHandle watcher = ProcessHandle.of(master.pid()).orElseThrow().children().findFirst().orElseThrow();
    assertTrue(watcher.isAlive());

    master.close();

    await("the watcher ends", () -> !watcher.isAlive());
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void await(String what, BooleanSupplier condition) {
    long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > giveUpAt) throw new AssertionError("not within a minute: " + what);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5)); // between two looks
    }
  }
}

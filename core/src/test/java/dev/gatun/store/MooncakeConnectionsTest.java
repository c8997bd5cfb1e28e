package dev.gatun.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.ChildJvm;
import dev.gatun.internal.backend.MooncakeTestRuntime;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.testing.Thrown;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where clients of a real Mooncake connect to, and what becomes of connections that nobody answers. */
@Tag("mooncake")
@Timeout(300)
class MooncakeConnectionsTest {
  private static final KvKey KEY = KvKey.of("page");
  private static final Duration LONG = Duration.ofMinutes(2);

  private final EpochGate gate = new EpochGate(new WeightEpoch("run", 1));

  private KvStore open(StoreOptions options) {
    return KvStore.open(options, KeyCodec.plain("connections"), gate, Observer.NONE);
  }

  private BlockPool pool(KvStore store) {
    BlockPool pool = BlockPool.allocate(new PoolLayout(1 << 20, 2, 0), gate);
    store.register(pool.slab());
    return pool;
  }

  private void putAndClose(MooncakeMaster master) {
    KvStore store = open(MooncakeTestRuntime.client(master).build());
    try (BlockPool pool = pool(store)) {
      long block = pool.lease();
      ContractBench.fill(pool.page(block), 7);
      assertEquals(new PutResult.Stored(), store.putPage(KEY, pool, block));
      pool.release(block);
      assertEquals(List.of(), store.close(Deadline.after(LONG)));
    }
  }

  @Test
  @DisplayName("K9.14 a client is reached under the name it was given, not under 127.0.0.1 alone")
  void otherName() throws IOException {
    try (MooncakeMaster master = MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions());
        ChildJvm storage = MooncakeTestRuntime.storage(master, 16L << 20, "127.0.0.2")) {
      assertTrue(storage.output().contains("storage ready 127.0.0.2:"), storage.output());
      putAndClose(master);
      KvStore store = open(MooncakeTestRuntime.client(master).build());
      try (BlockPool pool = pool(store)) {
        long block = pool.lease();
        assertEquals(new GetResult.Hit(1 << 20), store.getPage(KEY, pool, block));
        ContractBench.assertPattern(pool.page(block), 1 << 20, 7, "the page");
        // number, own address, peer: 127.0.0.2 in network order
        assertTrue(Files.readAllLines(Path.of("/proc/self/net/tcp")).stream()
            .anyMatch(line -> line.matches(" *\\d+: [0-9A-F:]+ 0200007F:.*")), "no connection to 127.0.0.2");
        pool.release(block);
        assertEquals(List.of(), store.close(Deadline.after(LONG)));
      }
    }
  }

  @Test
  @DisplayName("K7.11 a master whose port swallows connections ends the opening within the time limit, by name")
  void blackholedMaster() throws IOException {
    List<Socket> waiting = new ArrayList<>();
    try (ServerSocket port = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      // nobody accepts: once the queue is full, the kernel drops further connections without a word
      boolean full = false;
      while (!full) {
        Socket socket = new Socket();
        waiting.add(socket);
        try {
          socket.connect(port.getLocalSocketAddress(), 300);
        } catch (SocketTimeoutException e) {
          full = true;
        }
      }
      StoreOptions options = StoreOptions.mooncake("127.0.0.1:" + port.getLocalPort())
          .rpcTimeout(MooncakeTestRuntime.RPC_TIMEOUT).build();
      assertEndsSoon(options, "no master answers at " + options.master());
    } finally {
      for (Socket socket : waiting)
        socket.close();
    }
  }

  @Test
  @DisplayName("K7.11 a master that takes connections and never answers ends the opening within a few time limits")
  void frozenMaster() {
    try (MooncakeMaster master = MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions())) {
      master.freeze();
      assertEndsSoon(MooncakeTestRuntime.client(master).build(), "setup(master " + master.rpcAddress() + ") failed");
    }
  }

  /** The bound leaves a busy machine room, and lies well below what the kernel or the library would take. */
  private void assertEndsSoon(StoreOptions options, String start) {
    long began = System.nanoTime();
    String message = Thrown.message(GatunException.class, () -> open(options));
    long millis = (System.nanoTime() - began) / 1_000_000;
    System.out.println("opening ended after " + millis + " ms: " + start);
    assertTrue(message.startsWith(start), message);
    assertTrue(millis < 25_000, "took " + millis + " ms");
    assertEquals(List.of(), gate.parts());
  }

  @Test
  @DisplayName("K7.11 a storage whose handshake nobody answers: the operation ends at its deadline, the page stays out of use")
  void frozenStorage() throws Exception {
    // so that the master does not give the frozen storage up while it is looked at
    try (MooncakeMaster master = MooncakeTestRuntime.startMaster(
        MooncakeTestRuntime.masterOptions().withFlag("client_ttl", "600"));
        ChildJvm storage = MooncakeTestRuntime.storage(master, 16L << 20)) {
      putAndClose(master);
      KvStore store = open(MooncakeTestRuntime.client(master).build());
      try (BlockPool pool = pool(store);
          AsyncKvStore async = new AsyncKvStore(store, AsyncOptions.DEFAULT.withOperationMax(Duration.ofSeconds(2)))) {
        long block = pool.lease();
        signal("-STOP", storage);
        try {
          CompletableFuture<List<GetResult>> get = async.get(pool, List.of(KEY), block);
          ExecutionException ended = assertThrows(ExecutionException.class,
              () -> get.get(LONG.toSeconds(), TimeUnit.SECONDS));
          assertInstanceOf(DeadlineException.class, ended.getCause());
          pool.release(block);
          assertEquals(1, pool.available(), "the library may still write the page");
          assertEquals(1, async.inFlight());
        } finally {
          signal("-CONT", storage);
        }
        ContractBench.await("the return of the native call", () -> async.inFlight() == 0);
        assertEquals(List.of(), async.close(Deadline.after(LONG)));
        assertEquals(List.of(), store.close(Deadline.after(LONG)));
        assertEquals(2, pool.available());
      }
    }
  }

  private static void signal(String signal, ChildJvm child) throws IOException, InterruptedException {
    assertEquals(0, new ProcessBuilder("kill", signal, Long.toString(child.pid())).start().waitFor());
  }
}

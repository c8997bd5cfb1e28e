package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreBackendProvider;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreException;
import dev.gatun.backend.StoreOptions;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.testing.Thrown;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lifetime and census under faults that only the embedded library can be told to have. */
@Timeout(120)
class LoopbackBackendTest {
  private static final String POOL = "loopback:backend";

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment key = arena.allocateFrom("k");
  private final MemorySegment page = arena.allocate(4096);

  @BeforeEach
  @AfterEach
  void reset() {
    LoopbackControls.reset();
  }

  private static StoreBackend open() {
    return new LoopbackBackendProvider().open(StoreOptions.loopback("backend", 32L << 20));
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(30));
  }

  private int put(StoreBackend store) {
    return store.put(key, page, 4096, store.encodeReplicate(ReplicateOptions.DEFAULT, arena));
  }

  @Test
  @DisplayName("both providers are found as services")
  void services() {
    assertEquals(List.of("loopback", "mooncake"), ServiceLoader.load(StoreBackendProvider.class).stream()
        .map(provider -> provider.get().library()).sorted().toList());
  }

  @Test
  @DisplayName("K6.10 closing under a get that hangs lists it, and goes on once it has returned")
  void closeUnderHangingGet() {
    long stores = LoopbackControls.liveStores();
    StoreBackend store = open();
    assertEquals(0, put(store));
    LoopbackControls.arm("get.before_copy", Action.HANG, 0, 0);
    AtomicLong got = new AtomicLong();
    Thread reader = Thread.ofPlatform().start(() -> got.set(store.get(key, page, 4096)));
    LoopbackControls.awaitHanging("get.before_copy", 1);
    assertEquals(List.of("1 get"), store.close(Deadline.after(Duration.ofMillis(50))));
    assertEquals(stores + 1, LoopbackControls.liveStores());
    LoopbackControls.release("get.before_copy");
    assertEquals(List.of(), store.close(soon()));
    assertEquals(stores, LoopbackControls.liveStores());
    join(reader);
    assertEquals(4096, got.get());
  }

  @Test
  @DisplayName("K13.06 a garbage collection ends while a native call hangs, so no call is critical")
  void collectionDuringNativeCall() {
    try (StoreBackend store = open()) {
      assertEquals(0, put(store));
      List<Runnable> calls = List.of(() -> store.get(key, page, 4096), () -> put(store), () -> store.exists(key),
          () -> store.size(key), () -> store.removeAll(true), () -> store.remove(key, true), () -> store.register(page),
          () -> store.unregister(page), () -> store.removeMatching(key, true));
      List<String> points = List.of("get.before_lookup", "put.before_start", "exists", "size", "remove_all.before",
          "remove.before", "register", "unregister", "remove_regex.before");
      for (int i = 0; i < calls.size(); i++) {
        LoopbackControls.arm(points.get(i), Action.HANG, 0, 0);
        Thread caller = Thread.ofPlatform().start(calls.get(i));
        LoopbackControls.awaitHanging(points.get(i), 1);
        CompletableFuture.runAsync(System::gc).orTimeout(30, TimeUnit.SECONDS).join();
        assertEquals(1, LoopbackControls.hanging(points.get(i)), points.get(i));
        LoopbackControls.release(points.get(i));
        join(caller);
      }
    }
  }

  @Test
  @DisplayName("K6.12 a setup that fails leaves no native store behind, and says why")
  void setupFails() {
    long stores = LoopbackControls.liveStores();
    LoopbackControls.arm("setup", Action.FAIL, -300, 1);
    String message = Thrown.message(GatunException.class, LoopbackBackendTest::open);
    assertTrue(message.startsWith("setup(master loopback:backend) failed: INVALID_VERSION (-300)"), message);
    assertEquals(stores, LoopbackControls.liveStores());
  }

  @Test
  @DisplayName("the embedded library refuses another file of itself by path")
  void otherPath() {
    open().close();
    StoreOptions options = StoreOptions.loopback("backend", 32L << 20).toBuilder()
        .libraryPath(Path.of("/absent.so")).build();
    String message = Thrown.message(GatunException.class, () -> new LoopbackBackendProvider().open(options));
    assertTrue(message.startsWith("the loopback library cannot be used: ") && message.contains("/absent.so"), message);
  }

  @Test
  @DisplayName("K6.09 opening and closing 200 stores leaves no store, thread or file descriptor behind")
  void openAndClose() {
    open().close();
    long stores = LoopbackControls.liveStores();
    ProcessFigures before = ProcessFigures.now();
    for (int i = 0; i < 200; i++) {
      try (StoreBackend store = open()) {
        assertEquals(0, store.health());
      }
    }
    assertEquals(stores, LoopbackControls.liveStores());
    ProcessFigures.awaitWithin(before, 2);
  }

  @Test
  @DisplayName("the census shows a put in flight as a key and a start, and not in the list")
  void putInFlight() {
    try (StoreBackend store = open()) {
      StoreCensus census = store.census().orElseThrow();
      StoreCensus.Reading before = census.read(soon());
      LoopbackControls.arm("put.before_copy", Action.HANG, 0, 0);
      Thread writer = Thread.ofPlatform().start(() -> put(store));
      LoopbackControls.awaitHanging("put.before_copy", 1);
      StoreCensus.Reading during = census.read(soon());
      assertEquals(1, during.keyCount());
      assertEquals(1, during.putStarts() - before.putStarts());
      assertEquals(0, during.putEnds() - before.putEnds());
      assertEquals(List.of(), census.keys(10, soon()));
      LoopbackControls.release("put.before_copy");
      join(writer);
      assertEquals(1, census.read(soon()).putEnds() - before.putEnds());
      assertEquals(List.of("k"), census.keys(10, soon()));
    }
  }

  @Test
  @DisplayName("a revoked put is counted, and a restart shows in the start")
  void revokeAndRestart() {
    try (StoreBackend store = open()) {
      StoreCensus census = store.census().orElseThrow();
      StoreCensus.Reading before = census.read(soon());
      LoopbackControls.arm("put.before_copy", Action.FAIL, -800, 1);
      assertEquals(-800, put(store));
      StoreCensus.Reading revoked = census.read(soon());
      assertEquals(1, revoked.putRevokes() - before.putRevokes());
      assertEquals(before.startId(), revoked.startId());
      LoopbackControls.masterRestart(POOL);
      assertTrue(!census.read(soon()).startId().equals(before.startId()));
    }
  }

  @Test
  @DisplayName("the census lists thousands of keys, long ones too, each once")
  void manyKeys() {
    try (StoreBackend store = open()) {
      MemorySegment plain = store.encodeReplicate(ReplicateOptions.DEFAULT, arena);
      List<String> keys = new ArrayList<>();
      for (int i = 0; i < 3000; i++)
        keys.add("key-" + i);
      keys.add("long-" + "x".repeat(70_000));
      for (String name : keys)
        assertEquals(0, store.put(arena.allocateFrom(name), page, 16, plain));
      List<String> listed = store.census().orElseThrow().keys(10_000, soon());
      assertEquals(keys.stream().sorted().toList(), listed.stream().sorted().toList());
      store.removeAll(true);
    }
  }

  @Test
  @DisplayName("the census of a pool that is gone is an error that names it")
  void poolGone() {
    StoreBackend store = open();
    StoreCensus census = store.census().orElseThrow();
    store.close();
    StoreException thrown = assertThrows(StoreException.class, () -> census.read(soon()));
    assertEquals("census(loopback:backend) failed: SEGMENT_NOT_FOUND (-101)", thrown.getMessage());
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}

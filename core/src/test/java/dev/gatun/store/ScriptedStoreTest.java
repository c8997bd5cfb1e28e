package dev.gatun.store;

import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreException;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.testing.SizeLimit;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The store over a library that answers what no working library answers. */
class ScriptedStoreTest {
  private final EpochGate gate = new EpochGate(new WeightEpoch("run", 1));
  private final ScriptedBackend backend = new ScriptedBackend();
  private final List<AutoCloseable> opened = new ArrayList<>();

  private KvStore store(StorePolicy policy) {
    KvStore store = KvStore.open(backend, StoreOptions.loopback("scripted", 0), KeyCodec.epoch("ns"), gate,
        Observer.NONE, policy);
    opened.addFirst(store);
    return store;
  }

  private BlockPool pool(KvStore store, long pageBytes, int pages) {
    BlockPool pool = BlockPool.allocate(new PoolLayout(pageBytes, pages), gate);
    opened.addLast(pool);
    store.register(pool.slab());
    return pool;
  }

  @AfterEach
  void close() throws Exception {
    backend.inside = call -> {};
    backend.otherCode = 0;
    backend.pendingAtClose = List.of();
    for (AutoCloseable resource : opened)
      resource.close();
  }

  private static StoreBatch fill(StoreBatch batch, BlockPool pool, int entries) {
    batch.clear();
    for (int i = 0; i < entries; i++)
      batch.add(key(i), pool.lease());
    return batch;
  }

  @Test
  @DisplayName("K5.09 a slab beyond what can be registered never reaches the library; a refused one carries the hint")
  void registrationAdvice() {
    KvStore store = store(StorePolicy.DEFAULT);
    try (Slab slab = Slab.allocate(SlabOptions.of("large", 1 << 20))) {
      backend.advice = new SizeLimit(4096);
      List<Long> before = List.copyOf(backend.registeredBytes);
      GatunException refused = assertThrows(GatunException.class, () -> store.register(slab));
      assertTrue(String.valueOf(refused.getMessage()).contains("1048576 bytes are more than 4096"),
          refused.getMessage());
      assertEquals(before, backend.registeredBytes);
      backend.advice = new SizeLimit(1 << 20);
      backend.otherCode = -12;
      StoreException failed = assertThrows(StoreException.class, () -> store.register(slab));
      assertTrue(String.valueOf(failed.getMessage()).contains("; hint for 1048576 bytes and code -12"),
          failed.getMessage());
      assertEquals(List.of(), slab.registrations());
    }
  }

  @Test
  @DisplayName("a library that refuses to unregister keeps no store from being closed")
  void unregisterRefused() {
    KvStore store = store(StorePolicy.DEFAULT);
    pool(store, 4096, 1);
    store.get(key("value"), MemorySegment.ofArray(new byte[1])); // through a buffer that is registered, too
    backend.otherCode = -1;
    assertEquals(List.of(), store.close(Deadline.after(Duration.ofSeconds(10))));
    assertEquals(1, backend.closes);
  }

  @Test
  @DisplayName("K3.13 a batch call that fails as a whole fails every key, and no value of the call before leaks")
  void wholeCall() {
    KvStore store = store(StorePolicy.DEFAULT);
    BlockPool pool = pool(store, 4096, 16);
    StoreBatch batch = fill(store.batch(pool, 4), pool, 4);
    backend.getAnswer = key -> 4096;
    assertEquals(4, batch.get().leadingHits());
    backend.callCode = call -> -900;
    StoreException failure = assertThrows(StoreException.class, batch::get);
    assertEquals(StoreCode.RPC_FAIL, failure.code());
    assertEquals("get", failure.operation());
    for (int i = 0; i < 4; i++) {
      assertEquals(new GetResult.GetFailed(StoreCode.RPC_FAIL, -900), batch.getResult(i));
      assertEquals(0, batch.bytes(i));
      long block = batch.block(i);
      assertThrows(IllegalStateException.class, () -> pool.page(block));
      pool.rewrite(block);
    }
    assertThrows(StoreException.class, batch::put);
    for (int i = 0; i < 4; i++)
      assertEquals(new PutResult.PutFailed(StoreCode.RPC_FAIL, -900), batch.putResult(i));
    assertThrows(StoreException.class, batch::exists);
    for (int i = 0; i < 4; i++)
      assertEquals(Existence.UNKNOWN, batch.existence(i));
    assertThrows(StoreException.class, () -> store.exists(List.of(key(1))));
    assertEquals(0, gate.inside());
    assertEquals(0, pool.quarantined());
  }

  @Test
  @DisplayName("a caught exception of the library leaves the blocks of its call in doubt, not those of calls never sent")
  void caughtException() {
    KvStore store = store(StorePolicy.DEFAULT.withCallLimits(2, 1L << 30));
    BlockPool pool = pool(store, 4096, 16);
    StoreBatch batch = fill(store.batch(pool, 6), pool, 6);
    backend.callCode = call -> call == 1 ? -1 : 0;
    backend.getAnswer = key -> 4096;
    assertThrows(StoreException.class, batch::get);
    assertTrue(batch.isHit(0) && batch.isHit(1), "answers of the call before");
    for (int i = 2; i < 6; i++)
      assertEquals(StoreCode.INTERNAL_ERROR, batch.code(i));
    assertEquals(2, pool.quarantined());
    assertEquals(List.of(2, 2), backend.countsSeen);
  }

  @Test
  @DisplayName("K3.12 each native call that fails shows: operation, subject, code")
  void everyCallFails() {
    KvStore store = store(StorePolicy.DEFAULT.withPatterns());
    BlockPool pool = pool(store, 4096, 4);
    MemorySegment bytes = MemorySegment.ofArray(new byte[16]);
    assertEquals(new PutResult.Stored(), store.put(key(1), bytes));
    backend.otherCode = -1;
    assertEquals(new PutResult.PutFailed(StoreCode.INTERNAL_ERROR, -1), store.put(key(1), bytes));
    assertEquals(new GetResult.GetFailed(StoreCode.INTERNAL_ERROR, -1), store.get(key(1), bytes));
    assertEquals(new SizeResult.Unknown(StoreCode.INTERNAL_ERROR, -1), store.size(key(1)));
    assertEquals(new RemoveResult.RemoveFailed(StoreCode.INTERNAL_ERROR, -1), store.remove(key(1), true));
    assertEquals(StoreCode.INTERNAL_ERROR, store.health().probe());
    assertFalse(store.health().healthy());
    ContractBench.assertSays("removeAll(force=true) failed: INTERNAL_ERROR (-1)",
        assertThrows(StoreException.class, () -> store.removeAll(true)));
    ContractBench.assertSays("removePrefix(abc) failed",
        assertThrows(StoreException.class, () -> store.removePrefix("abc", true)));
    ContractBench.assertSays("removeMatching(abc) failed",
        assertThrows(StoreException.class, () -> store.removeMatching("abc", true)));
    ContractBench.assertSays("unregister(slab",
        assertThrows(StoreException.class, () -> store.unregister(pool.slab())));
    assertEquals(1, pool.slab().registrations().size());
    try (BlockPool other = BlockPool.allocate(new PoolLayout(64, 1), gate)) {
      ContractBench.assertSays("register(slab", assertThrows(StoreException.class, () -> store.register(other.slab())));
      assertEquals(0, other.slab().registrations().size());
    }
    assertEquals(-1, store.refitPort().removeAllForced());
    assertEquals(-1, store.refitPort().sizeOfCanary("canary"));
  }

  @Test
  @DisplayName("K3.08 a get of length 0 is no hit")
  void emptyObject() {
    KvStore store = store(StorePolicy.DEFAULT);
    BlockPool pool = pool(store, 4096, 4);
    StoreBatch batch = fill(store.batch(pool, 2), pool, 2);
    backend.getAnswer = key -> key.endsWith("1") ? 0 : 100;
    batch.get();
    assertEquals(new GetResult.Hit(100), batch.getResult(0));
    assertEquals(new GetResult.Rejected(Rejection.EMPTY), batch.getResult(1));
    assertEquals(StoreCode.PAGE_REJECTED, batch.code(1));
    assertThrows(IllegalStateException.class, () -> pool.page(batch.block(1)));
    assertEquals(new GetResult.Rejected(Rejection.EMPTY), store.get(key(1), MemorySegment.ofArray(new byte[8])));
  }

  @Test
  @DisplayName("answers outside a function's range are failures, and unknown codes keep their number")
  void strangeAnswers() {
    KvStore store = store(StorePolicy.DEFAULT);
    BlockPool pool = pool(store, 4096, 8);
    StoreBatch batch = fill(store.batch(pool, 3), pool, 3);
    backend.putAnswer = key -> key.endsWith("0") ? 7 : key.endsWith("1") ? -4242 : -705;
    batch.put();
    assertEquals(StoreCode.UNKNOWN, batch.code(0));
    assertFalse(batch.isStored(0));
    assertEquals(new PutResult.PutFailed(StoreCode.UNKNOWN, -4242), batch.putResult(1));
    assertEquals(new PutResult.AlreadyPresent(), batch.putResult(2));
    backend.getAnswer = key -> key.endsWith("0") ? 4097 : -4242;
    batch.get();
    assertEquals(new GetResult.Rejected(Rejection.TORN), batch.getResult(0));
    assertEquals(new GetResult.GetFailed(StoreCode.UNKNOWN, -4242), batch.getResult(1));
    backend.existsAnswer = key -> key.endsWith("0") ? 2 : -900;
    batch.exists();
    assertEquals(Existence.UNKNOWN, batch.existence(0));
    assertEquals(Existence.UNKNOWN, batch.existence(1));
    assertEquals(StoreCode.RPC_FAIL, batch.code(1));
  }

  @Test
  @DisplayName("K4.02 a page of 4 GiB and a byte passes as 64 bits")
  void beyondFourGiB() {
    KvStore store = store(StorePolicy.DEFAULT);
    BlockPool pool = pool(store, (4L << 30) + 1, 1);
    long block = pool.lease();
    assertEquals(new PutResult.Stored(), store.putPage(key(1), pool, block));
    backend.getAnswer = key -> (4L << 30) + 1;
    assertEquals(new GetResult.Hit((4L << 30) + 1), store.getPage(key(1), pool, block));
    assertEquals(List.of((4L << 30) + 1, (4L << 30) + 1), backend.sizesSeen);
    assertTrue(backend.registeredBytes.getFirst() > 4L << 30, "K4.05 registered in one call");
  }

  @Test
  @DisplayName("K4.06 300,000 entries are split by count and by bytes, and joined in order")
  void split() {
    int entries = 300_000;
    KvStore store = store(StorePolicy.DEFAULT.withCallLimits(4096, 1_000_000));
    BlockPool pool = pool(store, 512, entries);
    StoreBatch batch = fill(store.batch(pool, entries), pool, entries);
    backend.putAnswer = key -> key.hashCode() % 7 == 0 ? -200 : 0;
    batch.put();
    assertTrue(backend.countsSeen.stream().allMatch(count -> count <= 1_000_000 / 512), backend.countsSeen::toString);
    for (int i = 0; i < entries; i++) {
      assertEquals("ns/run/1/key-" + i, backend.keysSeen.get(i));
      assertEquals(backend.keysSeen.get(i).hashCode() % 7 != 0, batch.isStored(i));
    }
    backend.countsSeen.clear();
    batch.exists();
    assertEquals(Math.ceilDiv(entries, 4096), backend.countsSeen.size());
  }

  @Test
  @DisplayName("K4.07 a batch of a million entries has a bounded native footprint, and bounded calls")
  void million() {
    KvStore store = store(StorePolicy.DEFAULT);
    BlockPool pool = pool(store, 64, 4);
    try (StoreBatch batch = store.batch(pool, StoreBatch.CAPACITY_MAX)) {
      for (int i = 0; i < StoreBatch.CAPACITY_MAX; i++)
        batch.add(key(i));
      batch.exists();
      assertTrue(batch.nativeBytes() <= 256L * StoreBatch.CAPACITY_MAX, "bytes: " + batch.nativeBytes());
    }
    assertEquals(StorePolicy.DEFAULT.keysPerCallMax(), backend.countsSeen.stream().mapToInt(count -> count).max()
        .orElseThrow());
  }

  @Test
  @DisplayName("K3.09 random failures of keys, 1,000 times: each is reported once, and its block serves again")
  void randomFailures() {
    KvStore store = store(StorePolicy.DEFAULT.withFailedKeysFor(Duration.ZERO));
    BlockPool pool = pool(store, 64, 16);
    StoreBatch batch = store.batch(pool, 16);
    long seed = 20261129;
    Random random = new Random(seed);
    int[] codes = {64, -704, -707, -600, -900, 0, 200};
    long[] blocks = IntStream.range(0, 16).mapToLong(i -> pool.lease()).toArray();
    for (int round = 0; round < 1000; round++) {
      int[] answers = random.ints(16, 0, codes.length).map(i -> codes[i]).toArray();
      backend.getAnswer = key -> answers[Integer.parseInt(key.substring(key.lastIndexOf('-') + 1))];
      batch.clear();
      for (int i = 0; i < 16; i++)
        batch.add(key(i), blocks[i]);
      batch.get();
      for (int i = 0; i < 16; i++)
        assertEquals(answers[i] == 64, batch.isHit(i), "seed " + seed + " round " + round);
      for (int i = 0; i < 16; i++)
        pool.rewrite(blocks[i]);
    }
  }

  @Test
  @DisplayName("K6.12 an exception inside any native call gives everything back exactly once")
  void exceptionInside() {
    KvStore store = store(StorePolicy.DEFAULT.probing());
    BlockPool pool = pool(store, 4096, 4);
    StoreBatch batch = fill(store.batch(pool, 4), pool, 4);
    for (String step : List.of("batchExists", "batchPut")) {
      backend.inside = call -> {
        if (call.equals(step)) throw new IllegalStateException("inside " + step);
      };
      assertThrows(IllegalStateException.class, batch::put);
      for (int i = 0; i < 4; i++)
        assertEquals(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS, batch.code(i));
      assertEquals(List.of(), pool.pending());
    }
    backend.inside = call -> {
      throw new IllegalStateException("inside " + call);
    };
    MemorySegment bytes = MemorySegment.ofArray(new byte[16]);
    assertThrows(IllegalStateException.class, batch::get);
    assertThrows(IllegalStateException.class, batch::exists);
    assertThrows(IllegalStateException.class, () -> store.put(key(1), bytes));
    assertThrows(IllegalStateException.class, () -> store.get(key(1), bytes));
    assertThrows(IllegalStateException.class, () -> store.size(key(1)));
    assertThrows(IllegalStateException.class, () -> store.remove(key(1), true));
    assertThrows(IllegalStateException.class, () -> store.removeAll(true));
    assertEquals(0, gate.inside());
    assertEquals(0, pool.quarantined());
    backend.inside = call -> {};
    for (int i = 0; i < 4; i++)
      pool.rewrite(batch.block(i));
    assertTrue(batch.put().isStored(3));
    for (int i = 0; i < 4; i++)
      pool.release(batch.block(i));
    assertEquals(4, pool.available());
    assertEquals(List.of(), store.close(Deadline.after(Duration.ZERO)));
    assertEquals(1, backend.closes);
    assertEquals(backend.registeredBytes.size(), backend.unregistered);
  }

  @Test
  @DisplayName("K6.10 a native close that does not return is listed, and memory stays")
  void closeHangs() {
    KvStore store = store(StorePolicy.DEFAULT);
    BlockPool pool = pool(store, 4096, 4);
    backend.getAnswer = key -> -800;
    assertEquals(StoreCode.TRANSFER_FAIL, fill(store.batch(pool, 1), pool, 1).get().code(0));
    store.put(KvKey.of("staged"), MemorySegment.ofArray(new byte[16]));
    backend.pendingAtClose = List.of("1 destroy");
    assertEquals(List.of("1 destroy"), store.close(Deadline.after(Duration.ZERO)));
    assertEquals(1, pool.quarantined());
    assertThrows(InUseException.class, pool::close);
    backend.pendingAtClose = List.of();
    assertEquals(List.of(), store.close(Deadline.after(Duration.ZERO)));
    assertEquals(0, pool.quarantined());
    assertEquals(1, backend.closes);
  }

  @Test
  @DisplayName("K1.17 a codec without an epoch is refused where a removal would prove nothing, and the backend is closed")
  void doubts() {
    backend.doubts = List.of("the hot cache is on");
    IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
        () -> KvStore.open(backend, StoreOptions.loopback("scripted", 0), KeyCodec.plain("ns"), gate, Observer.NONE,
            StorePolicy.DEFAULT));
    ContractBench.assertSays("the hot cache is on", refusal);
    assertEquals(1, backend.closes);
    assertEquals(List.of(), gate.parts());
    assertEquals(backend.doubts, store(StorePolicy.DEFAULT).refitPort().doubts());
  }

  @Test
  @DisplayName("K10.02 every call builds the same key")
  void sameKeys() {
    KvStore store = store(StorePolicy.DEFAULT);
    BlockPool pool = pool(store, 64, 4);
    MemorySegment bytes = MemorySegment.ofArray(new byte[8]);
    KvKey key = KvKey.of("ä/b c");
    StoreBatch batch = store.batch(pool, 1).add(key, pool.lease());
    batch.put().exists().get();
    store.put(key, bytes);
    store.get(key, bytes);
    store.exists(key);
    store.size(key);
    store.remove(key, false);
    assertEquals(List.of("ns/run/1/ä/b c"), backend.keysSeen.stream().distinct().toList());
    assertEquals(8, backend.keysSeen.size());
  }

  @Test
  @DisplayName("health probes at most twice a second, and one caller at a time")
  void healthIsBounded() {
    KvStore store = store(StorePolicy.DEFAULT);
    AtomicInteger probes = new AtomicInteger();
    backend.inside = call -> probes.incrementAndGet();
    for (int i = 0; i < 1000; i++)
      store.health();
    assertTrue(probes.get() >= 1 && probes.get() <= 100, "probes in a moment: " + probes);
  }
}

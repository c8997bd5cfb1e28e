package dev.gatun.store;

import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.function.Executable;

/** What is refused before anything is sent, the same on every library. */
final class ArgumentCases {
  private ArgumentCases() {}

  static List<ContractCase> all() {
    return List.of(
        ContractCase.always("K3.02 the same key twice in a batch is refused, naming both entries",
            ArgumentCases::twice),
        ContractCase.always("K3.02 the same key twice in an existence query is refused", ArgumentCases::twiceInQuery),
        ContractCase.always("a null block is refused, naming the entry", ArgumentCases::nullBlock),
        ContractCase.always("K10.10 the null block of a pool is never put", ArgumentCases::reservedNull),
        ContractCase.always("an entry without a block is refused by put and get, not by exists",
            ArgumentCases::noBlock),
        ContractCase.always("lengths outside the page are refused, naming the entry", ArgumentCases::lengths),
        ContractCase.always("empty values and rooms are refused", ArgumentCases::empty),
        ContractCase.always(
            "values and rooms of another thread's confined arena, or of a closed one, are refused by name",
            ArgumentCases::unusable),
        ContractCase.always("a released block is refused, naming the entry, and nothing is sent", ArgumentCases::stale),
        ContractCase.always("a block of another pool is refused, naming the entry", ArgumentCases::otherPool),
        ContractCase.always("a pool whose slab is not registered is refused", ArgumentCases::notRegistered),
        ContractCase.always("a pool of another gate is refused", ArgumentCases::otherGate),
        ContractCase.always("a pool without room for the stamp is refused", ArgumentCases::noHeader),
        ContractCase.always("a batch never takes more than its capacity", ArgumentCases::full),
        ContractCase.always("outcomes are not to be had before an operation, or of another one",
            ArgumentCases::outcomes),
        ContractCase.always("one block as the target of two entries is refused", ArgumentCases::sameTarget),
        ContractCase.always("a block whose get missed is refused by put until it is written anew",
            ArgumentCases::missed),
        ContractCase.always("unregistering ends the use of a slab; registering begins it again", ArgumentCases::again));
  }

  private static void refused(String named, Class<? extends Exception> type, Executable call) {
    ContractBench.assertSays(named, assertThrows(type, call));
  }

  private static void twice(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 5)) {
      batch.add(key(1), pool.lease()).add(key(2), pool.lease()).add(key(3), pool.lease());
      refused("entry 3 has the key of entry 1", IllegalArgumentException.class, () -> batch.add(key(2), pool.lease()));
      assertEquals(3, batch.size());
      batch.clear().add(key(2), pool.lease());
      assertEquals(1, batch.size());
    }
  }

  private static void twiceInQuery(ContractBench bench) {
    KvStore store = bench.store();
    refused("entry 1 has the key of entry 0", IllegalArgumentException.class,
        () -> store.exists(List.of(key(1), key(1))));
  }

  private static void nullBlock(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(0), pool.lease());
      refused("entry 1 (key-1)", IllegalArgumentException.class, () -> batch.add(key(1), 0));
    }
  }

  private static void reservedNull(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    long block = pool.lease();
    pool.reserveNull(block);
    refused("entry 0 (key-1)", IllegalStateException.class, () -> store.putPage(key(1), pool, block));
    assertEquals(Existence.ABSENT, store.exists(key(1)));
  }

  private static void noBlock(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(0), bench.filled(pool, 0)).add(key(1));
      refused("entry 1 (key-1)", IllegalStateException.class, batch::put);
      refused("entry 1 (key-1)", IllegalStateException.class, batch::get);
      assertEquals(Existence.ABSENT, batch.exists().existence(0));
    }
  }

  private static void lengths(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 2)) {
      for (long bytes : new long[]{0, -1, ContractBench.PAGE_BYTES + 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
        refused("entry 0 (key-1): bytes must be 1 to 4096: " + bytes, IllegalArgumentException.class,
            () -> batch.add(key(1), pool.lease(), bytes));
      }
    }
  }

  private static void empty(ContractBench bench) {
    KvStore store = bench.store();
    MemorySegment nothing = MemorySegment.ofArray(new byte[0]);
    refused("value must not be empty", IllegalArgumentException.class, () -> store.put(key(1), nothing));
    refused("target must not be empty", IllegalArgumentException.class, () -> store.get(key(1), nothing));
    MemorySegment readOnly = MemorySegment.ofArray(new byte[8]).asReadOnly();
    refused("target must be writable", IllegalArgumentException.class, () -> store.get(key(1), readOnly));
    assertEquals(new PutResult.Stored(), store.put(key(1), readOnly));
  }

  private static void unusable(ContractBench bench) throws Exception {
    KvStore store = bench.store();
    CountDownLatch end = new CountDownLatch(1);
    CompletableFuture<MemorySegment> confined = new CompletableFuture<>();
    Thread other = Thread.ofPlatform().start(() -> {
      try (Arena arena = Arena.ofConfined()) {
        confined.complete(arena.allocate(8));
        end.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    try {
      MemorySegment foreign = confined.get(10, TimeUnit.SECONDS);
      refused("value must be of an arena that this thread", IllegalArgumentException.class,
          () -> store.put(key(1), foreign));
      refused("target must be of an arena that this thread", IllegalArgumentException.class,
          () -> store.get(key(1), foreign));
    } finally {
      end.countDown();
      other.join();
    }
    MemorySegment dead = confined.get();
    refused("value must be alive", IllegalStateException.class, () -> store.put(key(1), dead));
    refused("target must be alive", IllegalStateException.class, () -> store.get(key(1), dead));
    assertEquals(Existence.ABSENT, store.exists(key(1)));
  }

  private static void stale(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    long gone = bench.filled(pool, 1);
    pool.release(gone);
    long good = bench.filled(pool, 0);
    try (StoreBatch batch = store.batch(pool, 3)) {
      batch.add(key(0), good).add(key(1), gone).add(key(2), bench.filled(pool, 2));
      refused("entry 1 (key-1)", IllegalStateException.class, batch::put);
      refused("entry 1 (key-1)", IllegalStateException.class, batch::get);
    }
    assertEquals(List.of(Existence.ABSENT, Existence.ABSENT, Existence.ABSENT),
        store.exists(List.of(key(0), key(1), key(2))));
    assertEquals(List.of(), pool.pending());
    assertEquals(pool.pageBytes(), pool.page(good).byteSize(), "what was refused has touched no page");
  }

  private static void otherPool(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    BlockPool other = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(0), bench.filled(pool, 0)).add(key(1), bench.filled(other, 1));
      refused("entry 1 (key-1)", IllegalArgumentException.class, batch::put);
      batch.clear().add(key(0), Long.MAX_VALUE);
      refused("entry 0 (key-0)", IllegalArgumentException.class, batch::put);
    }
    assertEquals(Existence.ABSENT, store.exists(key(0)));
  }

  private static void notRegistered(ContractBench bench) {
    KvStore store = bench.store();
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(4096, 2), bench.gate)) {
      refused("must be registered", IllegalArgumentException.class, () -> store.batch(pool, 1));
      refused("must be registered", IllegalArgumentException.class, () -> store.putPage(key(1), pool, pool.lease()));
      refused("must be registered", IllegalArgumentException.class, () -> store.unregister(pool.slab()));
    }
  }

  private static void otherGate(ContractBench bench) {
    KvStore store = bench.store();
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(4096, 2), new EpochGate(new WeightEpoch("run", 1)))) {
      refused("gate", IllegalArgumentException.class, () -> store.batch(pool, 1));
    }
  }

  private static void noHeader(ContractBench bench) {
    KvStore stamped = bench.open(KeyCodec.plain("contract").withVerify(Verify.STAMP));
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(4096, 2), bench.gate)) {
      stamped.register(pool.slab());
      refused("headerBytes 64", IllegalArgumentException.class, () -> stamped.batch(pool, 1));
      stamped.unregister(pool.slab());
    }
  }

  private static void full(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    for (int capacity : new int[]{0, -1, StoreBatch.CAPACITY_MAX + 1}) {
      refused("capacity must be 1 to", IllegalArgumentException.class, () -> store.batch(pool, capacity));
    }
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(0)).add(key(1));
      refused("capacity 2", IllegalStateException.class, () -> batch.add(key(2)));
      assertEquals(2, batch.exists().size());
    }
  }

  private static void outcomes(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(0), bench.filled(pool, 0));
      refused("has not run", IllegalStateException.class, () -> batch.code(0));
      batch.put();
      refused("of PUT", IllegalStateException.class, () -> batch.isHit(0));
      refused("of PUT", IllegalStateException.class, () -> batch.existence(0));
      assertThrows(IndexOutOfBoundsException.class, () -> batch.code(1));
      assertThrows(IndexOutOfBoundsException.class, () -> batch.putResult(-1));
      batch.clear();
      assertThrows(IndexOutOfBoundsException.class, () -> batch.code(0));
      batch.put().get().exists();
      assertEquals(0, batch.size());
    }
  }

  private static void sameTarget(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 0, 1);
    long block = pool.lease();
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(0), block).add(key(1), block);
      refused("entry 1 (key-1)", IllegalStateException.class, batch::get);
    }
  }

  private static void missed(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    long block = bench.filled(pool, 1);
    try (StoreBatch batch = store.batch(pool, 1)) {
      batch.add(key(1), block).get();
      assertEquals(new GetResult.Miss(), batch.getResult(0));
      assertThrows(IllegalStateException.class, () -> pool.page(block));
      refused("entry 0 (key-1)", IllegalStateException.class, batch::put);
      ContractBench.fill(pool.rewrite(block), 1);
      assertTrue(batch.put().isStored(0));
    }
    bench.assertHit(store, pool, 1);
  }

  private static void again(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    assertThrows(IllegalStateException.class, () -> store.register(pool.slab()));
    try (StoreBatch batch = store.batch(pool, 1)) {
      batch.add(key(1), bench.filled(pool, 1));
      store.unregister(pool.slab());
      refused("was unregistered", ClosedException.class, batch::put);
      refused("was unregistered", ClosedException.class, batch::get);
      refused("must be registered", IllegalArgumentException.class, () -> store.batch(pool, 1));
      store.register(pool.slab());
      refused("was unregistered", ClosedException.class, batch::put);
    }
    bench.putAll(store, pool, 2);
    bench.assertHit(store, pool, 2);
  }
}

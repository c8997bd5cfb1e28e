package dev.gatun.store;

import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreCode;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.memory.BlockPool;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** A pool that is full: what gives way, what does not, and that the client goes on. */
final class CapacityCases {
  private static final long MIB = 1L << 20;
  private static final ReplicateOptions SOFT = new ReplicateOptions(1, true, false, List.of());

  private CapacityCases() {}

  static List<ContractCase> all() {
    return List.of(
        ContractCase.controlled("K12.01 a full pool says so for its key, keeps what it has, and stays usable",
            CapacityCases::full),
        ContractCase.controlled("K12.02 K12.03 ten times the pool's size of puts, the last of them readable",
            CapacityCases::tenTimes),
        ContractCase.controlled("a hard pin is never evicted", CapacityCases::hardPin),
        ContractCase.controlled("a soft pin is evicted after ordinary pages", CapacityCases::softPin),
        ContractCase.controlled("leased pages are not evicted, even if nothing else gives way", CapacityCases::leased),
        ContractCase.controlled("K4.09 a copying put larger than the local buffer is refused; a block is not",
            CapacityCases::localBuffer),
        ContractCase.controlled("a value larger than the pool fails its key only", CapacityCases::tooLarge));
  }

  private static PutResult put(KvStore store, BlockPool pool, int number, ReplicateOptions placement) {
    long block = pool.lease();
    ContractBench.fill(pool.page(block).asSlice(0, 512), number);
    try (StoreBatch batch = store.batch(pool, 1)) {
      return batch.replicate(placement).add(key(number), block).put().putResult(0);
    } finally {
      pool.release(block);
    }
  }

  private static boolean stored(KvStore store, BlockPool pool, int number, ReplicateOptions placement) {
    return put(store, pool, number, placement) instanceof PutResult.Stored;
  }

  private static void assertReadable(ContractBench bench, KvStore store, BlockPool pool, int number) {
    long block = bench.blank(pool);
    assertEquals(new GetResult.Hit(pool.pageBytes()), store.getPage(key(number), pool, block), "key " + number);
    ContractBench.assertPattern(pool.page(block), 512, number, "page of key " + number);
    pool.release(block);
  }

  private static void full(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, 4 * MIB, 2);
    int stored = 0;
    PutResult last;
    do {
      last = put(store, pool, stored, ReplicateOptions.hardPinned());
      if (last instanceof PutResult.Stored) stored++;
    } while (last instanceof PutResult.Stored && stored < 100);
    assertEquals(new PutResult.PutFailed(StoreCode.NO_AVAILABLE_HANDLE, -200), last);
    assertTrue(((PutResult.PutFailed) last).retryable());
    assertTrue(stored >= 12, "4 MiB pages in 64 MiB: " + stored);
    for (int i = 0; i < stored; i++)
      assertReadable(bench, store, pool, i);
    assertEquals(new RemoveResult.Removed(), store.remove(key(0), true));
    assertTrue(stored(store, pool, 1000, ReplicateOptions.hardPinned()));
    assertReadable(bench, store, pool, 1000);
  }

  private static void tenTimes(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, MIB, 2);
    int count = (int) (10 * LoopbackSubject.CAPACITY_BYTES / MIB);
    for (int i = 0; i < count; i++) {
      int number = i;
      ContractBench.await("room for page " + i, () -> stored(store, pool, number, ReplicateOptions.DEFAULT));
    }
    for (int i = count - 40; i < count; i++)
      assertReadable(bench, store, pool, i);
    assertEquals(Existence.ABSENT, store.exists(key(0)));
  }

  /** Puts ordinary pages, several times what the pool holds, and leaves no lease on any. */
  private static void crowd(KvStore store, BlockPool pool, int first, int count) {
    for (int i = 0; i < count; i++) {
      int number = first + i;
      ContractBench.await("room for page " + number, () -> stored(store, pool, number, ReplicateOptions.DEFAULT));
    }
  }

  private static void hardPin(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, MIB, 2);
    for (int i = 0; i < 8; i++)
      assertTrue(stored(store, pool, i, ReplicateOptions.hardPinned()));
    crowd(store, pool, 100, 200);
    for (int i = 0; i < 8; i++)
      assertReadable(bench, store, pool, i);
  }

  private static void softPin(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, MIB, 2);
    for (int i = 0; i < 8; i++)
      assertTrue(stored(store, pool, i, SOFT));
    crowd(store, pool, 100, 200);
    for (int i = 0; i < 8; i++)
      assertReadable(bench, store, pool, i);
    store.removeAll(true);
    for (int i = 0; i < 8; i++)
      assertTrue(stored(store, pool, i, SOFT));
    LoopbackControls.advanceClock(Duration.ofMinutes(31));
    crowd(store, pool, 400, 200);
    List<KvKey> pinned = IntStream.range(0, 8).mapToObj(ContractBench::key).toList();
    assertTrue(store.exists(pinned).contains(Existence.ABSENT), "soft pins that ran out");
  }

  private static void leased(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, 4 * MIB, 2);
    LoopbackControls.watermark(100); // evict only where room is needed
    int stored = 0;
    PutResult last = new PutResult.Stored();
    while (last instanceof PutResult.Stored && stored < 100) {
      last = put(store, pool, stored, ReplicateOptions.DEFAULT);
      if (last instanceof PutResult.Stored) assertEquals(Existence.PRESENT, store.exists(key(stored++)));
    }
    assertEquals(new PutResult.PutFailed(StoreCode.NO_AVAILABLE_HANDLE, -200), last);
    for (int i = 0; i < stored; i++)
      assertReadable(bench, store, pool, i);
    bench.subject.hastenLeases();
    ContractBench.await("room after the leases", () -> stored(store, pool, 1000, ReplicateOptions.DEFAULT));
  }

  private static void localBuffer(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, 20 * MIB, 1);
    IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
        () -> store.put(key(1), pool.page(pool.lease())));
    ContractBench.assertSays("localBufferBytes", refusal);
    KvStore second = bench.otherStore();
    BlockPool secondPool = bench.pool(second, 20 * MIB, 1);
    assertTrue(stored(second, secondPool, 2, ReplicateOptions.DEFAULT));
  }

  private static void tooLarge(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, 80 * MIB, 2);
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(1), pool.lease()).add(key(2), pool.lease(), 1000).put();
      assertEquals(StoreCode.NO_AVAILABLE_HANDLE, batch.code(0));
      assertTrue(batch.isStored(1));
      PutResult.PutFailed failed = assertInstanceOf(PutResult.PutFailed.class, batch.putResult(0));
      assertEquals("put of key-1: " + 80 * MIB + " bytes are more than the largest segment of the store has, "
          + 64 * MIB + "; give it a larger one, or split the value", failed.detail());
      assertFalse(failed.retryable(), "it never fits");
      batch.put();
      assertEquals(failed, batch.putResult(0), "told again without asking the master again");
    }
  }
}

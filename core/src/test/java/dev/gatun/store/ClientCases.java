package dev.gatun.store;

import static dev.gatun.store.ContractBench.join;
import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.StoreCode;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.function.Executable;

/** Several clients of one pool, and the life of one. */
final class ClientCases {
  private ClientCases() {}

  static List<ContractCase> all() {
    return List.of(
        ContractCase.always("what one client puts another gets, and removes", ClientCases::two),
        ContractCase.always("K3.05 two clients put 8 MiB under one key at once: one of them is read, whole",
            ClientCases::race),
        ContractCase.always(
            "K1.09 pages outlive the client that put them, and are gone for a later one after a removal",
            ClientCases::reopen),
        ContractCase.always("K1.15 four clients remove all at once, all succeed", ClientCases::removeAtOnce),
        ContractCase.always("a closed store refuses everything with the same exception", ClientCases::closed),
        ContractCase.always("closing twice is closing once, and closes batches and registrations",
            ClientCases::closeTwice),
        ContractCase.always("health is true for a client without a segment", ClientCases::health),
        ContractCase.always("K13.03 a batch is handed from thread to thread", ClientCases::handOver));
  }

  private static void two(ContractBench bench) {
    KvStore first = bench.store();
    KvStore second = bench.otherStore();
    BlockPool pool = bench.pool(first);
    BlockPool otherPool = bench.pool(second);
    bench.putAll(first, pool, 1, 2);
    bench.assertHit(second, otherPool, 1);
    bench.assertHit(second, otherPool, 2);
    bench.putAll(second, otherPool, 3);
    bench.assertHit(first, pool, 3);
    assertEquals(new RemoveResult.Removed(), second.remove(key(1), true));
    assertEquals(new GetResult.Miss(), bench.get(first, pool, key(1)));
  }

  private static void race(ContractBench bench) {
    KvStore first = bench.store();
    KvStore second = bench.otherStore();
    BlockPool pool = bench.pool(first, 8L << 20, 2);
    BlockPool otherPool = bench.pool(second, 8L << 20, 2);
    long one = bench.filled(pool, 1);
    long two = bench.filled(otherPool, 2);
    long target = pool.lease();
    for (int round = 0; round < 8; round++) {
      KvKey contested = key(round);
      CompletableFuture<PutResult> a = bench.start(() -> first.putPage(contested, pool, one));
      CompletableFuture<PutResult> b = bench.start(() -> second.putPage(contested, otherPool, two));
      assertEquals(new PutResult.Stored(), join(a));
      assertEquals(new PutResult.Stored(), join(b));
      assertEquals(new GetResult.Hit(8L << 20), first.getPage(contested, pool, target));
      boolean isFirst = MemorySegment.mismatch(pool.page(one), 0, 8, pool.page(target), 0, 8) < 0;
      ContractBench.assertPattern(pool.page(target), 8L << 20, isFirst ? 1 : 2, "the value that won");
      first.remove(contested, true);
    }
  }

  private static void reopen(ContractBench bench) {
    KvStore first = bench.ownStore(StorePolicy.DEFAULT);
    bench.putAll(first, bench.pool(first), 1, 2);
    first.close();
    KvStore second = bench.store();
    BlockPool pool = bench.pool(second);
    bench.assertHit(second, pool, 1);
    assertEquals(2, second.removeAll(true));
    KvStore third = bench.ownStore(StorePolicy.DEFAULT);
    assertEquals(List.of(Existence.ABSENT, Existence.ABSENT), third.exists(List.of(key(1), key(2))));
  }

  private static void removeAtOnce(ContractBench bench) {
    KvStore store = bench.store();
    KvStore other = bench.otherStore();
    int[] seeds = IntStream.range(0, 40).toArray();
    bench.putAll(store, bench.pool(store), seeds);
    List<CompletableFuture<Long>> removals = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      KvStore caller = i % 2 == 0 ? store : other;
      removals.add(bench.start(() -> caller.removeAll(true)));
    }
    assertEquals(40, removals.stream().mapToLong(ContractBench::join).sum());
  }

  private static void closed(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    StoreBatch batch = store.batch(pool, 1).add(key(1), bench.filled(pool, 1));
    store.close();
    MemorySegment bytes = MemorySegment.ofArray(new byte[8]);
    List<Executable> calls = List.of(batch::put, batch::get, batch::exists, batch::clear,
        () -> batch.add(key(2)), () -> store.put(key(1), bytes), () -> store.get(key(1), bytes),
        () -> store.exists(key(1)), () -> store.size(key(1)), () -> store.remove(key(1), true),
        () -> store.removeAll(true), () -> store.removePrefix("k", true), () -> store.register(pool.slab()),
        () -> store.health());
    for (int i = 0; i < calls.size(); i++)
      assertThrows(ClosedException.class, calls.get(i), "call " + i);
    assertTrue(pool.slab().registrations().isEmpty());
  }

  private static void closeTwice(ContractBench bench) {
    KvStore store = bench.ownStore(StorePolicy.DEFAULT);
    BlockPool pool = bench.pool(store);
    StoreBatch batch = store.batch(pool, 1);
    assertEquals(1, pool.slab().registrations().size());
    assertEquals(List.of(), store.close(Deadline.after(Duration.ofSeconds(20))));
    store.close();
    batch.close();
    assertTrue(pool.slab().registrations().isEmpty());
    assertEquals(0, store.quarantined());
  }

  private static void health(ContractBench bench) {
    KvStore store = bench.store();
    Health health = store.health();
    assertTrue(health.healthy(), health::toString);
    assertEquals(0, health.libraryFigure());
    assertEquals(StoreCode.OK, health.probe());
    assertTrue(store.health().ageNanos() >= 0);
  }

  private static void handOver(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 2)) {
      for (int i = 0; i < 10; i++) {
        int seed = i;
        long block = bench.filled(pool, seed);
        assertTrue(join(bench.start(() -> batch.clear().add(key(seed), block).put().isStored(0))));
        assertTrue(join(bench.start(() -> batch.get().isHit(0))));
        pool.release(block);
      }
    }
  }
}

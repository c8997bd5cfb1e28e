package dev.gatun.store;

import static dev.gatun.store.ContractBench.join;
import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreBackend;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;

/** What must outlive a native call, what may not outlive a removal, and a client that ends before its store. */
final class LifetimeCases {
  private static final int KEYS = 32;
  private static final int POLLERS = 6;

  private LifetimeCases() {}

  static List<ContractCase> all() {
    return List.of(
        ContractCase.controlled("K1.13 a key removed while a get of it is under way misses afterwards: nothing is kept",
            LifetimeCases::removedDuringGet),
        ContractCase.controlled("K6.08 keys, addresses and sizes of a batch stay where they are until its call returns",
            LifetimeCases::columnsStay),
        ContractCase.controlled("K13.15 a client that is closed beneath its store ends every caller with one exception",
            LifetimeCases::closedBeneath));
  }

  private static void removedDuringGet(ContractBench bench) {
    KvStore store = bench.store();
    KvStore other = bench.otherStore();
    BlockPool pool = bench.pool(store);
    MemorySegment heap = MemorySegment.ofArray(new byte[ContractBench.PAGE_BYTES]);
    long block = pool.lease();
    List<Callable<GetResult>> gets = List.of(() -> store.getPage(key(1), pool, block), () -> store.get(key(1), heap));
    for (Callable<GetResult> get : gets) {
      bench.putAll(store, pool, 1);
      LoopbackControls.arm("get.before_copy", Action.HANG, 0, 1);
      CompletableFuture<GetResult> running = bench.start(get);
      LoopbackControls.awaitHanging("get.before_copy", 1);
      assertEquals(new RemoveResult.Removed(), other.remove(key(1), true));
      LoopbackControls.release("get.before_copy");
      assertEquals(new GetResult.Hit(ContractBench.PAGE_BYTES), join(running));
      assertEquals(new GetResult.Miss(), bench.get(store, pool, key(1)));
      assertEquals(new GetResult.Miss(), store.get(key(1), heap));
      assertEquals(Existence.ABSENT, store.exists(key(1)));
    }
  }

  /** One kind of batch call: where its first key hangs, the call, and what it must have come to for each key. */
  private record BatchCall(String point, UnaryOperator<StoreBatch> run, BiConsumer<StoreBatch, Integer> check) {}

  /** Whoever frees them early gives them to the churn, and the library then reads that. */
  private static void columnsStay(ContractBench bench) {
    KvStore store = bench.ownStore(StorePolicy.DEFAULT);
    BlockPool pool = bench.pool(store);
    List<BatchCall> calls = List.of(
        new BatchCall("put.before_start", StoreBatch::put, (batch, i) -> assertTrue(batch.isStored(i), "key " + i)),
        new BatchCall("exists", StoreBatch::exists, (batch, i) -> assertEquals(Existence.PRESENT, batch.existence(i))),
        new BatchCall("get.before_lookup", StoreBatch::get,
            (batch, i) -> ContractBench.assertPattern(pool.page(batch.block(i)), pool.pageBytes(), i, "page " + i)));
    for (BatchCall call : calls) {
      StoreBatch batch = store.batch(pool, KEYS);
      for (int i = 0; i < KEYS; i++)
        batch.add(key(i), bench.filled(pool, call.point.startsWith("put") ? i : KEYS));
      LoopbackControls.arm(call.point, Action.HANG, 0, 1);
      CompletableFuture<StoreBatch> running = bench.start(() -> call.run.apply(batch));
      LoopbackControls.awaitHanging(call.point, 1);
      assertThrows(IllegalStateException.class, batch::close);
      if (call.point.startsWith("get")) assertEquals(1, store.close(Deadline.after(Duration.ofMillis(20))).size());
      churn();
      LoopbackControls.release(call.point);
      join(running);
      for (int i = 0; i < KEYS; i++) {
        call.check.accept(batch, i);
        pool.release(batch.block(i));
      }
    }
    assertEquals(List.of(), store.close(Deadline.after(Duration.ofSeconds(20))));
  }

  /** Collects what nobody holds, and takes and overwrites native memory of every size that a batch uses. */
  private static void churn() {
    System.gc();
    for (int bytes = 16; bytes <= 1 << 16; bytes *= 2) {
      try (Arena arena = Arena.ofConfined()) { // per size
        for (int i = 0; i < 64; i++)
          arena.allocate(bytes).fill((byte) 0x5A);
      }
    }
  }

  /** As the hook does that runs when the JVM goes down, or whoever takes a client away that lost its health. */
  private static void closedBeneath(ContractBench bench) throws Exception {
    StoreBackend client = bench.subject.ownClient();
    long live = LoopbackControls.liveStores();
    KvStore store = KvStore.open(client, bench.subject.options(), KeyCodec.plain("contract"), bench.gate, Observer.NONE,
        StorePolicy.DEFAULT);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    MemorySegment heap = MemorySegment.ofArray(new byte[ContractBench.PAGE_BYTES]);
    assertEquals(new GetResult.Hit(ContractBench.PAGE_BYTES), store.get(key(1), heap));
    long hung = pool.lease();
    LoopbackControls.arm("get.before_copy", Action.HANG, 0, 1);
    CompletableFuture<GetResult> hanging = bench.start(() -> store.getPage(key(1), pool, hung));
    LoopbackControls.awaitHanging("get.before_copy", 1);
    CountDownLatch polling = new CountDownLatch(POLLERS);
    List<CompletableFuture<Object>> polls = new ArrayList<>();
    for (int i = 0; i < POLLERS; i++) {
      int thread = i;
      polls.add(bench.start(() -> poll(bench, store, pool, thread, polling)));
    }
    assertTrue(polling.await(20, TimeUnit.SECONDS));

    List<String> pending = client.close(Deadline.after(Duration.ofMillis(50)));

    assertTrue(pending.contains("1 batchGet"), pending::toString);
    assertEquals(live, LoopbackControls.liveStores(), "destroyed under a running call");
    for (CompletableFuture<Object> poll : polls)
      assertThrows(ClosedException.class, () -> join(poll));
    LoopbackControls.release("get.before_copy");
    assertEquals(new GetResult.Hit(ContractBench.PAGE_BYTES), join(hanging));
    assertEquals(List.of(), client.close(Deadline.after(Duration.ofSeconds(20))));
    assertEquals(live - 1, LoopbackControls.liveStores());
    assertThrows(ClosedException.class, () -> store.exists(key(1)));
    assertEquals(List.of(), store.close(Deadline.after(Duration.ofSeconds(20))));
    assertTrue(pool.slab().registrations().isEmpty());
    pool.release(hung);
    assertEquals(ContractBench.PAGES, pool.available());
    assertFalse(bench.gate.parts().contains(store.refitPort()));
  }

  private static Object poll(ContractBench bench, KvStore store, BlockPool pool, int thread, CountDownLatch polling) {
    MemorySegment heap = MemorySegment.ofArray(new byte[ContractBench.PAGE_BYTES]);
    for (long round = 0;; round++) {
      switch (thread) {
        case 0 -> bench.get(store, pool, key(1));
        case 1 -> store.get(key(1), heap);
        case 2 -> store.exists(key(1));
        case 3 -> store.put(key(2), heap);
        case 4 -> store.size(key(1));
        default -> {
          long block = bench.filled(pool, 3);
          try {
            store.putPage(key(3), pool, block);
          } finally {
            pool.release(block);
          }
        }
      }
      if (round == 1) polling.countDown();
    }
  }
}

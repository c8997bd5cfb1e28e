package dev.gatun.store;

import static dev.gatun.store.ContractBench.await;
import static dev.gatun.store.ContractBench.join;
import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.memory.BlockPool;
import dev.gatun.store.AsyncOptions.BackPressure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Lanes: what they accept, how operations end, and when blocks come back. */
class AsyncKvStoreTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final ConcurrentHashMap<String, Integer> skips = new ConcurrentHashMap<>();
  private final ContractBench bench = new ContractBench(new LoopbackSubject(0));
  private final List<AsyncKvStore> lanes = new ArrayList<>();
  private KvStore store;
  private BlockPool pool;

  @BeforeEach
  void open() {
    store = bench.open(0, KeyCodec.plain("contract"), StorePolicy.DEFAULT, new Observer() {
      @Override
      public void onSkip(String reason, int keys) {
        skips.merge(reason, keys, Integer::sum);
      }
    });
    pool = bench.pool(store);
  }

  @AfterEach
  void close() {
    LoopbackControls.reset();
    for (AsyncKvStore async : lanes)
      assertEquals(List.of(), async.close(Deadline.after(LONG)));
    bench.close();
  }

  private AsyncKvStore lanes(AsyncOptions options) {
    AsyncKvStore async = new AsyncKvStore(store, options);
    lanes.add(async);
    return async;
  }

  private static Throwable failure(CompletableFuture<?> future) {
    ExecutionException failed = assertThrows(ExecutionException.class,
        () -> future.get(LONG.toSeconds(), TimeUnit.SECONDS));
    return Objects.requireNonNull(failed.getCause());
  }

  /** Occupies the only lane with a put that hangs in native code. */
  private CompletableFuture<List<PutResult>> hang(AsyncKvStore async, long block) {
    LoopbackControls.arm("put.before_copy", Action.HANG, 0, 1);
    CompletableFuture<List<PutResult>> put = async.put(pool, List.of(key(1)), block);
    LoopbackControls.awaitHanging("put.before_copy", 1);
    return put;
  }

  @Test
  @DisplayName("put, get and exists end with an outcome for each key, in order")
  void outcomes() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT);
    List<KvKey> keys = IntStream.range(0, 5).mapToObj(ContractBench::key).toList();
    long[] blocks = IntStream.range(0, 5).mapToLong(i -> bench.filled(pool, i)).toArray();
    assertEquals(5, join(async.put(pool, keys, blocks)).stream().filter(PutResult.Stored.class::isInstance).count());
    store.remove(key(2), true);
    long[] targets = IntStream.range(0, 5).mapToLong(i -> bench.blank(pool)).toArray();
    List<GetResult> got = join(async.get(pool, keys, targets));
    for (int i = 0; i < 5; i++) {
      assertEquals(i == 2 ? new GetResult.Miss() : new GetResult.Hit(4096), got.get(i));
      if (i != 2) ContractBench.assertPattern(pool.page(targets[i]), 4096, i, "page " + i);
    }
    List<Existence> there = join(async.exists(keys));
    for (int i = 0; i < 5; i++)
      assertEquals(i == 2 ? Existence.ABSENT : Existence.PRESENT, there.get(i));
    assertEquals(List.of(), join(async.get(pool, List.of())));
    await("nothing in flight", () -> async.inFlight() == 0);
    for (long block : targets)
      pool.release(block);
    for (long block : blocks)
      pool.release(block);
    assertEquals(ContractBench.PAGES, pool.available());
  }

  @Test
  @DisplayName("a batch handed to a lane comes back with its outcomes, and is refused to others until then")
  void batch() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT);
    StoreBatch batch = store.batch(pool, 2).add(key(1), bench.filled(pool, 1)).add(key(2), bench.filled(pool, 2));
    LoopbackControls.arm("put.before_copy", Action.HANG, 0, 1);
    CompletableFuture<StoreBatch> put = async.put(batch);
    LoopbackControls.awaitHanging("put.before_copy", 1);
    assertThrows(IllegalStateException.class, batch::clear);
    assertThrows(IllegalStateException.class, () -> async.get(batch));
    LoopbackControls.release("put.before_copy");
    assertTrue(join(put).isStored(1));
    assertEquals(2, join(async.get(batch)).leadingHits());
    assertEquals(Existence.PRESENT, join(async.exists(batch)).existence(0));
    KvStore other = bench.otherStore();
    StoreBatch foreign = other.batch(bench.pool(other, 64, 1), 1);
    assertThrows(IllegalArgumentException.class, () -> async.put(foreign));
  }

  @Test
  @DisplayName("K12.04 operations above the limit are skipped and counted")
  void skip() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT.withInFlightMax(2, BackPressure.SKIP));
    long block = bench.filled(pool, 1);
    CompletableFuture<List<PutResult>> first = hang(async, block);
    CompletableFuture<List<PutResult>> second = async.put(pool, List.of(key(2)), block);
    CompletableFuture<List<PutResult>> third = async.put(pool, List.of(key(3), key(4)), block, block);
    assertInstanceOf(BackPressureException.class, failure(third));
    assertEquals(1, async.skipped());
    assertEquals(2, skips.get("back-pressure"));
    assertEquals(2, async.inFlight());
    LoopbackControls.release("put.before_copy");
    assertEquals(List.of(new PutResult.Stored()), join(first));
    assertEquals(List.of(new PutResult.Stored()), join(second));
    assertEquals(Existence.ABSENT, store.exists(key(3)));
    assertEquals(List.of(new PutResult.Stored()), join(async.put(pool, List.of(key(3)), block)));
  }

  @Test
  @DisplayName("K12.04 a blocked caller goes on when a place is free, or gives up")
  void block() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT.withInFlightMax(1, BackPressure.BLOCK)
        .withAdmitMax(Duration.ofMillis(20)));
    AsyncKvStore patient = lanes(AsyncOptions.DEFAULT.withInFlightMax(1, BackPressure.BLOCK).withAdmitMax(LONG));
    long block = bench.filled(pool, 1);
    CompletableFuture<List<PutResult>> hanging = hang(async, block);
    assertInstanceOf(BackPressureException.class, failure(async.put(pool, List.of(key(2)), block)));
    LoopbackControls.release("put.before_copy");
    assertEquals(List.of(new PutResult.Stored()), join(hanging));
    await("the end of the put", () -> async.inFlight() == 0);
    assertEquals(new RemoveResult.Removed(), store.remove(key(1), true));
    CompletableFuture<List<PutResult>> hangingAgain = hang(patient, block);
    CompletableFuture<List<PutResult>> waiting = bench.start(() -> join(patient.put(pool, List.of(key(3)), block)));
    LoopbackControls.release("put.before_copy");
    assertEquals(List.of(new PutResult.Stored()), join(hangingAgain));
    assertEquals(List.of(new PutResult.Stored()), join(waiting));
  }

  @Test
  @DisplayName("K7.03 a deadline ends the future, and the blocks stay out of use until native code returns")
  void deadline() {
    assertTrue(AsyncOptions.DEFAULT.operationMax().compareTo(Duration.ofMinutes(10)) < 0, "finite by default");
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT.withOperationMax(Duration.ofSeconds(1)));
    long block = bench.filled(pool, 1);
    CompletableFuture<List<PutResult>> put = hang(async, block);
    assertInstanceOf(DeadlineException.class, failure(put));
    await("the count", () -> async.timedOut() == 1);
    pool.release(block);
    assertEquals(ContractBench.PAGES - 1, pool.available(), "native code still reads the block");
    assertEquals(1, async.inFlight());
    LoopbackControls.release("put.before_copy");
    await("the block's return", () -> pool.available() == ContractBench.PAGES);
    await("the place's return", () -> async.inFlight() == 0);
    bench.assertHit(store, pool, 1);
  }

  @Test
  @DisplayName("K7.09 the deadline holds for what waits for a lane or at the gate, too")
  void deadlineWhileWaiting() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT.withOperationMax(Duration.ofSeconds(1)));
    long block = bench.filled(pool, 1);
    CompletableFuture<List<PutResult>> hanging = hang(async, block);
    CompletableFuture<List<PutResult>> queued = async.put(pool, List.of(key(2)), block);
    assertInstanceOf(DeadlineException.class, failure(queued));
    assertInstanceOf(DeadlineException.class, failure(hanging));
    await("the queued place's return", () -> async.inFlight() == 1);
    LoopbackControls.release("put.before_copy");
    await("the lane", () -> async.inFlight() == 0);
    assertEquals(Existence.ABSENT, store.exists(key(2)), "what ended in the queue was not begun");
    await("the skip", () -> skips.getOrDefault("deadline", 0) == 1);
    bench.gate.close();
    assertInstanceOf(DeadlineException.class, failure(async.exists(List.of(key(1)))));
    bench.gate.open(EpochGate.State.OPEN);
    await("the count of all three", () -> async.timedOut() == 3);
  }

  @Test
  @DisplayName("K6.04 after a cancel the pages are handed out again only when native code is done")
  void cancel() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT);
    long block = bench.filled(pool, 1);
    CompletableFuture<List<PutResult>> put = hang(async, block);
    CompletableFuture<List<PutResult>> queued = async.put(pool, List.of(key(2)), block);
    assertTrue(put.cancel(true));
    assertTrue(queued.cancel(true));
    pool.release(block);
    assertEquals(ContractBench.PAGES - 1, pool.available());
    LoopbackControls.release("put.before_copy");
    await("the block's return", () -> pool.available() == ContractBench.PAGES);
    assertEquals(Existence.ABSENT, store.exists(key(2)));
    bench.assertHit(store, pool, 1);
  }

  @Test
  @DisplayName("a block that is released while its operation waits for a lane is still put")
  void heldWhileQueued() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT);
    CompletableFuture<List<PutResult>> hanging = hang(async, bench.filled(pool, 1));
    long block = bench.filled(pool, 2);
    CompletableFuture<List<PutResult>> queued = async.put(pool, List.of(key(2)), block);
    pool.release(block);
    LoopbackControls.release("put.before_copy");
    assertEquals(List.of(new PutResult.Stored()), join(hanging));
    assertEquals(List.of(new PutResult.Stored()), join(queued));
    bench.assertHit(store, pool, 2);
  }

  @Test
  @DisplayName("a refit fails what waits for a lane and leaves what runs to the store")
  void refit() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT);
    assertTrue(bench.gate.parts().contains(async));
    long block = bench.filled(pool, 1);
    CompletableFuture<List<PutResult>> running = hang(async, block);
    CompletableFuture<List<PutResult>> waiting = async.put(pool, List.of(key(2)), block);
    StoreBatch batch = store.batch(pool, 1).add(key(3), block);
    CompletableFuture<StoreBatch> waitingBatch = async.put(batch);
    bench.gate.close();
    assertEquals(2, async.failQueued());
    assertInstanceOf(GateClosedException.class, failure(waiting));
    assertInstanceOf(GateClosedException.class, failure(waitingBatch));
    assertEquals(0, batch.clear().size(), "the batch is the caller's again");
    assertEquals(1, bench.gate.drainParts(Deadline.after(Duration.ofMillis(20))).stream()
        .filter(line -> line.startsWith("store ")).count());
    LoopbackControls.release("put.before_copy");
    assertEquals(List.of(new PutResult.Stored()), join(running));
    assertEquals(List.of(), bench.gate.drainParts(Deadline.after(LONG)));
    bench.gate.open(EpochGate.State.OPEN);
  }

  @Test
  @DisplayName("a get on a lane takes its blocks across a refit, as one without a lane does")
  void getAcrossRefit() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT);
    bench.putAll(store, pool, 1);
    StoreBatch batch = store.batch(pool, 1).add(key(1), bench.blank(pool));
    bench.gate.close();
    CompletableFuture<StoreBatch> get = async.get(batch);
    bench.gate.raise(new WeightEpoch("run", 2));
    bench.gate.open(EpochGate.State.OPEN);
    assertTrue(join(get).isHit(0));
    assertTrue(pool.isCurrent(batch.block(0)));
  }

  @Test
  @DisplayName("an action on a lane may close the lanes")
  void closedByAnAction() {
    AsyncKvStore async = new AsyncKvStore(store, AsyncOptions.DEFAULT.withLanes(2));
    LoopbackControls.arm("exists", Action.HANG, 0, 1);
    CompletableFuture<List<String>> pending = async.exists(List.of(key(1)))
        .thenApply(answers -> async.close(Deadline.after(LONG)));
    LoopbackControls.awaitHanging("exists", 1);
    LoopbackControls.release("exists");
    assertEquals(List.of(), join(pending));
    assertFalse(bench.gate.parts().contains(async));
  }

  @Test
  @DisplayName("K6.14 closing fails what waits with a typed exception, lists what runs, and ends when that has ended")
  void closing() {
    AsyncKvStore async = new AsyncKvStore(store, AsyncOptions.DEFAULT);
    long block = bench.filled(pool, 1);
    CompletableFuture<List<PutResult>> running = hang(async, block);
    CompletableFuture<List<PutResult>> waiting = async.put(pool, List.of(key(2)), block);
    List<String> pending = async.close(Deadline.after(Duration.ofMillis(20)));
    assertEquals(1, pending.size());
    assertTrue(pending.getFirst().contains("put of 1 keys"), pending::toString);
    assertInstanceOf(ClosedException.class, failure(waiting));
    assertInstanceOf(ClosedException.class, failure(async.exists(List.of(key(1)))));
    LoopbackControls.release("put.before_copy");
    assertEquals(List.of(), async.close(Deadline.after(LONG)));
    assertEquals(List.of(new PutResult.Stored()), join(running));
    assertFalse(bench.gate.parts().contains(async));
    assertEquals(0, async.inFlight());
  }

  @Test
  @DisplayName("what is wrong with an operation shows, and holds nothing")
  void refused() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT);
    long gone = bench.filled(pool, 1);
    long good = bench.filled(pool, 2);
    pool.release(gone);
    assertThrows(IllegalStateException.class, () -> async.put(pool, List.of(key(1), key(2)), good, gone));
    assertThrows(IllegalArgumentException.class, () -> async.get(pool, List.of(key(1)), good, gone));
    assertInstanceOf(IllegalArgumentException.class, failure(async.put(pool, List.of(key(1), key(1)), good, good)));
    store.unregister(pool.slab());
    assertInstanceOf(IllegalArgumentException.class, failure(async.put(pool, List.of(key(1)), good)));
    store.register(pool.slab());
    assertEquals(List.of(new PutResult.Stored()), join(async.put(pool, List.of(key(1)), good)));
    await("nothing in flight", () -> async.inFlight() == 0);
    pool.release(good);
    assertEquals(ContractBench.PAGES, pool.available());
  }

  @Test
  @DisplayName("K13.09 a thousand virtual threads that wait for lanes starve no other virtual thread")
  void virtualThreads() throws InterruptedException {
    int threads = 1000;
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT.withLanes(2).withInFlightMax(threads, BackPressure.BLOCK));
    bench.putAll(store, pool, 1);
    LoopbackControls.arm("exists", Action.HANG, 0, 0);
    CountDownLatch answered = new CountDownLatch(threads);
    AtomicInteger present = new AtomicInteger();
    for (int i = 0; i < threads; i++) {
      Thread.ofVirtual().start(() -> {
        if (join(async.exists(List.of(key(1)))).getFirst() == Existence.PRESENT) present.incrementAndGet();
        answered.countDown();
      });
    }
    LoopbackControls.awaitHanging("exists", 2);
    CountDownLatch unrelated = new CountDownLatch(1);
    Thread.ofVirtual().start(unrelated::countDown);
    assertTrue(unrelated.await(LONG.toSeconds(), TimeUnit.SECONDS), "an unrelated virtual thread did not run");
    assertEquals(threads, answered.getCount());
    LoopbackControls.release("exists");
    assertTrue(answered.await(LONG.toSeconds(), TimeUnit.SECONDS), "left: " + answered.getCount());
    assertEquals(threads, present.get());
  }

  @Test
  @DisplayName("several lanes put and get pages of their own at once")
  void severalLanes() {
    AsyncKvStore async = lanes(AsyncOptions.DEFAULT.withLanes(4));
    List<CompletableFuture<List<PutResult>>> puts = new ArrayList<>();
    long[] blocks = IntStream.range(0, 48).mapToLong(i -> bench.filled(pool, i)).toArray();
    for (int i = 0; i < 48; i += 3) {
      puts.add(async.put(pool, List.of(key(i), key(i + 1), key(i + 2)), blocks[i], blocks[i + 1], blocks[i + 2]));
    }
    for (CompletableFuture<List<PutResult>> put : puts) {
      assertTrue(join(put).stream().allMatch(PutResult.Stored.class::isInstance));
    }
    for (long block : blocks)
      pool.release(block);
    for (int i = 0; i < 48; i++)
      bench.assertHit(store, pool, i);
  }

  @Test
  @DisplayName("options outside their ranges are refused, naming field and value")
  void options() {
    AsyncOptions good = AsyncOptions.DEFAULT;
    for (int count : new int[]{0, -1, 65}) {
      ContractBench.assertSays("lanes must be 1 to 64: " + count,
          assertThrows(IllegalArgumentException.class, () -> good.withLanes(count)));
    }
    ContractBench.assertSays("inFlightMax must be 1 to 65536: 0",
        assertThrows(IllegalArgumentException.class, () -> good.withInFlightMax(0, BackPressure.SKIP)));
    ContractBench.assertSays("inFlightMax must be at least lanes, 4: 3", assertThrows(IllegalArgumentException.class,
        () -> good.withLanes(4).withInFlightMax(3, BackPressure.SKIP)));
    ContractBench.assertSays("admitMax",
        assertThrows(IllegalArgumentException.class, () -> good.withAdmitMax(Duration.ofMillis(-1))));
    ContractBench.assertSays("operationMax",
        assertThrows(IllegalArgumentException.class, () -> good.withOperationMax(Duration.ZERO)));
  }
}

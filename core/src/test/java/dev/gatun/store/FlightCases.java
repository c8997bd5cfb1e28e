package dev.gatun.store;

import static dev.gatun.store.ContractBench.join;
import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreException;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** What can be seen and done while a put or a get is inside native code, and after one that failed there. */
final class FlightCases {
  private static final long TRANSFER_FAIL = StoreCode.TRANSFER_FAIL.raw();

  private FlightCases() {}

  static List<ContractCase> all() {
    return List.of(
        ContractCase.controlled("a put in flight can be neither seen nor read nor removed", FlightCases::invisible),
        ContractCase.controlled("a removal of all, even forced, spares a put in flight, which lands",
            FlightCases::spared),
        ContractCase.controlled("K3.03 a put of a key in flight is a silent success", FlightCases::silent),
        ContractCase.controlled("K3.06 an abandoned put blocks its key for a time, is never readable, and is replaced",
            FlightCases::abandoned),
        ContractCase.controlled("a put that failed leaves its key free", FlightCases::revoked),
        ContractCase.controlled("K3.10 one failed key of a put leaves the others stored", FlightCases::oneFailed),
        ContractCase.controlled("K2.04 a get that outlasts its lease fails its key and its block",
            FlightCases::expired),
        ContractCase.controlled("K2.05 a whole batch of expired leases leaves the client usable",
            FlightCases::allExpired),
        ContractCase.controlled("a reader keeps its bytes through removal and reuse of the space", FlightCases::held),
        ContractCase.controlled("K6.02 a block released during its put is stored whole and freed once",
            FlightCases::released),
        ContractCase.controlled("K6.05 a slab in use is not unregistered", FlightCases::inUse),
        ContractCase.controlled("K11.07 a batch in use refuses a second thread", FlightCases::secondThread),
        ContractCase.controlled("K6.10 closing with work in flight lists it and frees nothing", FlightCases::closing),
        ContractCase.controlled("K6.06 a failed transfer keeps its block out of use until the store closes",
            FlightCases::quarantine),
        ContractCase.controlled("K6.06 a failed put keeps its block out of use until the store closes",
            FlightCases::quarantinedPut),
        ContractCase.controlled("K7.14 a key whose transfer failed is not asked again at once; a put clears it",
            FlightCases::failedKey),
        ContractCase.controlled("a failed single get keeps its buffer, and the caller's memory is untouched",
            FlightCases::failedSingle),
        ContractCase.controlled("an error is not an answer: existence is unknown while the master is down",
            FlightCases::masterDown),
        ContractCase.controlled("a master that comes back empty misses, and takes puts again",
            FlightCases::masterRestart),
        ContractCase.controlled("a lost segment misses", FlightCases::segmentLost));
  }

  private static void invisible(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    long block = bench.filled(pool, 1);
    LoopbackControls.arm("put.before_end", Action.HANG, 0, 1);
    CompletableFuture<PutResult> put = bench.start(() -> store.putPage(key(1), pool, block));
    LoopbackControls.awaitHanging("put.before_end", 1);
    assertEquals(Existence.ABSENT, store.exists(key(1)));
    assertEquals(new SizeResult.Unknown(StoreCode.REPLICA_IS_NOT_READY, -703), store.size(key(1)));
    assertEquals(new GetResult.GetFailed(StoreCode.REPLICA_IS_NOT_READY, -703), bench.get(store, pool, key(1)));
    assertTrue(((GetResult.GetFailed) bench.get(store, pool, key(1))).retryable());
    RemoveResult inFlight = new RemoveResult.RemoveFailed(StoreCode.REPLICA_IS_NOT_READY, -703);
    assertEquals(inFlight, store.remove(key(1), false));
    assertEquals(inFlight, store.remove(key(1), true));
    LoopbackControls.release("put.before_end");
    assertEquals(new PutResult.Stored(), join(put));
    bench.assertHit(store, pool, 1);
  }

  private static void spared(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 2);
    long block = bench.filled(pool, 1);
    LoopbackControls.arm("put.before_end", Action.HANG, 0, 1);
    CompletableFuture<PutResult> put = bench.start(() -> store.putPage(key(1), pool, block));
    LoopbackControls.awaitHanging("put.before_end", 1);
    assertEquals(1, store.removeAll(true));
    assertEquals(0, store.removePrefix("key-", true));
    LoopbackControls.release("put.before_end");
    assertEquals(new PutResult.Stored(), join(put));
    bench.assertHit(store, pool, 1);
  }

  private static void silent(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    long block = bench.filled(pool, 1);
    LoopbackControls.arm("put.before_copy", Action.HANG, 0, 1);
    CompletableFuture<PutResult> put = bench.start(() -> store.putPage(key(1), pool, block));
    LoopbackControls.awaitHanging("put.before_copy", 1);
    assertEquals(new PutResult.Stored(), bench.otherStore().put(key(1), pool.page(bench.filled(pool, 2))));
    LoopbackControls.release("put.before_copy");
    assertEquals(new PutResult.Stored(), join(put));
    bench.assertHit(store, pool, 1);
  }

  private static void abandoned(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    LoopbackControls.arm("put.before_end", Action.SKIP, 0, 1);
    store.putPage(key(1), pool, bench.filled(pool, 8));
    GetResult notReady = new GetResult.GetFailed(StoreCode.REPLICA_IS_NOT_READY, -703);
    assertEquals(notReady, bench.get(store, pool, key(1)));
    assertEquals(new PutResult.Stored(), store.putPage(key(1), pool, bench.filled(pool, 9)));
    assertEquals(notReady, bench.get(store, pool, key(1)));
    LoopbackControls.advanceClock(Duration.ofSeconds(31));
    assertFalse(bench.get(store, pool, key(1)) instanceof GetResult.Hit);
    assertEquals(Existence.ABSENT, store.exists(key(1)));
    bench.putAll(store, pool, 1);
    bench.assertHit(store, pool, 1);
  }

  private static void revoked(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    LoopbackControls.arm("put.before_copy", Action.FAIL, StoreCode.NO_AVAILABLE_HANDLE.raw(), 1);
    PutResult failed = store.putPage(key(1), pool, bench.filled(pool, 9));
    assertEquals(new PutResult.PutFailed(StoreCode.NO_AVAILABLE_HANDLE, -200), failed);
    assertTrue(((PutResult.PutFailed) failed).retryable());
    assertEquals(new GetResult.Miss(), bench.get(store, pool, key(1)));
    bench.putAll(store, pool, 1);
    bench.assertHit(store, pool, 1);
  }

  private static void oneFailed(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 5)) {
      for (int i = 0; i < 5; i++)
        batch.add(key(i), bench.filled(pool, i));
      LoopbackControls.armAfter("put.before_start", Action.FAIL, StoreCode.WRITE_FAIL.raw(), 1, 2);
      batch.put();
      assertEquals(4, IntStream.range(0, 5).filter(batch::isStored).count());
      for (int i = 0; i < 5; i++) {
        if (batch.isStored(i)) bench.assertHit(store, pool, i);
        else
          assertEquals(new GetResult.Miss(), bench.get(store, pool, key(i)));
      }
    }
  }

  private static void expired(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    long block = pool.lease();
    LoopbackControls.lease(Duration.ofMillis(500));
    LoopbackControls.arm("get.before_copy", Action.HANG, 0, 1);
    CompletableFuture<GetResult> get = bench.start(() -> store.getPage(key(1), pool, block));
    LoopbackControls.awaitHanging("get.before_copy", 1);
    LoopbackControls.advanceClock(Duration.ofSeconds(1));
    LoopbackControls.release("get.before_copy");
    assertEquals(new GetResult.GetFailed(StoreCode.LEASE_EXPIRED, -707), join(get));
    assertThrows(IllegalStateException.class, () -> pool.page(block));
    bench.assertHit(store, pool, 1);
  }

  private static void allExpired(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 0, 1, 2, 3);
    LoopbackControls.arm("get.before_return", Action.FAIL, StoreCode.LEASE_EXPIRED.raw(), 4);
    try (StoreBatch batch = store.batch(pool, 4)) {
      for (int i = 0; i < 4; i++)
        batch.add(key(i), pool.lease());
      batch.get();
      for (int i = 0; i < 4; i++) {
        assertEquals(StoreCode.LEASE_EXPIRED, batch.code(i));
        assertTrue(((GetResult.GetFailed) batch.getResult(i)).retryable());
      }
      assertEquals(4, batch.get().leadingHits());
    }
  }

  private static void held(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, 8L << 20, 4);
    bench.putAll(store, pool, 1);
    long block = pool.lease();
    LoopbackControls.arm("get.before_copy", Action.HANG, 0, 1);
    CompletableFuture<GetResult> get = bench.start(() -> store.getPage(key(1), pool, block));
    LoopbackControls.awaitHanging("get.before_copy", 1);
    store.remove(key(1), true);
    for (int i = 2; i < 20; i++) {
      long other = bench.filled(pool, i);
      store.putPage(key(i), pool, other); // until the space is taken, and beyond
      pool.release(other);
    }
    LoopbackControls.release("get.before_copy");
    GetResult result = join(get);
    if (result instanceof GetResult.Hit)
      ContractBench.assertPattern(pool.page(block), 8L << 20, 1, "the reader's bytes");
  }

  private static void released(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, 4096, 2);
    long block = bench.filled(pool, 1);
    LoopbackControls.arm("put.before_copy", Action.HANG, 0, 1);
    CompletableFuture<PutResult> put = bench.start(() -> store.putPage(key(1), pool, block));
    LoopbackControls.awaitHanging("put.before_copy", 1);
    pool.release(block);
    assertEquals(1, pool.available());
    long other = bench.filled(pool, 2);
    assertEquals(0, pool.tryLease());
    LoopbackControls.release("put.before_copy");
    assertEquals(new PutResult.Stored(), join(put));
    assertEquals(1, pool.available());
    pool.release(other);
    bench.assertHit(store, pool, 1);
    assertEquals(2, pool.available());
  }

  private static void inUse(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    long block = bench.filled(pool, 1);
    LoopbackControls.arm("put.before_copy", Action.HANG, 0, 1);
    CompletableFuture<PutResult> put = bench.start(() -> store.putPage(key(1), pool, block));
    LoopbackControls.awaitHanging("put.before_copy", 1);
    LoopbackControls.arm("unregister", Action.DELAY, 0, 0);
    assertThrows(InUseException.class, () -> pool.slab().registrations().getFirst().close());
    assertThrows(InUseException.class, () -> pool.close());
    assertEquals(0, LoopbackControls.hits("unregister"), "native unregister was called");
    LoopbackControls.release("put.before_copy");
    assertEquals(new PutResult.Stored(), join(put));
    store.unregister(pool.slab());
    assertEquals(1, LoopbackControls.hits("unregister"));
  }

  private static void secondThread(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(1), bench.filled(pool, 1));
      LoopbackControls.arm("put.before_copy", Action.HANG, 0, 1);
      CompletableFuture<StoreBatch> put = bench.start(batch::put);
      LoopbackControls.awaitHanging("put.before_copy", 1);
      assertThrows(IllegalStateException.class, () -> batch.add(key(2), pool.lease()));
      assertThrows(IllegalStateException.class, batch::clear);
      assertThrows(IllegalStateException.class, batch::put);
      assertThrows(IllegalStateException.class, batch::get);
      assertThrows(IllegalStateException.class, batch::exists);
      assertThrows(IllegalStateException.class, batch::close);
      LoopbackControls.release("put.before_copy");
      assertTrue(join(put).isStored(0));
      assertEquals(1, batch.size());
    }
    bench.assertHit(store, pool, 1);
  }

  private static void closing(ContractBench bench) {
    KvStore store = bench.ownStore(StorePolicy.DEFAULT);
    BlockPool pool = bench.pool(store);
    long block = bench.filled(pool, 1);
    LoopbackControls.arm("put.before_copy", Action.HANG, 0, 1);
    CompletableFuture<PutResult> put = bench.start(() -> store.putPage(key(1), pool, block));
    LoopbackControls.awaitHanging("put.before_copy", 1);
    List<String> pending = store.close(Deadline.after(Duration.ofMillis(50)));
    assertEquals(1, pending.size());
    assertTrue(pending.getFirst().contains("put of 1 keys"), pending::toString);
    assertThrows(ClosedException.class, () -> store.exists(key(1)));
    assertThrows(ClosedException.class, () -> store.batch(pool, 1));
    assertThrows(InUseException.class, pool::close);
    LoopbackControls.release("put.before_copy");
    assertEquals(new PutResult.Stored(), join(put));
    assertEquals(List.of(), store.close(Deadline.after(Duration.ofSeconds(20))));
    assertEquals(List.of(), store.close(Deadline.after(Duration.ZERO)));
    KvStore later = bench.store();
    bench.assertHit(later, bench.pool(later), 1);
  }

  private static void quarantine(ContractBench bench) {
    KvStore store = bench.ownStore(StorePolicy.DEFAULT);
    BlockPool pool = bench.pool(store, 4096, 2);
    bench.putAll(store, pool, 1);
    long block = pool.lease();
    LoopbackControls.arm("get.before_return", Action.FAIL, TRANSFER_FAIL, 1);
    assertEquals(new GetResult.GetFailed(StoreCode.TRANSFER_FAIL, TRANSFER_FAIL), store.getPage(key(1), pool, block));
    pool.release(block);
    assertEquals(1, pool.quarantined());
    assertEquals(1, store.quarantined());
    assertEquals(1, pool.available());
    assertFalse(store.refitPort().doubts().isEmpty());
    assertThrows(InUseException.class, () -> pool.slab().registrations().getFirst().close());
    assertThrows(InUseException.class, pool::close);
    assertEquals(List.of(), store.close(Deadline.after(Duration.ofSeconds(20))));
    assertEquals(0, pool.quarantined());
    assertEquals(2, pool.available());
  }

  private static void quarantinedPut(ContractBench bench) {
    KvStore store = bench.ownStore(StorePolicy.DEFAULT);
    BlockPool pool = bench.pool(store, 4096, 2);
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(0), bench.filled(pool, 0)).add(key(1), bench.filled(pool, 1));
      LoopbackControls.armAfter("put.before_copy", Action.FAIL, TRANSFER_FAIL, 1, 1);
      batch.put();
      assertEquals(1, pool.quarantined());
      pool.release(batch.block(0));
      pool.release(batch.block(1));
    }
    assertEquals(1, pool.available());
    assertEquals(List.of(), store.close(Deadline.after(Duration.ofSeconds(20))));
    assertEquals(2, pool.available());
  }

  private static void failedKey(ContractBench bench) {
    KvStore store = bench.ownStore(StorePolicy.DEFAULT);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1, 2);
    LoopbackControls.arm("get.before_return", Action.FAIL, TRANSFER_FAIL, 1);
    GetResult failed = new GetResult.GetFailed(StoreCode.TRANSFER_FAIL, TRANSFER_FAIL);
    assertEquals(failed, store.getPage(key(1), pool, pool.lease()));
    LoopbackControls.arm("get.before_lookup", Action.DELAY, 0, 0);
    try (StoreBatch batch = store.batch(pool, 3)) {
      batch.add(key(0), bench.blank(pool)).add(key(1), bench.blank(pool)).add(key(2), bench.blank(pool)).get();
      assertEquals(new GetResult.Miss(), batch.getResult(0));
      assertEquals(failed, batch.getResult(1));
      assertEquals(new GetResult.Hit(pool.pageBytes()), batch.getResult(2));
      assertEquals(2, LoopbackControls.hits("get.before_lookup"), "keys that were sent");
      batch.exists();
      assertEquals(Existence.ABSENT, batch.existence(0));
      assertEquals(Existence.UNKNOWN, batch.existence(1));
      assertEquals(Existence.PRESENT, batch.existence(2));
    }
    assertEquals(1, pool.quarantined(), "an answer from memory puts no block into quarantine");
    bench.putAll(store, pool, 1);
    bench.assertHit(store, pool, 1);
  }

  private static void failedSingle(ContractBench bench) {
    KvStore store = bench.ownStore(StorePolicy.DEFAULT.withFailedKeysFor(Duration.ZERO));
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    MemorySegment target = MemorySegment.ofArray(new byte[4096]).fill(ContractBench.UNTOUCHED);
    LoopbackControls.arm("get.before_return", Action.FAIL, TRANSFER_FAIL, 1);
    assertEquals(new GetResult.GetFailed(StoreCode.TRANSFER_FAIL, TRANSFER_FAIL), store.get(key(1), target));
    ContractBench.assertUntouched(target, "the caller's memory");
    assertEquals(1, store.quarantined());
    assertEquals(new GetResult.Hit(4096), store.get(key(1), target));
    assertEquals(1, store.quarantined());
  }

  private static void masterDown(ContractBench bench) {
    KvStore store = bench.ownStore(StorePolicy.DEFAULT);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    String master = bench.subject.options().master();
    LoopbackControls.masterDown(master);
    assertEquals(Existence.UNKNOWN, store.exists(key(1)));
    assertEquals(Existence.UNKNOWN, store.exists(key(2)));
    assertEquals(StoreCode.RPC_FAIL, ((GetResult.GetFailed) bench.get(store, pool, key(1))).code());
    assertEquals(StoreCode.RPC_FAIL, ((SizeResult.Unknown) store.size(key(1))).code());
    assertEquals(StoreCode.RPC_FAIL, ((RemoveResult.RemoveFailed) store.remove(key(1), true)).code());
    PutResult put = store.putPage(key(2), pool, bench.filled(pool, 2));
    assertEquals(StoreCode.RPC_FAIL, ((PutResult.PutFailed) put).code());
    assertThrows(StoreException.class, () -> store.removeAll(true));
    assertThrows(StoreException.class, () -> store.removePrefix("key", true));
    assertFalse(store.health().healthy(), "a client without a segment is told too");
    LoopbackControls.masterUp(master);
    bench.assertHit(store, pool, 1);
    ContractBench.await("health", () -> store.health().healthy());
  }

  private static void masterRestart(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    LoopbackControls.masterRestart(bench.subject.options().master());
    assertEquals(new GetResult.Miss(), bench.get(store, pool, key(1)));
    bench.putAll(store, pool, 1);
    bench.assertHit(store, pool, 1);
  }

  private static void segmentLost(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    LoopbackControls.segmentLost(bench.subject.options().master(), LoopbackSubject.ownerHostname());
    assertEquals(Existence.ABSENT, store.exists(key(1)));
    assertEquals(new GetResult.Miss(), bench.get(store, pool, key(1)));
    bench.putAll(store, pool, 1);
    bench.assertHit(store, pool, 1);
  }
}

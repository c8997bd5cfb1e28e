package dev.gatun.store;

import static dev.gatun.store.ContractBench.join;
import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The store at the gate: what a refit refuses, parks, re-keys and may do itself. */
final class EpochCases {
  private static final KeyCodec EPOCH = KeyCodec.epoch("contract");
  private static final MemorySegment VALUE = MemorySegment.ofArray(new byte[]{1, 2, 3});

  private EpochCases() {}

  static List<ContractCase> all() {
    return List.of(
        ContractCase.always("K10.05 pages of an earlier epoch cannot be reached, though nothing was removed",
            EpochCases::unreachable),
        ContractCase.always("K1.08 a block leased before a refit is not put after it", EpochCases::oldBlock),
        ContractCase.always("a batch filled before a refit is not put after it", EpochCases::oldBatch),
        ContractCase.always("puts and removals are refused while the gate is closed", EpochCases::refused),
        ContractCase.always("a get waits for the refit and asks under the new epoch, in the same blocks",
            EpochCases::parked),
        ContractCase.always("questions wait for the refit too", EpochCases::parkedQuestion),
        ContractCase.always("a get does not wait for ever", EpochCases::parkEnds),
        ContractCase.always("a parked get ends when its store closes", EpochCases::parkedClose),
        ContractCase.always("with the store disabled gets miss and puts are refused", EpochCases::disabled),
        ContractCase.always("the refit's door passes the closed gate", EpochCases::port),
        ContractCase.always("a longer version number moves no key out of its place", EpochCases::longerVersion),
        ContractCase.controlled("a page that arrives after the epoch was raised is STALE", EpochCases::raisedMeanwhile),
        ContractCase.controlled("K1.06 what is inside native code is listed, and drained by waiting",
            EpochCases::drain));
  }

  private static void raise(EpochGate gate, long version) {
    gate.close();
    gate.raise(new WeightEpoch("run", version));
    gate.open(EpochGate.State.OPEN);
  }

  private static void unreachable(ContractBench bench) {
    KvStore store = bench.open(EPOCH);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    bench.assertHit(store, pool, 1);
    raise(bench.gate, 2);
    assertEquals(new GetResult.Miss(), bench.get(store, pool, key(1)));
    assertEquals(Existence.ABSENT, store.exists(key(1)));
    assertEquals(new SizeResult.Absent(), store.size(key(1)));
    assertEquals(new RemoveResult.Absent(), store.remove(key(1), true));
    assertEquals(0, store.removePrefix("", true));
    assertEquals(Existence.PRESENT, bench.open(KeyCodec.verbatim()).exists(KvKey.of("contract/run/1/key-1")));
    assertTrue(store.refitPort().epochInKey());
    assertTrue(store.refitPort().carriesEpoch("contract/run/1/key-1", new WeightEpoch("run", 1)));
    assertFalse(store.refitPort().carriesEpoch("contract/run/1/key-1", new WeightEpoch("run", 11)));
    assertFalse(bench.store().refitPort().carriesEpoch("contract/run/1/key-1", new WeightEpoch("run", 1)));
  }

  private static void oldBlock(ContractBench bench) {
    KvStore store = bench.open(EPOCH);
    BlockPool pool = bench.pool(store);
    long block = bench.filled(pool, 1);
    raise(bench.gate, 2);
    assertThrows(EpochChangedException.class, () -> store.putPage(key(1), pool, block));
    assertThrows(EpochChangedException.class, () -> store.getPage(key(1), pool, block));
    assertThrows(EpochChangedException.class, () -> pool.page(block));
    assertEquals(Existence.ABSENT, store.exists(key(1)));
  }

  private static void oldBatch(ContractBench bench) {
    KvStore store = bench.open(EPOCH);
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(1), bench.filled(pool, 1));
      raise(bench.gate, 2);
      EpochChangedException refusal = assertThrows(EpochChangedException.class, batch::put);
      ContractBench.assertSays("run@2", refusal);
      long block = bench.filled(pool, 1);
      assertTrue(batch.clear().add(key(1), block).put().isStored(0));
    }
    bench.assertHit(store, pool, 1);
  }

  private static void refused(ContractBench bench) {
    long[] skipped = new long[1];
    KvStore store = bench.open(0, EPOCH, StorePolicy.DEFAULT.withPatterns(), new Observer() {
      @Override
      public void onSkip(String reason, int keys) {
        if (reason.equals("gate")) skipped[0] += keys;
      }
    });
    BlockPool pool = bench.pool(store);
    long block = bench.filled(pool, 1);
    bench.gate.close();
    assertThrows(GateClosedException.class, () -> store.putPage(key(1), pool, block));
    assertThrows(GateClosedException.class, () -> store.put(key(1), VALUE));
    assertThrows(GateClosedException.class, () -> store.remove(key(1), true));
    assertThrows(GateClosedException.class, () -> store.remove(List.of(key(1)), true));
    assertThrows(GateClosedException.class, () -> store.removePrefix("k", true));
    assertThrows(GateClosedException.class, () -> store.removeMatching("k", true));
    assertThrows(GateClosedException.class, () -> store.removeAll(true));
    assertEquals(4, skipped[0]);
    bench.gate.open(EpochGate.State.OPEN);
    assertEquals(new PutResult.Stored(), store.putPage(key(1), pool, block));
    assertEquals(0, bench.gate.inside());
  }

  private static void parked(ContractBench bench) {
    KvStore store = bench.open(EPOCH);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    try (StoreBatch batch = store.batch(pool, 2)) {
      long first = bench.blank(pool);
      long second = bench.blank(pool);
      batch.add(key(1), first).add(key(2), second);
      bench.gate.close();
      CompletableFuture<StoreBatch> get = bench.start(batch::get);
      ContractBench.await("the get at the gate", () -> waits(store));
      assertEquals(List.of(), store.refitPort().drain(Deadline.after(Duration.ZERO)), "a parked get holds up no refit");
      bench.gate.raise(new WeightEpoch("run", 2));
      KvStore verbatim = bench.open(KeyCodec.verbatim());
      bench.gate.open(EpochGate.State.OPEN);
      join(get);
      assertEquals(new GetResult.Miss(), batch.getResult(0), "a page of the old epoch");
      assertEquals(new GetResult.Miss(), batch.getResult(1));
      bench.putAll(store, pool, 2);
      assertEquals(new GetResult.Hit(4096), batch.get().getResult(1));
      ContractBench.assertPattern(pool.page(second), 4096, 2, "the page of the new epoch");
      assertEquals(Existence.PRESENT, verbatim.exists(KvKey.of("contract/run/2/key-2")));
    }
  }

  private static boolean waits(KvStore store) {
    return !store.core().activities.awaitNone(activity -> activity.busy() && !activity.running(),
        Deadline.after(Duration.ZERO)).isEmpty();
  }

  private static void parkedQuestion(ContractBench bench) {
    KvStore store = bench.open(EPOCH);
    bench.putAll(store, bench.pool(store), 1);
    bench.gate.close();
    CompletableFuture<Existence> exists = bench.start(() -> store.exists(key(1)));
    CompletableFuture<SizeResult> size = bench.start(() -> store.size(key(1)));
    CompletableFuture<GetResult> get = bench.start(() -> store.get(key(1), MemorySegment.ofArray(new byte[4096])));
    ContractBench.await("all at the gate", () -> store.core().activities.awaitNone(
        activity -> activity.busy() && !activity.running(), Deadline.after(Duration.ZERO)).size() == 3);
    bench.gate.raise(new WeightEpoch("run", 2));
    bench.gate.open(EpochGate.State.OPEN);
    assertEquals(Existence.ABSENT, join(exists));
    assertEquals(new SizeResult.Absent(), join(size));
    assertEquals(new GetResult.Miss(), join(get));
  }

  private static void parkEnds(ContractBench bench) {
    KvStore store = bench.open(0, EPOCH, StorePolicy.DEFAULT.withParkMax(Duration.ofMillis(20)), Observer.NONE);
    BlockPool pool = bench.pool(store);
    long block = pool.lease();
    bench.gate.close();
    assertThrows(DeadlineException.class, () -> store.getPage(key(1), pool, block));
    assertThrows(DeadlineException.class, () -> store.exists(key(1)));
    bench.gate.open(EpochGate.State.OPEN);
    assertEquals(new GetResult.Miss(), store.getPage(key(1), pool, block));
    pool.release(block);
  }

  private static void parkedClose(ContractBench bench) {
    KvStore store = bench.open(EPOCH);
    bench.gate.close();
    CompletableFuture<Existence> exists = bench.start(() -> store.exists(key(1)));
    ContractBench.await("the question at the gate", () -> waits(store));
    assertEquals(List.of(), store.close(Deadline.after(Duration.ofSeconds(20))));
    assertThrows(ClosedException.class, () -> join(exists));
    bench.gate.open(EpochGate.State.OPEN);
  }

  private static void disabled(ContractBench bench) {
    KvStore store = bench.open(EPOCH);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    long block = bench.filled(pool, 1);
    bench.gate.close();
    bench.gate.open(EpochGate.State.DISABLED);
    assertEquals(new GetResult.Miss(), store.getPage(key(1), pool, pool.lease()));
    assertEquals(new GetResult.Miss(), store.get(key(1), MemorySegment.ofArray(new byte[4096])));
    assertEquals(Existence.ABSENT, store.exists(key(1)));
    assertEquals(new SizeResult.Absent(), store.size(key(1)));
    assertThrows(GateClosedException.class, () -> store.putPage(key(1), pool, block));
    bench.gate.close();
    bench.gate.open(EpochGate.State.OPEN);
    bench.assertHit(store, pool, 1);
  }

  private static void port(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    RefitStore port = store.refitPort();
    assertTrue(bench.gate.parts().contains(port));
    bench.putAll(store, pool, 1, 2, 3);
    long sent = port.keysSent();
    assertTrue(sent >= 3, "keys sent: " + sent);
    bench.gate.close();
    assertEquals(0, port.putCanary("canary-1"));
    assertTrue(port.sizeOfCanary("canary-1") > 0);
    assertEquals(sent + 1, port.keysSent());
    assertEquals(4, port.removeAllForced());
    assertEquals(0, port.removeAllForced());
    assertEquals(StoreCode.OBJECT_NOT_FOUND.raw(), port.sizeOfCanary("canary-1"));
    assertEquals(0, port.failQueued());
    assertEquals(List.of(), port.drain(Deadline.after(Duration.ZERO)));
    port.clearLocal();
    assertTrue(port.census().isPresent());
    bench.gate.open(EpochGate.State.OPEN);
    store.close();
    assertFalse(bench.gate.parts().contains(port));
    assertThrows(ClosedException.class, port::removeAllForced);
    assertEquals(sent + 1, port.keysSent());
  }

  private static void longerVersion(ContractBench bench) {
    KvStore store = bench.open(EPOCH);
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 3)) {
      for (long version : new long[]{9, 10, 999, 1000, Long.MAX_VALUE}) {
        raise(bench.gate, version);
        batch.clear();
        for (int i = 0; i < 3; i++)
          batch.add(key(i), bench.filled(pool, i));
        batch.put();
        KvStore verbatim = bench.open(KeyCodec.verbatim());
        for (int i = 0; i < 3; i++) {
          assertTrue(batch.isStored(i));
          assertEquals(Existence.PRESENT, verbatim.exists(KvKey.of("contract/run/" + version + "/key-" + i)));
        }
        assertEquals(3, batch.get().leadingHits());
        for (int i = 0; i < 3; i++)
          pool.release(batch.block(i));
      }
    }
  }

  private static void raisedMeanwhile(ContractBench bench) {
    KvStore store = bench.open(EPOCH);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    long block = pool.lease();
    LoopbackControls.arm("get.before_copy", Action.HANG, 0, 1);
    CompletableFuture<GetResult> get = bench.start(() -> store.getPage(key(1), pool, block));
    LoopbackControls.awaitHanging("get.before_copy", 1);
    bench.gate.close();
    bench.gate.raise(new WeightEpoch("run", 2));
    assertEquals(1, bench.gate.inside());
    LoopbackControls.release("get.before_copy");
    assertEquals(new GetResult.Rejected(Rejection.STALE), join(get));
    assertEquals(0, bench.gate.awaitDrained(Deadline.after(Duration.ofSeconds(20))));
    bench.gate.open(EpochGate.State.OPEN);
  }

  private static void drain(ContractBench bench) {
    KvStore store = bench.open(EPOCH);
    BlockPool pool = bench.pool(store);
    long block = bench.filled(pool, 1);
    LoopbackControls.arm("put.before_copy", Action.HANG, 0, 1);
    CompletableFuture<PutResult> put = bench.start(() -> store.putPage(key(1), pool, block));
    LoopbackControls.awaitHanging("put.before_copy", 1);
    bench.gate.close();
    List<String> pending = store.refitPort().drain(Deadline.after(Duration.ofMillis(20)));
    assertEquals(1, pending.size());
    assertTrue(pending.getFirst().contains("put of 1 keys"), pending::toString);
    LoopbackControls.release("put.before_copy");
    assertEquals(List.of(), store.refitPort().drain(Deadline.after(Duration.ofSeconds(20))));
    assertEquals(new PutResult.Stored(), join(put));
    bench.gate.open(EpochGate.State.OPEN);
  }
}

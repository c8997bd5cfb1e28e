package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.deadline;
import static dev.gatun.transfer.TransferBench.eventually;
import static dev.gatun.transfer.TransferBench.holds;
import static dev.gatun.transfer.TransferBench.run;
import static dev.gatun.transfer.TransferCase.controlled;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** What native code does not do in time, or does wrong. */
final class FaultCases {
  private static final String COPY = "engine.copy";
  private static final Duration SOON = Duration.ofMillis(50);

  private FaultCases() {}

  static List<TransferCase> all() {
    return List.of(
        controlled("K6.06 a deadline leaves the block in quarantine until the transfer has ended",
            FaultCases::deadlines),
        controlled("a deadline that comes while another thread looks leaves nothing running",
            FaultCases::lookedAtMeanwhile),
        controlled("K7.03 a future ends at its deadline, its blocks later", FaultCases::futures),
        controlled("K6.05 memory with a transfer in flight is not unregistered", FaultCases::unregister),
        controlled("K6.07 a batch that nobody awaits is polled and freed by closing, once", FaultCases::neverAwaited),
        controlled("K6.10 closing says what is pending, and frees nothing of it", FaultCases::closing),
        controlled("closing goes on where the library holds on to memory, which a peer may be in the middle of",
            FaultCases::busyMemory),
        controlled("K6.04 aborting ends what hangs, and only then gives its memory back", FaultCases::abort),
        controlled("K7.02 a status query that keeps failing ends the wait; the blocks come back when it answers again",
            FaultCases::status),
        controlled("a status query that says nothing is not taken for an end", FaultCases::silentStatus),
        controlled("K7.08 one submit of five that is refused leaves the other four alone", FaultCases::oneOfFive),
        controlled("K7.10 a failure is not held against the peer", FaultCases::notHeldAgainst),
        controlled("a request that fails says so by index, and the message is not sent", FaultCases::failure),
        controlled("K6.12 a fault at any native step leaves nothing behind", FaultCases::everyStep),
        controlled("K7.09 the deadline counts in every state: copying, unanswered status, unfreed, message unsent",
            FaultCases::everyState));
  }

  private static void deadlines(TransferBench bench) {
    long mine = bench.here.filled(1);
    long other = bench.here.filled(2);
    long theirs = bench.there.filled(3);
    LoopbackControls.arm(COPY, Action.HANG, 0, 1);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 2)) {
      batch.write(mine, bench.peer, bench.there.address(theirs)).submit();
      LoopbackControls.awaitHanging(COPY, 1);
      assertEquals(TransferOutcome.RUNNING, batch.outcome(0));
      assertFalse(batch.await(Deadline.after(SOON)));
      assertEquals(TransferOutcome.IN_DOUBT, batch.outcome(0));
      assertEquals(1, batch.inDoubt());
      assertFalse(batch.allCompleted());
      assertEquals(1, bench.here.pool.quarantined());
      assertEquals(1, bench.here.engine.inDoubt());
      int free = bench.here.pool.available();
      bench.here.release(mine);
      assertEquals(free, bench.here.pool.available(), "a released block in quarantine is not free");
      // the batch is of use at once
      run(batch.clear().write(other, bench.peer, bench.there.address(theirs)));
      assertTrue(holds(bench.there.pool.page(theirs), 2));
      LoopbackControls.release(COPY);
      eventually("the block is free", () -> bench.here.pool.available() == free + 1);
      eventually("nothing is in doubt", () -> bench.here.engine.inDoubt() == 0);
      assertEquals(0, bench.peer.inFlight());
    }
  }

  private static void lookedAtMeanwhile(TransferBench bench) {
    long mine = bench.here.filled(1);
    long theirs = bench.there.filled(2);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      for (int round = 0; round < 100; round++) {
        LoopbackControls.arm(COPY, Action.HANG, 0, 1);
        batch.clear().write(mine, bench.peer, bench.there.address(theirs)).submit();
        LoopbackControls.awaitHanging(COPY, 1);
        Thread looking = Thread.ofPlatform().start(() -> {
          while (batch.outcome(0) == TransferOutcome.RUNNING)
            batch.isDone();
        });
        assertFalse(batch.await(Deadline.after(Duration.ofMillis(1))), "round " + round);
        assertEquals(TransferOutcome.IN_DOUBT, batch.outcome(0));
        LoopbackControls.release(COPY);
        eventually("nothing is in quarantine", () -> bench.here.pool.quarantined() == 0);
        eventually("nobody looks any more", () -> !looking.isAlive());
      }
    }
  }

  private static void futures(TransferBench bench) throws Exception {
    long mine = bench.here.filled(1);
    long theirs = bench.there.filled(2);
    LoopbackControls.arm(COPY, Action.HANG, 0, 1);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 2)) {
      CompletableFuture<TransferBatch> future = batch.read(mine, bench.peer, bench.there.address(theirs))
          .submitAsync(Deadline.after(SOON));
      ExecutionException failure = assertThrows(ExecutionException.class,
          () -> future.get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
      assertInstanceOf(DeadlineException.class, failure.getCause());
      assertEquals(TransferOutcome.IN_DOUBT, batch.outcome(0));
      LoopbackControls.release(COPY);
      eventually("nothing is in quarantine", () -> bench.here.pool.quarantined() == 0);
      // whatever arrived in the end is no page
      assertThrows(IllegalStateException.class, () -> bench.here.pool.page(mine));
    }
  }

  private static void unregister(TransferBench bench) {
    BlockPool pool = BlockPool.allocate(new PoolLayout(4096, 1, 0), bench.here.gate);
    bench.here.engine.register(pool.slab());
    long block = pool.lease();
    LoopbackControls.arm(COPY, Action.HANG, 0, 1);
    TransferBatch batch = bench.here.engine.batch(pool, 1);
    batch.write(block, bench.peer, bench.there.address(bench.there.filled(1))).submit();
    LoopbackControls.awaitHanging(COPY, 1);
    assertThrows(InUseException.class, () -> pool.slab().registrations().getFirst().close(Deadline.after(SOON)));
    assertFalse(batch.await(Deadline.after(SOON)));
    assertThrows(InUseException.class, () -> pool.slab().registrations().getFirst().close(Deadline.after(SOON)));
    assertThrows(InUseException.class, () -> pool.close(Deadline.after(SOON)));
    LoopbackControls.release(COPY);
    bench.here.engine.unregister(pool.slab());
    batch.close();
    pool.release(block);
    pool.close();
  }

  private static void neverAwaited(TransferBench bench) {
    long before = LoopbackControls.liveBatches();
    TransferBench.Side side = new TransferBench.Side(bench.subject, "never awaited");
    Segment peer = side.engine.openSegment(bench.there.engine.descriptor());
    for (int i = 0; i < 10; i++) {
      side.engine.batch(side.pool, 1)
          .write(side.filled(i), peer, bench.there.address(bench.there.filled(0))).submit();
    }
    assertEquals(before + 10, LoopbackControls.liveBatches());
    LoopbackControls.arm("engine.free_batch", Action.DELAY, 0, 0);
    side.close();
    assertEquals(10, LoopbackControls.hits("engine.free_batch"), "each is freed, once");
    assertEquals(before, LoopbackControls.liveBatches());
    assertEquals(List.of(), side.engine.close(deadline()));
    assertThrows(ClosedException.class, () -> side.engine.batch(side.pool, 1));
    assertThrows(ClosedException.class, side.engine::pollNotification);
  }

  private static void closing(TransferBench bench) {
    TransferBench.Side side = new TransferBench.Side(bench.subject, "closing");
    Segment peer = side.engine.openSegment(bench.there.engine.descriptor());
    long mine = side.filled(1);
    long theirs = bench.there.filled(2);
    LoopbackControls.arm(COPY, Action.HANG, 0, 1);
    TransferBatch batch = side.engine.batch(side.pool, 1);
    batch.write(mine, peer, bench.there.address(theirs)).submit();
    LoopbackControls.awaitHanging(COPY, 1);
    List<String> pending = side.engine.close(Deadline.after(SOON));
    assertEquals(1, pending.size());
    assertTrue(pending.getFirst().contains("1 writes with " + peer.name()), pending.getFirst());
    assertThrows(InUseException.class, () -> side.pool.close(Deadline.after(SOON)));
    assertThrows(ClosedException.class, () -> side.engine.batch(side.pool, 1));
    LoopbackControls.release(COPY);
    side.close();
    assertEquals(TransferOutcome.COMPLETED, batch.outcome(0));
  }

  private static void busyMemory(TransferBench bench) {
    TransferBench.Side side = new TransferBench.Side(bench.subject, "busy");
    LoopbackControls.arm("engine.register", Action.FAIL, -4, 0);
    assertThrows(InUseException.class, () -> side.engine.unregister(side.pool.slab()));
    assertEquals(1, side.engine.registrations());
    assertEquals(List.of(), side.engine.close(deadline()));
    assertEquals(List.of(), side.pool.slab().registrations());
    LoopbackControls.release("engine.register");
    side.close();
  }

  private static void abort(TransferBench bench) throws Exception {
    long engines = LoopbackControls.liveEngines();
    long batches = LoopbackControls.liveBatches();
    TransferBench.Side side = new TransferBench.Side(bench.subject, "abort");
    Segment peer = side.engine.openSegment(bench.there.engine.descriptor());
    long theirs = bench.there.filled(2);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    TransferBatch awaited = side.engine.batch(side.pool, 1);
    CompletableFuture<TransferBatch> future = awaited.write(side.filled(1), peer, bench.there.address(theirs))
        .submitAsync(deadline());
    TransferBatch forgotten = side.engine.batch(side.pool, 1);
    forgotten.read(side.filled(1), peer, bench.there.address(theirs)).submit();
    LoopbackControls.awaitHanging(COPY, 2);
    assertEquals(List.of(), side.engine.abort(deadline()));
    assertThrows(ExecutionException.class, () -> future.get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
    assertEquals(TransferOutcome.IN_DOUBT, forgotten.outcome(0));
    assertEquals(0, side.pool.quarantined());
    assertEquals(engines, LoopbackControls.liveEngines());
    side.close();
    LoopbackControls.release(COPY);
    eventually("nothing hangs", () -> LoopbackControls.hanging(COPY) == 0);
    assertEquals(batches, LoopbackControls.liveBatches());
    assertTrue(holds(bench.there.pool.page(theirs), 2), "its engine was gone: no byte moved");
  }

  private static void status(TransferBench bench) throws Exception {
    long mine = bench.here.filled(1);
    long theirs = bench.there.filled(2);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      LoopbackControls.arm("engine.status", Action.FAIL, 202, 0);
      batch.write(mine, bench.peer, bench.there.address(theirs)).submit();
      EngineException failure = assertThrows(EngineException.class, () -> batch.await(deadline()));
      assertEquals(EngineCode.CONTEXT, failure.code());
      assertEquals(202, failure.rawCode());
      assertEquals(TransferOutcome.IN_DOUBT, batch.outcome(0));
      assertEquals(1, bench.here.pool.quarantined());
      long other = bench.here.filled(1);
      CompletableFuture<TransferBatch> future = batch.clear().write(other, bench.peer, bench.there.address(theirs))
          .submitAsync(deadline());
      assertInstanceOf(EngineException.class, assertThrows(ExecutionException.class,
          () -> future.get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS)).getCause());
      LoopbackControls.release("engine.status");
      eventually("nothing is in quarantine", () -> bench.here.pool.quarantined() == 0);
      run(batch);
      // once or twice is no reason to give up
      LoopbackControls.arm("engine.status", Action.FAIL, 202, 2);
      run(batch);
    }
  }

  private static void silentStatus(TransferBench bench) {
    long mine = bench.here.filled(1);
    long theirs = bench.there.filled(2);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      run(batch.write(mine, bench.peer, bench.there.address(theirs)));
      LoopbackControls.arm("engine.status", Action.SKIP, 0, 0);
      assertFalse(batch.submit().await(Deadline.after(SOON)));
      assertEquals(TransferOutcome.IN_DOUBT, batch.outcome(0));
      LoopbackControls.release("engine.status");
      eventually("nothing is in quarantine", () -> bench.here.pool.quarantined() == 0);
    }
  }

  private static void oneOfFive(TransferBench bench) {
    List<TransferBatch> batches = new ArrayList<>();
    List<CompletableFuture<TransferBatch>> futures = new ArrayList<>();
    long theirs = bench.there.filled(9);
    LoopbackControls.armAfter("engine.submit", Action.FAIL, 201, 1, 2);
    for (int i = 0; i < 5; i++) {
      TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1);
      batches.add(batch);
      futures.add(batch.read(bench.here.filled(i), bench.peer, bench.there.address(theirs)).submitAsync(deadline()));
    }
    CompletableFuture<Void> all = CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new));
    assertThrows(ExecutionException.class, () -> all.get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
    for (int i = 0; i < 5; i++) {
      assertEquals(i == 2 ? TransferOutcome.NOT_SENT : TransferOutcome.COMPLETED, batches.get(i).outcome(0));
      assertEquals(i == 2, futures.get(i).isCompletedExceptionally());
    }
    assertEquals(List.of(), bench.here.pool.pending());
    batches.forEach(TransferBatch::close);
  }

  private static void notHeldAgainst(TransferBench bench) {
    long mine = bench.here.filled(1);
    long theirs = bench.there.filled(2);
    LoopbackControls.arm(COPY, Action.FAIL, 1, 1);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      assertTrue(batch.write(mine, bench.peer, bench.there.address(theirs)).submit().await(deadline()));
      assertEquals(TransferOutcome.FAILED, batch.outcome(0));
      run(batch);
    }
  }

  private static void failure(TransferBench bench) {
    long theirs = bench.there.filled(5);
    long[] mine = {bench.here.filled(1), bench.here.filled(2), bench.here.filled(3)};
    LoopbackControls.armAfter(COPY, Action.FAIL, 1, 1, 1);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 3)) {
      for (long block : mine)
        batch.read(block, bench.peer, bench.there.address(theirs));
      assertTrue(batch.message(new byte[]{1}).submit().await(deadline()));
      int failed = 0;
      for (int i = 0; i < 3; i++) {
        if (batch.outcome(i) == TransferOutcome.COMPLETED) {
          assertTrue(holds(bench.here.pool.page(mine[i]), 5));
          continue;
        }
        failed++;
        assertEquals(TransferOutcome.FAILED, batch.outcome(i));
        assertEquals(6, batch.rawStatus(i));
        long block = mine[i];
        assertThrows(IllegalStateException.class, () -> bench.here.pool.page(block));
      }
      assertEquals(1, failed);
      assertFalse(batch.notified());
      assertNull(bench.there.engine.pollNotification());
    }
  }

  private static void everyStep(TransferBench bench) {
    long engines = LoopbackControls.liveEngines();
    long batches = LoopbackControls.liveBatches();
    LoopbackControls.arm("engine.create", Action.FAIL, 0, 1);
    assertThrows(RuntimeException.class, () -> new TransferBench.Side(bench.subject, "create"));
    for (String point : List.of("engine.register", "engine.open_segment", "engine.submit", "engine.status",
        "engine.free_batch", "engine.notify", COPY)) {
      TransferBench.Side side = new TransferBench.Side(bench.subject, point);
      try {
        LoopbackControls.arm(point, Action.FAIL, point.equals("engine.open_segment") ? -1 : 202, 0);
        once(bench, side);
      } catch (EngineException expected) {
        assertEquals(point.equals("engine.open_segment") ? -1 : 202, expected.rawCode());
      } finally {
        LoopbackControls.release(point);
      }
      side.close();
      assertEquals(engines, LoopbackControls.liveEngines(), point);
      // a library that will not free an ended batch keeps it, until its engine is destroyed
      assertEquals(batches, LoopbackControls.liveBatches(), point);
    }
  }

  private static void once(TransferBench bench, TransferBench.Side side) {
    try (BlockPool more = BlockPool.allocate(new PoolLayout(4096, 1, 0), side.gate)) {
      side.engine.register(more.slab());
      side.engine.unregister(more.slab());
    }
    Segment peer = side.engine.openSegment(bench.there.engine.descriptor());
    TransferBatch batch = side.engine.batch(side.pool, 1);
    batch.write(side.filled(1), peer, bench.there.address(bench.there.filled(1))).submit().await(deadline());
    side.engine.notify(peer, new byte[1], deadline());
    bench.there.engine.pollNotification();
  }

  private static void everyState(TransferBench bench) throws Exception {
    // hanging inside a status query or a free would hang the caller, as any native call may: those two fail instead
    atDeadline(bench, COPY, Action.HANG, TransferOutcome.IN_DOUBT, 1);
    atDeadline(bench, "engine.status", Action.FAIL, TransferOutcome.IN_DOUBT, 1);
    atDeadline(bench, "engine.free_batch", Action.FAIL, TransferOutcome.COMPLETED, 0);
    atDeadline(bench, "engine.notify", Action.HANG, TransferOutcome.COMPLETED, 1);
  }

  private static void atDeadline(TransferBench bench, String point, Action action, TransferOutcome expected,
      int flightsInDoubt) throws Exception {
    long theirs = bench.there.filled(1);
    LoopbackControls.arm(point, action, 4, 0);
    TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1);
    batch.write(bench.here.filled(1), bench.peer, bench.there.address(theirs)).message(new byte[1]).submit();
    // on another thread: one that does not heed the deadline is not to hang the suite
    CompletableFuture<Boolean> ended = CompletableFuture.supplyAsync(() -> batch.await(Deadline.after(SOON)),
        Thread.ofPlatform().daemon()::start);
    boolean unanswered = false;
    try {
      assertEquals(expected == TransferOutcome.COMPLETED,
          ended.get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS),
          point);
    } catch (ExecutionException e) {
      unanswered = e.getCause() instanceof EngineException;
    }
    assertEquals(point.equals("engine.status"), unanswered, point);
    assertEquals(expected, batch.outcome(0), point);
    assertEquals(flightsInDoubt, bench.here.engine.inDoubt(), point);
    assertEquals(expected == TransferOutcome.IN_DOUBT ? 1 : 0, bench.here.pool.quarantined(), point);
    assertEquals(point.equals("engine.free_batch"), batch.notified(), point);
    LoopbackControls.release(point);
    eventually("nothing is left of " + point,
        () -> bench.here.engine.inDoubt() == 0 && bench.here.pool.quarantined() == 0);
    batch.close();
  }
}

package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.deadline;
import static dev.gatun.transfer.TransferBench.eventually;
import static dev.gatun.transfer.TransferBench.run;
import static dev.gatun.transfer.TransferCase.always;
import static dev.gatun.transfer.TransferCase.controlled;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import java.time.Duration;
import java.util.List;

/** Transfers and refits. */
final class RefitCases {
  private static final String COPY = "engine.copy";

  private RefitCases() {}

  static List<TransferCase> all() {
    return List.of(always("S1.6 a submit is refused while the gate is closed, and afterwards for blocks of old weights",
        RefitCases::closed),
        always("S1.6 a refit polls to its end what nobody awaits", RefitCases::drains),
        controlled("S1.6 a refit says what is in flight; what completes after it is STALE and of no use",
            RefitCases::stale),
        controlled("a submit that takes long to connect does not hold the gate, and the refit names it as in flight",
            RefitCases::connecting),
        controlled("a refit waits for a write in doubt, which may still land, and not for a read in doubt",
            RefitCases::doubt));
  }

  private static void closed(TransferBench bench) {
    long mine = bench.here.filled(1);
    long theirs = bench.there.address(bench.there.filled(2));
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      batch.write(mine, bench.peer, theirs);
      bench.here.gate.close();
      assertThrows(GateClosedException.class, batch::submit);
      assertThrows(GateClosedException.class, () -> batch.submitAsync(deadline()));
      bench.here.gate.open(EpochGate.State.DISABLED);
      assertThrows(GateClosedException.class, batch::submit);
      bench.here.gate.open(EpochGate.State.OPEN);
      run(batch);
      assertEquals(List.of(), TransferBench.refit(bench.here.gate));
      assertThrows(EpochChangedException.class, batch::submit);
      bench.here.pool.renew(mine);
      TransferBench.fill(bench.here.pool.rewrite(mine), 3);
      run(batch);
      assertEquals(0, bench.peer.inFlight());
    }
  }

  private static void drains(TransferBench bench) {
    long mine = bench.here.filled(1);
    long theirs = bench.there.address(bench.there.filled(2));
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      // each of the two steps of a refit does it alone; a look at the batch itself would poll it
      batch.write(mine, bench.peer, theirs).submit();
      bench.here.gate.close();
      bench.here.engine.core().failQueued();
      eventually("the poller has seen its end", () -> !batch.isFlying());
      assertEquals(TransferOutcome.COMPLETED, batch.outcome(0));
      bench.here.gate.open(EpochGate.State.OPEN);
      batch.submit();
      assertEquals(List.of(), bench.here.engine.core().drain(deadline()));
      assertFalse(batch.isFlying());
      batch.submit();
      assertEquals(List.of(), TransferBench.refit(bench.here.gate));
      assertFalse(batch.isFlying());
    }
  }

  private static void stale(TransferBench bench) {
    long mine = bench.here.filled(1);
    long other = bench.here.filled(1);
    long theirs = bench.there.address(bench.there.filled(2));
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 2)) {
      batch.read(mine, bench.peer, theirs).write(other, bench.peer, theirs).submit();
      LoopbackControls.awaitHanging(COPY, 2);
      List<String> pending = TransferBench.refit(bench.here.gate);
      assertTrue(pending.stream().anyMatch(line -> line.contains("2 writes with " + bench.peer.name())),
          pending.toString());
      LoopbackControls.release(COPY);
      assertTrue(batch.await(deadline()));
      assertEquals(TransferOutcome.STALE, batch.outcome(0));
      assertEquals(TransferOutcome.STALE, batch.outcome(1));
      assertFalse(batch.allCompleted());
      assertThrows(EpochChangedException.class, () -> bench.here.pool.page(mine));
    }
  }

  private static void connecting(TransferBench bench) {
    long theirs = bench.there.address(bench.there.filled(2));
    LoopbackControls.arm("engine.submit", Action.HANG, 0, 1);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
      batch.write(bench.here.filled(1), bench.peer, theirs);
      Thread submitting = Thread.ofPlatform().daemon().start(batch::submit);
      LoopbackControls.awaitHanging("engine.submit", 1);
      bench.here.gate.close();
      assertEquals(0, bench.here.gate.awaitDrained(Deadline.after(Duration.ZERO)));
      List<String> pending = bench.here.engine.core().drain(Deadline.after(Duration.ZERO));
      assertEquals(1, pending.size());
      assertTrue(pending.getFirst().contains("1 writes with " + bench.peer.name()), pending.toString());
      LoopbackControls.release("engine.submit");
      eventually("it has submitted", () -> !submitting.isAlive());
      assertEquals(List.of(), bench.here.engine.core().drain(deadline()));
      bench.here.gate.open(EpochGate.State.OPEN);
      assertEquals(TransferOutcome.COMPLETED, batch.outcome(0));
    }
  }

  private static void doubt(TransferBench bench) {
    long theirs = bench.there.address(bench.there.filled(2));
    for (boolean write : new boolean[]{false, true}) {
      LoopbackControls.arm(COPY, Action.HANG, 0, 0);
      try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
        long mine = bench.here.filled(1);
        if (write) batch.write(mine, bench.peer, theirs);
        else
          batch.read(mine, bench.peer, theirs);
        assertFalse(batch.submit().await(Deadline.after(Duration.ofMillis(50))));
        List<String> pending = TransferBench.refit(bench.here.gate);
        assertEquals(write, pending.stream().anyMatch(line -> line.contains("in doubt")), pending.toString());
      }
      LoopbackControls.release(COPY);
      eventually("nothing is in doubt", () -> bench.here.engine.inDoubt() == 0);
    }
  }
}

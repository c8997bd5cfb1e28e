package dev.gatun.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.StoreOptions;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.refit.RefitPolicy.OtherClients;
import dev.gatun.store.GetResult;
import dev.gatun.store.PutResult;
import dev.gatun.store.Rejection;
import dev.gatun.testing.Await;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LoopbackRefitTest extends RefitContract {
  private static final RefitPolicy QUICK = RefitPolicy.DEFAULT.withDeadline(Duration.ofMillis(800))
      .withOtherClients(OtherClients.FENCED);

  private final String pool = "refit-" + UUID.randomUUID();
  private final String master = "loopback:" + pool;

  @BeforeEach
  void prepare() {
    LoopbackControls.reset();
  }

  @AfterEach
  void undo() {
    LoopbackControls.reset();
  }

  @Override
  StoreOptions options() {
    return StoreOptions.loopback(pool, 32L << 20);
  }

  @Override
  StoreOptions optionsWithoutMemory() {
    return StoreOptions.loopback(pool, 0);
  }

  /** Runs the body while a call hangs at a point; then lets it go on. Returns what the call answered. */
  private static <T> T whileHanging(String point, Callable<T> call, Runnable body) throws Exception {
    LoopbackControls.arm(point, Action.HANG, 0, 1);
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      try {
        Future<T> hanging = threads.submit(call);
        LoopbackControls.awaitHanging(point, 1);
        body.run();
        LoopbackControls.release(point);
        return hanging.get(30, TimeUnit.SECONDS);
      } finally {
        LoopbackControls.release(point);
      }
    }
  }

  @Test
  @DisplayName("the master refuses: plain keys FAILED and closed, keys with epochs ISOLATED and open")
  void masterDown() {
    Node plain = node(PLAIN, QUICK);
    Node keyed = node(KEYED, QUICK);
    putPages(keyed, 3, 1);
    LoopbackControls.masterDown(master);

    RefitReport failed = plain.coordinator.refit(epoch(2));
    RefitReport isolated = keyed.coordinator.refit(epoch(2));

    assertEquals(RefitOutcome.FAILED, failed.outcome());
    assertTrue(failed.reasons().toString().contains("removeAll failed: RPC_FAIL (-900)"), failed::text);
    assertEquals(EpochGate.State.CLOSED, plain.gate.state());
    assertEquals(RefitOutcome.ISOLATED, isolated.outcome());
    LoopbackControls.masterUp(master);
    assertEquals(new GetResult.Miss(), get(keyed, 0));
    assertEquals(RefitOutcome.VERIFIED, plain.coordinator.refit(epoch(2)).outcome());
  }

  @Test
  @DisplayName("the master freezes: the refit returns by its deadline, says what hangs, and succeeds once it thaws")
  void masterFrozen() {
    Node node = node(PLAIN, QUICK);
    putPages(node, 3, 1);
    LoopbackControls.masterFrozen(master);

    RefitReport report = node.coordinator.refit(epoch(2));

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertTrue(report.reasons().toString().contains("removeAll waited behind canary"), report::text);
    assertEquals(EpochGate.State.CLOSED, node.gate.state());
    LoopbackControls.masterUp(master);
    Await.until("the calls came back", () -> node.coordinator.unfinished().isEmpty());
    RefitReport again = node.coordinator.refit(epoch(2));
    assertEquals(RefitOutcome.VERIFIED, again.outcome(), again::text);
    assertEquals(new GetResult.Miss(), get(node, 0));
  }

  @Test
  @DisplayName("a foreign put in flight is invisible to list and removal; the gauge shows it, and it lands afterwards")
  void foreignPutInFlight() throws Exception {
    Node node = node(PLAIN, QUICK);
    Node foreign = node(PLAIN, QUICK);
    PutResult put = whileHanging("put.before_end", () -> foreign.store.put(key(0), page(1)), () -> {
      RefitReport report = node.coordinator.refit(epoch(2));
      assertEquals(RefitOutcome.FAILED, report.outcome());
      assertEquals(1, report.stores().getFirst().keyCount());
      assertEquals(List.of(), report.stores().getFirst().leftovers());
    });
    assertInstanceOf(PutResult.Stored.class, put);
    assertInstanceOf(GetResult.Hit.class, get(foreign, 0), "the old page became readable after the removal");
    RefitReport again = node.coordinator.refit(epoch(2));
    assertEquals(RefitOutcome.VERIFIED, again.outcome(), again::text);
    assertEquals(new GetResult.Miss(), get(node, 0));
  }

  @Test
  @DisplayName("K1.06 an own put that does not come back: never VERIFIED, and old bytes never get the new epoch")
  void ownPutHangs() throws Exception {
    Node node = node(KEYED, QUICK);
    whileHanging("put.before_end", () -> node.store.put(key(0), page(1)), () -> {
      RefitReport report = node.coordinator.refit(epoch(2));
      assertEquals(RefitOutcome.ISOLATED, report.outcome(), report::text);
      assertTrue(report.reasons().getFirst().contains("still has calls inside"), report::text);
    });
    assertEquals(new GetResult.Miss(), get(node, 0));
  }

  @Test
  @DisplayName("K1.08 an own get that does not come back: its bytes are not handed out after the refit")
  void ownGetHangs() throws Exception {
    Node node = node(PLAIN, QUICK);
    putPages(node, 1, 1);
    GetResult got = whileHanging("get.before_copy", () -> get(node, 0), () -> {
      RefitReport report = node.coordinator.refit(epoch(2));
      assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
      LoopbackControls.release("get.before_copy");
      Await.until("the call came back", () -> node.coordinator.unfinished().isEmpty());
      assertEquals(RefitOutcome.VERIFIED, node.coordinator.refit(epoch(2)).outcome());
    });
    assertEquals(new GetResult.Rejected(Rejection.STALE), got);
  }

  @Test
  @DisplayName("K1.18 a removal that answers 0 and removes nothing is caught")
  void removalSkipped() {
    Node node = node(PLAIN, QUICK.withPassesMax(3));
    putPages(node, 3, 1);
    LoopbackControls.arm("remove_all.before", Action.SKIP, 0, 0);

    RefitReport report = node.coordinator.refit(epoch(2));

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertTrue(report.reasons().toString().contains("the canary survived the removal"), report::text);
    assertEquals(4, report.stores().getFirst().leftovers().size(), report::text);
  }

  @Test
  @DisplayName("a removal that fails half way is not taken for one, and retry does the rest")
  void removalFailsHalfWay() {
    Node node = node(PLAIN, QUICK.withOnFailure(OnFailure.RETRY).withAttempts(2, Duration.ofMillis(1)));
    putPages(node, 50, 1);
    LoopbackControls.arm("remove_all.middle", Action.FAIL, -900, 1);

    RefitReport report = node.coordinator.refit(epoch(2));

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(2, report.attempts());
  }

  @Test
  @DisplayName("K8.01 the master restarts in the middle of the removal: the next attempt proves anew")
  void masterRestarts() throws Exception {
    Node node = node(PLAIN, RefitPolicy.DEFAULT);
    putPages(node, 10, 1);
    RefitReport report = whileHanging("remove_all.middle", () -> node.coordinator.refit(epoch(2)),
        () -> LoopbackControls.masterRestart(master));
    assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
    assertTrue(report.reasons().toString().contains("the master changed during the refit"), report::text);
    assertEquals(RefitOutcome.VERIFIED, node.coordinator.refit(epoch(2)).outcome());
    assertEquals(new GetResult.Miss(), get(node, 0));
  }

  @Test
  @DisplayName("the canary's memory is lost in the middle of the refit: its absence proves nothing")
  void canaryLost() throws Exception {
    Node node = node(PLAIN, RefitPolicy.DEFAULT);
    RefitReport report = whileHanging("remove_all.before", () -> node.coordinator.refit(epoch(2)),
        () -> LoopbackControls.segmentLost(master, node.store.hostname()));
    assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
    assertTrue(report.reasons().toString().contains("the canary vanished"), report::text);
  }

  @Test
  @DisplayName("a removal that hangs in native code is given up, named, and resolved by a later refit")
  void removalHangs() {
    Node node = node(PLAIN, QUICK);
    putPages(node, 3, 1);
    LoopbackControls.arm("remove_all.before", Action.HANG, 0, 1);

    RefitReport report = node.coordinator.refit(epoch(2));

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertTrue(report.reasons().toString().contains("removeAll did not return by the deadline"), report::text);
    LoopbackControls.release("remove_all.before");
    Await.until("the removal came back", () -> node.coordinator.unfinished().isEmpty());
    assertEquals(RefitOutcome.VERIFIED, node.coordinator.refit(epoch(2)).outcome());
  }
}

package dev.gatun.refit;

import static dev.gatun.refit.Replica.NEW;
import static dev.gatun.refit.Replica.NEXT;
import static dev.gatun.refit.Replica.OLD;
import static dev.gatun.refit.Replica.QUICK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.testing.Await;
import dev.gatun.testing.Thrown;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class RefitCoordinatorTest {

  @Test
  @DisplayName("a refit removes everything, proves it, and opens at the new epoch")
  void verified() {
    Replica replica = Replica.plain().filled();

    RefitReport report = replica.coordinator.refit(NEW).orThrow();

    assertEquals(RefitOutcome.VERIFIED, report.outcome());
    assertEquals(List.of(), report.reasons());
    assertEquals(6, report.removed(), "five pages and the canary");
    assertEquals(List.of("close gate", "raise epoch", "drain", "clear local", "baseline", "canary", "witness", "remove",
        "verify", "look again", "open"), report.steps().stream().map(RefitReport.Step::name).toList());
    assertEquals(NEW, replica.gate.epoch());
    assertTrue(report.open());
    assertFalse(replica.store.hit("page0"));
    assertEquals(0, replica.master.count());
  }

  @Test
  @DisplayName("K1.04 one call with no options sends the forced removal")
  void oneCallRemoves() {
    Replica replica = Replica.plain();

    replica.coordinator.refit(NEW);

    assertEquals(2, replica.store.script.hits("removeAll"), "one that takes the canary, one that finds nothing");
  }

  @Test
  @DisplayName("S1.4 no store: nothing to reset is success, and says so")
  void nothingToReset() {
    EpochGate gate = new EpochGate(OLD);

    RefitReport report = new RefitCoordinator(gate, List.of(), RefitPolicy.DEFAULT, Observer.NONE).refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome());
    assertEquals(List.of("no store: nothing to remove"), report.notes());
    assertEquals(EpochGate.State.OPEN, gate.state());
  }

  @Test
  @DisplayName("no store, but a part that does not get quiet: nothing is proved, and nothing is isolated either")
  void nothingToResetButNotQuiet() {
    EpochGate gate = new EpochGate(OLD);
    gate.enter("push");

    RefitReport report = new RefitCoordinator(gate, List.of(), Replica.QUICK, Observer.NONE).refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(EpochGate.State.CLOSED, gate.state());
  }

  @Test
  @DisplayName("S1.5 removing zero objects is success")
  void emptyStore() {
    Replica replica = Replica.plain();
    replica.coordinator.refit(NEW).orThrow();

    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(NEXT).outcome());
  }

  @Test
  @DisplayName("the gate is closed from begin to open, while weights load")
  void closedWhileLoading() {
    Replica replica = Replica.plain().filled();

    try (Refit refit = replica.coordinator.begin(NEW)) {
      assertThrows(GateClosedException.class, () -> replica.store.put("late"));
      refit.clear();
      assertThrows(GateClosedException.class, () -> replica.store.put("late"));
      refit.open();
    }

    assertEquals(0, replica.store.put("fresh"));
    assertTrue(replica.store.hit("fresh"));
  }

  @Test
  @DisplayName("the same epoch again joins and returns the first report")
  void sameEpochJoins() {
    Replica replica = Replica.plain().filled();
    RefitReport first = replica.coordinator.refit(NEW);
    replica.store.put("fresh");

    RefitReport second = replica.coordinator.refit(NEW);

    assertSame(first, second);
    assertTrue(replica.store.hit("fresh"), "nothing was removed again");
    assertEquals(1, replica.coordinator.resets());
  }

  @Test
  @DisplayName("the same epoch at the same time waits for the first and returns its report")
  void concurrentCallersShareOneRefit() throws Exception {
    Replica replica = Replica.plain().filled();
    CountDownLatch inRemoval = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    replica.store.script.does("removeAll", () -> {
      inRemoval.countDown();
      await(go);
    });
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<RefitReport>> reports = new ArrayList<>();
      for (int i = 0; i < 4; i++)
        reports.add(threads.submit(() -> replica.coordinator.refit(NEW)));
      assertTrue(inRemoval.await(10, TimeUnit.SECONDS));
      go.countDown();
      for (Future<RefitReport> report : reports) {
        assertEquals(RefitOutcome.VERIFIED, report.get(10, TimeUnit.SECONDS).outcome());
      }
    }
    assertEquals(1, replica.coordinator.resets());
    assertEquals(1, replica.store.script.hits("canary"));
  }

  @Test
  @DisplayName("a lower epoch is refused and nothing is done")
  void lowerRefused() {
    Replica replica = Replica.plain().filled();
    replica.coordinator.refit(NEW);

    IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
        () -> replica.coordinator.begin(OLD));

    assertEquals("epoch must follow run@2: run@1", refusal.getMessage());
    assertEquals(EpochGate.State.OPEN, replica.gate.state());
  }

  @Test
  @DisplayName("an epoch of an earlier run never comes back, not even through another run")
  void earlierRunRefused() {
    Replica replica = Replica.plain();
    replica.coordinator.refit(NEW);
    replica.coordinator.refit(new WeightEpoch("other", 0)).orThrow();

    assertThrows(IllegalArgumentException.class, () -> replica.coordinator.begin(NEW));
    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(NEXT).outcome(), "a higher version may");
  }

  @Test
  @DisplayName("a missing epoch is refused with what is needed")
  @SuppressWarnings("NullAway")
  void missingRefused() {
    Replica replica = Replica.plain();

    assertThrows(IllegalArgumentException.class, () -> replica.coordinator.begin(null));
    assertEquals(EpochGate.State.OPEN, replica.gate.state());
  }

  @Test
  @DisplayName("another epoch is refused while somebody is in a bracket")
  void otherEpochRefused() {
    Replica replica = Replica.plain();

    try (Refit refit = replica.coordinator.begin(NEW)) {
      IllegalStateException refusal = assertThrows(IllegalStateException.class, () -> replica.coordinator.begin(NEXT));
      assertEquals("the refit to run@2 still has a bracket; open and close it first", refusal.getMessage());
      refit.clear();
      refit.open();
    }
    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(NEXT).outcome());
  }

  @Test
  @DisplayName("another epoch is refused even after the verdict, while weights still load")
  void otherEpochRefusedWhileLoading() {
    Replica replica = Replica.plain();
    Refit early = replica.coordinator.begin(NEW);
    early.clear();

    assertThrows(IllegalStateException.class, () -> replica.coordinator.begin(NEXT));

    early.close();
    assertThrows(IllegalStateException.class, early::open, "a closed bracket opens nothing");
    assertEquals(EpochGate.State.CLOSED, replica.gate.state());
    assertTrue(replica.coordinator.refit(NEXT).open());
  }

  @Test
  @DisplayName("a second caller cannot open the gate while the first still loads weights")
  void secondCallerDoesNotOpen() {
    Replica replica = Replica.plain();
    try (Refit loading = replica.coordinator.begin(NEW)) {
      loading.clear();

      RefitReport second = replica.coordinator.refit(NEW);

      assertEquals(RefitOutcome.VERIFIED, second.outcome());
      assertFalse(second.open(), "the first has not loaded its weights");
      assertThrows(GateClosedException.class, () -> replica.store.put("computed with old weights"));
      assertTrue(loading.open().open());
    }
    assertEquals(1, replica.coordinator.resets());
  }

  @Test
  @DisplayName("when the first fails to load weights, the second has opened nothing")
  void secondCallerAfterFailedLoad() {
    Replica replica = Replica.plain();
    try (Refit second = replica.coordinator.begin(NEW)) {
      try (Refit loading = replica.coordinator.begin(NEW)) {
        loading.clear();
        second.open();
      }
      assertFalse(second.open().open(), "half-loaded weights");
    }
    assertEquals(EpochGate.State.CLOSED, replica.gate.state());
    assertTrue(replica.coordinator.refit(NEW).open(), "whoever begins anew vouches for the weights");
  }

  @Test
  @DisplayName("open without clear opens nothing and says so")
  void openWithoutClear() {
    Replica replica = Replica.plain().filled();

    try (Refit refit = replica.coordinator.begin(NEW)) {
      RefitReport report = refit.open();
      assertEquals(RefitOutcome.FAILED, report.outcome());
      assertEquals(List.of("open() was called without clear(): nothing was removed"), report.reasons());
    }
    assertEquals(EpochGate.State.CLOSED, replica.gate.state());
    assertEquals(5, replica.master.count());
    assertTrue(replica.coordinator.refit(NEW).open(), "the same epoch may be tried again");
  }

  @Test
  @DisplayName("open twice changes nothing and answers the same")
  void openTwice() {
    Replica replica = Replica.plain();

    try (Refit refit = replica.coordinator.begin(NEW)) {
      refit.clear();
      RefitReport first = refit.open();
      replica.store.put("fresh");
      assertSame(first, refit.open());
    }
    assertEquals(1, replica.coordinator.resets());
  }

  @Test
  @DisplayName("an exception while weights load leaves the gate closed, and the report says so")
  void exceptionInBracket() {
    Replica replica = Replica.plain().filled();

    assertThrows(ArithmeticException.class, () -> {
      try (Refit refit = replica.coordinator.begin(NEW)) {
        refit.clear();
        throw new ArithmeticException("the weights are broken");
      }
    });

    assertEquals(EpochGate.State.CLOSED, replica.gate.state());
    RefitReport report = replica.coordinator.lastReport().orElseThrow();
    assertFalse(report.open());
    assertEquals(List.of("a bracket was left without open()"), report.notes());

    try (Refit again = replica.coordinator.begin(NEW)) {
      assertSame(RefitOutcome.VERIFIED, again.clear().outcome(), "the removal was done and proved");
      assertTrue(again.open().open());
    }
  }

  @Test
  @DisplayName("an exception before clear fails the refit")
  void exceptionBeforeClear() {
    Replica replica = Replica.plain().filled();

    replica.coordinator.begin(NEW).close();

    RefitReport report = replica.coordinator.lastReport().orElseThrow();
    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertEquals(NEW, replica.gate.epoch(), "the epoch never goes back");
    assertEquals(EpochGate.State.CLOSED, replica.gate.state());
    assertTrue(replica.coordinator.refit(NEXT).open());
  }

  @Test
  @DisplayName("S2.5 on_failure fail: the gate stays closed, and a later refit opens it")
  void failStaysClosed() {
    Replica replica = Replica.plain().filled();
    replica.store.script.answers("removeAll", -900);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertThrows(RefitException.class, report::orThrow);
    assertThrows(GateClosedException.class, () -> replica.store.put("page"));
    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(NEW).outcome(), "the same epoch again tries again");
    assertEquals(0, replica.store.put("page"));
  }

  @Test
  @DisplayName("S2.5 on_failure retry: tries again until it succeeds")
  void retrySucceeds() {
    Replica replica = Replica.plain(RefitPolicy.DEFAULT.withOnFailure(OnFailure.RETRY).withAttempts(3,
        Duration.ofMillis(1))).filled();
    replica.store.script.answers("removeAll", -900).answers("removeAll", -901);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome());
    assertEquals(3, report.attempts());
    assertTrue(report.open());
  }

  @Test
  @DisplayName("S2.5 on_failure retry: is bounded, then stays closed")
  void retryIsBounded() {
    Replica replica = Replica.plain(RefitPolicy.DEFAULT.withOnFailure(OnFailure.RETRY).withAttempts(3,
        Duration.ofMillis(1))).filled();
    replica.master.down(true);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(3, report.attempts());
    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertEquals(EpochGate.State.CLOSED, replica.gate.state());
  }

  @Test
  @DisplayName("S2.5 on_failure disable-store: opens with the store disabled, and a later refit enables it")
  void disableStore() {
    Replica replica = Replica.plain(RefitPolicy.DEFAULT.withOnFailure(OnFailure.DISABLE_STORE)).filled();
    replica.store.script.answers("removeAll", -900);

    replica.coordinator.refit(NEW);

    assertEquals(EpochGate.State.DISABLED, replica.gate.state());
    assertThrows(GateClosedException.class, () -> replica.store.put("page"));
    assertTrue(replica.coordinator.refit(NEW).open());
  }

  @Test
  @DisplayName("S2.5 disable-store holds for a bracket that an exception left, too")
  void disableStoreAfterException() {
    Replica replica = Replica.plain(RefitPolicy.DEFAULT.withOnFailure(OnFailure.DISABLE_STORE)).filled();

    try (Refit refit = replica.coordinator.begin(NEW)) {
      refit.clear();
    }

    assertEquals(EpochGate.State.DISABLED, replica.gate.state());
  }

  @Test
  @DisplayName("K1.06 own calls that do not come back are named and keep it from VERIFIED")
  void ownCallsInside() {
    Replica replica = Replica.plain(QUICK).filled();
    int ticket = replica.gate.enter("get");

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("replica-0 still has calls inside: 1 operations inside the gate"), report.reasons());
    assertEquals(EpochGate.State.CLOSED, replica.gate.state());
    replica.gate.exit(ticket);
    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(NEW).outcome());
  }

  @Test
  @DisplayName("with epochs in the keys, own calls that do not come back leave it ISOLATED")
  void ownCallsInsideKeyed() {
    Replica replica = Replica.keyed(QUICK).filled();
    int ticket = replica.gate.enter("put");

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.ISOLATED, report.outcome());
    assertTrue(report.open());
    replica.gate.exit(ticket);
  }

  @Test
  @DisplayName("K1.07 S1.6 ten resets over a long get: each waits and succeeds, or says it did not")
  void resetsOverRunningTransfers() throws Exception {
    Replica replica = Replica.plain(QUICK).filled();
    CountDownLatch over = new CountDownLatch(1);
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Future<?> traffic = threads.submit(() -> {
        while (over.getCount() > 0) {
          int ticket = replica.gate.awaitEnter("get", Deadline.after(Duration.ofSeconds(30)));
          try {
            Thread.onSpinWait();
          } finally {
            replica.gate.exit(ticket);
          }
        }
      });
      for (int version = 2; version < 12; version++) {
        RefitReport report = replica.coordinator.refit(new WeightEpoch("run", version));
        assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
      }
      over.countDown();
      traffic.get(10, TimeUnit.SECONDS);
    }
    assertEquals(10, replica.coordinator.resets());
  }

  @Test
  @DisplayName("K1.11 local state is cleared before, and whatever becomes of, the removal")
  void localStateClearedFirst() {
    Replica replica = Replica.plain().filled();
    replica.master.down(true);

    replica.coordinator.refit(NEW);

    assertEquals(1, replica.store.timesCleared());
  }

  @Test
  @DisplayName("what is queued is failed, and counted")
  void queuedIsFailed() {
    Replica replica = Replica.plain();
    replica.store.queue(7);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals("7 queued failed, all quiet", report.steps().get(2).detail());
  }

  @Test
  @DisplayName("S1.9 reset count, removed pages and the last epoch are kept")
  void evidenceIsKept() {
    List<String> seen = new ArrayList<>();
    Observer observer = new Observer() {
      @Override
      public void onReset(WeightEpoch epoch, String outcome, long removed, long nanos) {
        seen.add(epoch + " " + outcome + ' ' + removed);
      }
    };
    Replica replica = new Replica("store", new FakeMaster("master"), false, RefitPolicy.DEFAULT, observer).filled();

    replica.coordinator.refit(NEW);
    replica.filled();
    RefitReport report = replica.coordinator.refit(NEXT);

    assertEquals(List.of("run@2 VERIFIED 6", "run@3 VERIFIED 6"), seen);
    assertEquals(2, replica.coordinator.resets());
    assertEquals(12, replica.coordinator.removed());
    assertEquals(NEXT, replica.coordinator.lastReport().orElseThrow().epoch());
    assertEquals(2, report.resets());
    assertEquals(12, report.removedTotal());
  }

  @Test
  @DisplayName("an observer that throws does not keep the gate closed")
  void throwingObserver() {
    Observer observer = new Observer() {
      @Override
      public void onReset(WeightEpoch epoch, String outcome, long removed, long nanos) {
        throw new IllegalStateException("full disk");
      }
    };
    Replica replica = new Replica("store", new FakeMaster("master"), false, RefitPolicy.DEFAULT, observer);

    RefitReport report = replica.coordinator.refit(NEW);

    assertTrue(report.open());
    assertEquals(List.of("an observer threw java.lang.IllegalStateException: full disk"), report.notes());
  }

  @Test
  @DisplayName("a part that throws is named and keeps it from VERIFIED")
  void throwingPart() {
    Replica replica = Replica.plain();
    replica.store.script.does("clearLocal", () -> {
      throw new IllegalStateException("index is broken");
    });

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("store could not clear its local state: index is broken"), report.reasons());
  }

  @Test
  @DisplayName("a part that throws while it drains counts as not quiet")
  void throwingDrain() {
    Replica replica = Replica.plain();
    for (int attempt = 0; attempt < 2; attempt++) {
      replica.store.script.does("drain", () -> {
        throw new IllegalStateException("lost count");
      });
    }

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("replica-0 still has calls inside: store could not drain: lost count"), report.reasons());
  }

  @Test
  @DisplayName("one gate has one coordinator")
  void oneCoordinatorAGate() {
    Replica replica = Replica.plain();

    assertThrows(IllegalStateException.class,
        () -> new RefitCoordinator(replica.gate, List.of(), RefitPolicy.DEFAULT, Observer.NONE));
  }

  @Test
  @DisplayName("the gate of a coordinator is closed, raised and opened by nobody else")
  void onlyTheCoordinatorDrivesTheGate() {
    Replica replica = Replica.plain();

    for (Executable out : List.<Executable>of(replica.gate::close, () -> replica.gate.raise(NEW),
        () -> replica.gate.open(EpochGate.State.OPEN), () -> replica.gate.open(EpochGate.State.DISABLED))) {
      String refusal = Thrown.message(IllegalStateException.class, out);
      assertTrue(refusal.contains("the gate has a refit coordinator"), refusal);
      assertEquals(EpochGate.State.OPEN, replica.gate.state());
      assertEquals(OLD, replica.gate.epoch());
    }
    try (Refit refit = replica.coordinator.begin(NEW)) {
      assertThrows(IllegalStateException.class, () -> replica.gate.open(EpochGate.State.OPEN));
      assertThrows(GateClosedException.class, () -> replica.store.put("old"));
      refit.clear();
    }
  }

  @Test
  @DisplayName("a store that another gate holds is refused: closing this one would not stop it")
  void storeOfAnotherGate() {
    Replica replica = Replica.plain();
    EpochGate other = new EpochGate(OLD);

    assertThrows(IllegalArgumentException.class,
        () -> new RefitCoordinator(other, List.of(replica.store), RefitPolicy.DEFAULT, Observer.NONE));
  }

  @Test
  @DisplayName("a store that opened later at the same gate is cleared too")
  void laterStore() {
    Replica replica = Replica.plain().filled();
    FakeMaster second = new FakeMaster("second");
    FakeStore later = new FakeStore("later", second, replica.gate, false);
    later.put("page");

    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(NEW).outcome());
    assertEquals(0, second.count());
  }

  @Test
  @DisplayName("an interrupted caller gets a report, and the gate stays closed")
  void interrupted() throws Exception {
    Replica replica = Replica.plain().filled();
    CountDownLatch never = new CountDownLatch(1);
    replica.store.script.hangs("removeAll", never, -901);
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Thread[] refitting = new Thread[1];
      CountDownLatch started = new CountDownLatch(1);
      Future<RefitReport> report = threads.submit(() -> {
        refitting[0] = Thread.currentThread();
        started.countDown();
        return replica.coordinator.refit(NEW);
      });
      assertTrue(started.await(10, TimeUnit.SECONDS));
      Await.until("the removal hangs", () -> replica.store.script.hits("removeAll") > 0);
      refitting[0].interrupt();
      assertEquals(RefitOutcome.FAILED, report.get(10, TimeUnit.SECONDS).outcome());
    } finally {
      never.countDown();
    }
    assertEquals(EpochGate.State.CLOSED, replica.gate.state());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

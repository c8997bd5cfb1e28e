package dev.gatun.refit;

import static dev.gatun.refit.Replica.NEW;
import static dev.gatun.refit.Replica.NEXT;
import static dev.gatun.refit.Replica.OLD;
import static dev.gatun.refit.Replica.QUICK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.EpochGate.State;
import dev.gatun.backend.Observer;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.refit.RefitPolicy.OtherClients;
import dev.gatun.testing.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each condition under which a refit does one thing and not another, where no other test tells the two apart. */
@Timeout(60)
class RefitConditionsTest {
  private static final RefitPolicy RETRY = RefitPolicy.DEFAULT.withOnFailure(OnFailure.RETRY).withAttempts(2,
      Duration.ofMillis(1));

  private static String detail(RefitReport report, String step) {
    return report.steps().stream().filter(each -> each.name().equals(step)).map(RefitReport.Step::detail).toList()
        .getLast();
  }

  private static RefitGroup group(RefitPolicy policy, Replica... replicas) {
    return new RefitGroup(policy, List.of(replicas).stream().map(replica -> replica.coordinator).toList());
  }

  private static Replica[] replicas(FakeMaster master, int count) {
    Replica[] replicas = new Replica[count];
    for (int i = 0; i < count; i++) {
      replicas[i] = new Replica("store" + i, master, false, RefitPolicy.DEFAULT);
      replicas[i].store.put("page" + i);
    }
    return replicas;
  }

  @Test
  @DisplayName("the later of two deadlines")
  void laterDeadline() {
    Deadline early = new Deadline(Long.MAX_VALUE);
    Deadline late = new Deadline(Long.MAX_VALUE + 10); // past the end of the count, which wraps
    assertSame(late, early.later(late));
    assertSame(late, late.later(early));
  }

  @Test
  @DisplayName("whoever takes longer than the deadline to call clear gets half of it still")
  void clearedLate() {
    Replica replica = Replica.plain(QUICK).filled();
    try (Refit refit = replica.coordinator.begin(NEW)) {
      Deadline over = Deadline.after(QUICK.deadline());
      Await.until("the refit's first deadline is over", over::reached);
      assertEquals(RefitOutcome.VERIFIED, refit.clear().outcome());
    }
  }

  @Test
  @DisplayName("a canary that was refused is not asked for")
  void refusedCanaryNotAskedFor() {
    Replica replica = Replica.plain();
    replica.store.script.answers("canary", -600);
    replica.coordinator.refit(NEW);
    assertEquals(0, replica.store.script.hits("size"));
  }

  @Test
  @DisplayName("the step of draining says how many are not quiet")
  void notQuietIsCounted() {
    Replica replica = Replica.plain(QUICK);
    int ticket = replica.gate.enter("get");
    assertEquals("0 queued failed, 1 not quiet", detail(replica.coordinator.refit(NEW), "drain"));
    replica.gate.exit(ticket);
  }

  @Test
  @DisplayName("draining and clearing that do not come back are named and keep it from VERIFIED")
  void hangingParts() {
    for (String point : List.of("drain", "clearLocal")) {
      Replica replica = Replica.plain(QUICK);
      CountDownLatch thaw = new CountDownLatch(1);
      replica.store.script.hangs(point, thaw, 0);
      RefitReport report = replica.coordinator.refit(NEW);
      thaw.countDown();
      assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
      assertTrue(report.reasons().toString().contains(point + " did not return by the deadline"), report::text);
    }
  }

  @Test
  @DisplayName("what could not be forgotten is said in its step, and held against its own attempt only")
  void forgottenAtSecondAttempt() {
    Replica replica = Replica.plain(RETRY);
    replica.store.script.does("clearLocal", () -> {
      throw new IllegalStateException("index is broken");
    });
    RefitReport report = replica.coordinator.refit(NEW);
    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(List.of("store could not clear its local state: index is broken", "done"), report.steps().stream()
        .filter(step -> step.name().equals("clear local")).map(RefitReport.Step::detail).toList());
  }

  @Test
  @DisplayName("an attempt that is good enough is the last; waits between attempts double")
  void attempts() {
    assertEquals(1, Replica.plain(RETRY).coordinator.refit(NEW).attempts());
    Replica failing = Replica.plain(RETRY.withAttempts(3, Duration.ofMillis(2)));
    failing.master.down(true);
    List<RefitReport.Step> waits = failing.coordinator.refit(NEW).steps().stream()
        .filter(step -> step.name().equals("back off")).toList();
    assertEquals(List.of("2 ms", "4 ms"), waits.stream().map(RefitReport.Step::detail).toList());
    assertTrue(waits.stream().allMatch(step -> step.nanos() > 500_000), "it waited: " + waits);
  }

  @Test
  @DisplayName("an interrupt ends the attempts")
  void interruptEndsAttempts() {
    Replica replica = Replica.plain(RETRY);
    Refit refit = replica.coordinator.begin(NEW);
    Thread.currentThread().interrupt();
    RefitReport report = refit.clear();
    assertTrue(Thread.interrupted());
    assertEquals(1, report.attempts());
    refit.close();
  }

  @Test
  @DisplayName("calls that came back between two attempts are not held against the second")
  void drainedAtSecondAttempt() {
    Replica replica = Replica.plain(QUICK.withOnFailure(OnFailure.RETRY).withAttempts(2, Duration.ofMillis(1)));
    int ticket = replica.gate.enter("get");
    replica.store.script.does("removeAll", () -> replica.gate.exit(ticket));
    RefitReport report = replica.coordinator.refit(NEW);
    assertEquals(2, report.attempts());
    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
  }

  @Test
  @DisplayName("a foreign put before opening spends the attempts that are left, and is not forgotten by them")
  void retriedBeforeOpening() {
    Replica replica = Replica.plain(RETRY.withAttempts(3, Duration.ofMillis(1))).filled();
    try (Refit refit = replica.coordinator.begin(NEW)) {
      refit.clear();
      replica.master.put("foreign", OLD);
      RefitReport report = refit.open();
      assertEquals(3, report.attempts());
      assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
      assertTrue(report.reasons().contains("before opening: 1 puts by other clients"), report::text);
      assertEquals(1, report.resets(), "it is one refit");
      assertEquals(report.removed(), report.removedTotal());
    }
  }

  @Test
  @DisplayName("a foreign put before opening, with no attempt left, is no reason for one more")
  void notRetriedBeforeOpening() {
    Replica replica = Replica.plain(RETRY.withAttempts(1, Duration.ofMillis(1)));
    try (Refit refit = replica.coordinator.begin(NEW)) {
      refit.clear();
      replica.master.put("foreign", OLD);
      RefitReport report = refit.open();
      assertEquals(1, report.attempts());
      assertEquals(RefitOutcome.FAILED, report.outcome());
    }
  }

  @Test
  @DisplayName("once a replica has opened nothing is cleared again, whatever the policy: its new pages are in the store")
  void notRetriedOnceOpened() {
    Replica[] replicas = replicas(new FakeMaster("master"), 2);
    group(RETRY, replicas);
    replicas[0].coordinator.refit(NEW).orThrow();
    replicas[0].store.put("fresh");
    replicas[0].master.put("foreign", OLD);
    assertEquals(RefitOutcome.UNVERIFIED, replicas[1].coordinator.refit(NEW).outcome());
    assertTrue(replicas[0].store.hit("fresh"));
  }

  @Test
  @DisplayName("a store that hung and came back, excused meanwhile, is not looked at before opening")
  void excusedStoreComesBack() {
    Replica[] replicas = replicas(new FakeMaster("master"), 2);
    group(QUICK, replicas);
    CountDownLatch thaw = new CountDownLatch(1);
    replicas[1].store.script.hangs("removeAll", thaw, -901);
    // the first time it is asked for its canary it has just been put; the second is the verification
    replicas[0].store.script.passes("size").does("size", thaw::countDown);
    RefitReport report = replicas[0].coordinator.refit(NEW);
    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(State.OPEN, replicas[0].gate.state());
    assertTrue(report.notes().contains("store1 did not answer; its master was seen empty through another store"),
        report::text);
  }

  @Test
  @DisplayName("a call that hangs stays known while its store is excused")
  void hangingCallStaysKnown() {
    Replica[] replicas = replicas(new FakeMaster("master"), 2);
    group(QUICK, replicas);
    CountDownLatch thaw = new CountDownLatch(1);
    replicas[1].store.script.hangs("removeAll", thaw, -901);
    replicas[0].coordinator.refit(NEW);
    assertEquals(List.of("store1: removeAll"), replicas[1].coordinator.unfinished());
    thaw.countDown();
  }

  @Test
  @DisplayName("no store: nothing is looked at again before opening")
  void nothingToLookAt() {
    RefitReport report = new RefitCoordinator(new EpochGate(OLD), List.of(), RefitPolicy.DEFAULT, Observer.NONE)
        .refit(NEW);
    assertEquals("open", report.steps().getLast().name());
    assertTrue(report.steps().stream().noneMatch(step -> step.name().equals("look again")), report::text);
  }

  @Test
  @DisplayName("one of two masters that is not empty any more before opening is enough")
  void oneOfTwoChanged() {
    Replica replica = Replica.plain().filled();
    FakeMaster second = new FakeMaster("second");
    new FakeStore("other", second, replica.gate, false);
    try (Refit refit = replica.coordinator.begin(NEW)) {
      refit.clear();
      second.put("foreign", OLD);
      assertEquals(RefitOutcome.FAILED, refit.open().outcome());
    }
  }

  @Test
  @DisplayName("an epoch that was in force before does not isolate what came before opening")
  void notIsolatedBeforeOpening() {
    Replica replica = Replica.keyed(RefitPolicy.DEFAULT);
    try (Refit refit = replica.coordinator.begin(OLD)) {
      refit.clear();
      replica.master.put("foreign", OLD);
      assertEquals(RefitOutcome.FAILED, refit.open().outcome());
    }
  }

  @Test
  @DisplayName("a master that changed, or counts less than nothing, before opening proves nothing any more")
  void masterChangesBeforeOpening() {
    Replica restarted = Replica.plain();
    try (Refit refit = restarted.coordinator.begin(NEW)) {
      refit.clear();
      restarted.master.restart("start-2");
      assertEquals(List.of("store: the master changed between verdict and opening"), refit.open().reasons());
    }
    Replica negative = Replica.plain();
    try (Refit refit = negative.coordinator.begin(NEW)) {
      refit.clear();
      negative.master.keyCountError(-1);
      assertEquals(RefitOutcome.FAILED, refit.open().outcome());
    }
  }

  @Test
  @DisplayName("a replica alone has nobody to vouch for a store of its own that hangs")
  void aloneNobodyVouches() {
    Replica replica = Replica.plain(QUICK);
    FakeStore other = new FakeStore("other", replica.master, replica.gate, false);
    CountDownLatch thaw = new CountDownLatch(1);
    other.script.hangs("removeAll", thaw, -901);
    RefitReport report = replica.coordinator.refit(NEW);
    thaw.countDown();
    assertEquals(RefitOutcome.FAILED, report.outcome(), report::text);
  }

  @Test
  @DisplayName("a store that was closed, and vouched for, is forgotten; its replica stays")
  void closedStoreIsForgotten() {
    Replica replica = Replica.plain().filled();
    replica.store.close();
    new FakeStore("again", replica.master, replica.gate, false);
    assertTrue(replica.coordinator.refit(NEW).open());
    RefitReport second = replica.coordinator.refit(NEXT);
    assertEquals(List.of(), second.notes());
    assertEquals(1, second.stores().size());
  }

  @Test
  @DisplayName("a put of ours that was under way during a refit is not taken for a foreign one later")
  void ownPutUnderWay() throws Exception {
    Replica replica = Replica.plain(QUICK);
    CountDownLatch sent = new CountDownLatch(1);
    CountDownLatch arrive = new CountDownLatch(1);
    Thread late = putLate(replica, sent, arrive);
    assertTrue(sent.await(10, TimeUnit.SECONDS));
    assertEquals(RefitOutcome.UNVERIFIED, replica.coordinator.refit(NEW).outcome());
    arrive.countDown();
    late.join();
    RefitReport second = replica.coordinator.refit(NEW);
    assertEquals(RefitOutcome.VERIFIED, second.outcome(), second::text);
  }

  @Test
  @DisplayName("nor is one of another replica of the group")
  void othersPutUnderWay() throws Exception {
    Replica[] replicas = replicas(new FakeMaster("master"), 2);
    RefitGroup group = group(QUICK, replicas);
    CountDownLatch sent = new CountDownLatch(1);
    CountDownLatch arrive = new CountDownLatch(1);
    Thread late = putLate(replicas[1], sent, arrive);
    assertTrue(sent.await(10, TimeUnit.SECONDS));
    replicas[0].store.script.answers("size", -703); // nobody is fine, so nobody leaves
    assertEquals(RefitOutcome.UNVERIFIED, group.refit(NEW).outcome());
    assertEquals(2, group.members().size());
    arrive.countDown();
    late.join();
    RefitReport second = group.refit(NEW);
    assertEquals(RefitOutcome.VERIFIED, second.outcome(), second::text);
  }

  private static Thread putLate(Replica replica, CountDownLatch sent, CountDownLatch arrive) {
    replica.store.script.does("put", () -> {
      sent.countDown();
      try {
        arrive.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    return Thread.ofPlatform().start(() -> replica.store.put("late"));
  }

  @Test
  @DisplayName("a put of somebody else after a refit that failed is noticed by the next")
  void restingClientAfterFailure() {
    Replica replica = Replica.plain().filled();
    replica.store.script.answers("removeAll", -900);
    assertEquals(RefitOutcome.FAILED, replica.coordinator.refit(NEW).outcome());
    replica.master.put("foreign", OLD);
    RefitReport report = replica.coordinator.refit(NEW);
    assertEquals(List.of("store: 1 puts by other clients since the last refit, whom no barrier holds"),
        report.reasons());
  }

  @Test
  @DisplayName("a census that fails does not keep the others from being held against what we sent")
  void othersAreWatchedBesideAFailure() {
    Replica replica = Replica.plain();
    FakeMaster second = new FakeMaster("second");
    new FakeStore("other", second, replica.gate, false);
    replica.coordinator.refit(NEW).orThrow();
    second.put("foreign", NEW);
    replica.master.script.answers("keys", -1);
    RefitReport report = replica.coordinator.refit(NEXT);
    assertTrue(report.reasons().contains(
        "other: 1 puts by other clients since the last refit, whom no barrier holds"), report::text);
  }

  @Test
  @DisplayName("a resting client that two stores gave away is named once, and by the next attempt too")
  void restingClientRemembered() {
    Replica replica = Replica.plain(RETRY);
    new FakeStore("other", replica.master, replica.gate, false);
    replica.coordinator.refit(NEW).orThrow();
    replica.master.put("foreign", NEW);
    RefitReport report = replica.coordinator.refit(NEXT);
    assertEquals(2, report.attempts());
    assertEquals(List.of("attempt 1 saw 1 puts by other clients since the last refit, whom no barrier holds"),
        report.reasons());
  }

  @Test
  @DisplayName("what we sent to another master does not hide a foreign put at this one")
  void othersMastersCountApart() {
    Replica replica = Replica.plain();
    FakeStore other = new FakeStore("other", new FakeMaster("second"), replica.gate, false);
    replica.coordinator.refit(NEW).orThrow();
    other.put("mine");
    replica.master.put("foreign", NEW);
    assertEquals(RefitOutcome.UNVERIFIED, replica.coordinator.refit(NEXT).outcome());
  }

  @Test
  @DisplayName("a replica at its first epoch is not isolated by it, though others of the group raised theirs")
  void oneNotRaised() {
    FakeMaster master = new FakeMaster("master");
    Replica raised = new Replica("raised", master, true, RefitPolicy.DEFAULT);
    raised.coordinator.refit(NEW).orThrow();
    EpochGate gate = new EpochGate(NEW);
    FakeStore fresh = new FakeStore("fresh", master, gate, true);
    RefitCoordinator coordinator = new RefitCoordinator(gate, List.of(fresh), RefitPolicy.DEFAULT, Observer.NONE);
    fresh.script.answers("removeAll", -900);
    raised.store.script.answers("removeAll", -900);
    master.put(fresh.key("page", NEW), OLD);
    master.script.answers("keys", -1).answers("keys", -1); // nobody can list what carries the epoch already
    RefitPolicy fenced = RefitPolicy.DEFAULT.withOtherClients(OtherClients.FENCED);
    assertEquals(RefitOutcome.FAILED, new RefitGroup(fenced, List.of(raised.coordinator, coordinator)).refit(NEW)
        .outcome());
  }

  @Test
  @DisplayName("nobody leaves a group in which nobody is fine: pending calls of all, no store, or doubts about the store")
  void nobodyFine() {
    Replica[] stuck = replicas(new FakeMaster("stuck"), 2);
    RefitGroup all = group(QUICK, stuck);
    stuck[0].gate.enter("get");
    stuck[1].gate.enter("get");
    all.refit(NEW);
    assertEquals(2, all.members().size());

    Replica one = Replica.plain();
    one.gate.enter("get");
    RefitCoordinator storeless = new RefitCoordinator(new EpochGate(OLD), List.of(), RefitPolicy.DEFAULT,
        Observer.NONE);
    RefitGroup without = new RefitGroup(QUICK, List.of(one.coordinator, storeless));
    without.refit(NEW);
    assertEquals(2, without.members().size());

    Replica[] doubtful = replicas(new FakeMaster("doubtful"), 2);
    RefitGroup doubted = group(QUICK, doubtful);
    doubtful[0].gate.enter("get");
    new FakeStore("sound", doubtful[1].master, doubtful[1].gate, false);
    doubtful[1].store.script.answers("size", -703);
    doubted.refit(NEW);
    assertEquals(2, doubted.members().size());
  }

  @Test
  @DisplayName("a bracket of the whole group opens those who have not opened yet")
  void groupOpensTheRest() {
    Replica[] replicas = replicas(new FakeMaster("master"), 2);
    RefitGroup group = group(RefitPolicy.DEFAULT, replicas);
    replicas[0].coordinator.refit(NEW).orThrow();
    group.refit(NEW);
    assertEquals(State.OPEN, replicas[1].gate.state());
  }

  @Test
  @DisplayName("a bracket that is left, even twice, judges nothing while another one is there")
  void leftWhileAnotherIsThere() {
    Replica replica = Replica.plain();
    Refit left = replica.coordinator.begin(NEW);
    try (Refit stays = replica.coordinator.begin(NEW)) {
      left.close();
      left.close();
      assertEquals(RefitOutcome.VERIFIED, stays.clear().outcome());
    }
    Replica[] replicas = replicas(new FakeMaster("master"), 2);
    group(RefitPolicy.DEFAULT, replicas);
    Refit first = replicas[0].coordinator.begin(NEW);
    try (Refit second = replicas[1].coordinator.begin(NEW)) {
      first.close(); // of a replica that nobody else is in a bracket for
      second.clear();
      assertEquals(RefitOutcome.VERIFIED, second.open().outcome());
    }
    assertEquals(State.CLOSED, replicas[0].gate.state());
  }

  @Test
  @DisplayName("open twice after a failure changes nothing and answers the same; the refit has ended all the same")
  void openTwiceAfterFailure() {
    Replica replica = Replica.plain();
    replica.store.script.answers("removeAll", -900);
    try (Refit refit = replica.coordinator.begin(NEW)) {
      refit.clear();
      RefitReport first = refit.open();
      assertSame(first, refit.open());
      assertEquals(1, replica.coordinator.resets());
      assertEquals(first, replica.coordinator.lastReport().orElseThrow());
    }
  }

  @Test
  @DisplayName("a replica whose gate waits for another bracket has not ended its refit, and says what it waits for")
  void waitingReplicaHasNotEnded() {
    Replica replica = Replica.plain();
    try (Refit loading = replica.coordinator.begin(NEW)) {
      loading.clear();
      RefitReport second = replica.coordinator.refit(NEW);
      assertEquals("0 opened, 1 stay closed: another bracket is, or was left, without open()", detail(second, "open"));
      assertEquals(0, replica.coordinator.resets());
      replica.master.put("foreign", OLD);
      assertEquals(RefitOutcome.FAILED, loading.open().outcome(),
          "nobody has opened, so the store must be empty still");
    }
  }

  @Test
  @DisplayName("once one replica has opened, its new pages are not held against another, however often that one tries")
  void openedStaysOpened() {
    Replica[] replicas = replicas(new FakeMaster("master"), 2);
    group(RefitPolicy.DEFAULT, replicas);
    try (Refit loading = replicas[1].coordinator.begin(NEW)) {
      replicas[0].coordinator.refit(NEW).orThrow();
      replicas[0].store.put("fresh");
      replicas[1].coordinator.refit(NEW); // opens nothing: the other bracket has not asked
      RefitReport report = loading.open();
      assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
      assertEquals(State.OPEN, replicas[1].gate.state());
    }
  }

  @Test
  @DisplayName("a replica that waits does not keep the next one of the group from ending its refit")
  void nextOneEnds() {
    Replica[] replicas = replicas(new FakeMaster("master"), 2);
    RefitGroup group = group(RefitPolicy.DEFAULT, replicas);
    try (Refit waits = replicas[0].coordinator.begin(NEW)) {
      waits.clear();
      group.refit(NEW);
      assertEquals(List.of(0L, 1L), List.of(replicas[0].coordinator.resets(), replicas[1].coordinator.resets()));
    }
  }

  @Test
  @DisplayName("a bracket that cleared nothing is no reset")
  void nothingClearedIsNoReset() {
    try (Refit refit = Replica.plain().coordinator.begin(NEW)) {
      assertEquals(0, refit.open().resets());
    }
  }

  @Test
  @DisplayName("a late canary is planted where there was no space, not where one was seen, and a foreign put there shows")
  void lateCanaryWhereItIsMissing() {
    Replica replica = Replica.plain();
    FakeMaster second = new FakeMaster("second");
    FakeStore full = new FakeStore("full", second, replica.gate, false);
    second.space(false);
    full.script.does("removeAll", () -> second.space(true));
    replica.store.script.does("removeAll", () -> replica.master.put("foreign", OLD));
    RefitReport report = replica.coordinator.refit(NEW);
    assertEquals(List.of("store: 1 puts by other clients since the gate closed"), report.reasons());
    assertEquals(List.of("seen, then gone", "seen, then gone"), report.stores().stream().map(RefitReport.Store::canary)
        .toList());
    assertEquals(1, replica.store.script.hits("canary"));
    assertEquals(2, full.script.hits("canary"));
  }

  @Test
  @DisplayName("passes and objects of both removals are added up")
  void bothRemovalsCount() {
    Replica replica = Replica.plain().filled();
    replica.master.space(false);
    replica.store.script.does("removeAll", () -> replica.master.space(true));
    RefitReport.Store store = replica.coordinator.refit(NEW).stores().getFirst();
    assertEquals(6, store.removed(), "five pages and the late canary");
    assertEquals(4, store.passes());
  }

  @Test
  @DisplayName("a first removal that was answered still counts when the second fails: what is of the new epoch came since")
  void firstRemovalCounts() {
    Replica replica = Replica.keyed(RefitPolicy.DEFAULT.withOtherClients(OtherClients.UNFENCED));
    replica.master.space(false);
    replica.store.script.does("removeAll", () -> replica.master.space(true)).answers("removeAll", -900);
    replica.master.script.does("keys", () -> replica.master.put(replica.store.key("fresh", NEW), NEW));
    RefitReport report = replica.coordinator.refit(NEW);
    assertEquals(RefitOutcome.ISOLATED, report.outcome(), report::text);
  }

  @Test
  @DisplayName("a removal that hangs counts as a pass; a verification that hangs, or doubts that throw, are reasons")
  void hangingPhases() {
    Replica removing = Replica.plain(QUICK);
    CountDownLatch thaw = new CountDownLatch(1);
    removing.store.script.hangs("removeAll", thaw, -901);
    assertEquals(1, removing.coordinator.refit(NEW).stores().getFirst().passes());

    Replica verifying = Replica.plain(QUICK);
    verifying.master.script.hangs("keys", thaw, -1);
    assertEquals(List.of("store: verification: verification did not return by the deadline"),
        verifying.coordinator.refit(NEW).reasons());
    thaw.countDown();

    Replica doubting = Replica.plain();
    doubting.store.script.does("doubts", () -> {
      throw new IllegalStateException("cannot tell");
    });
    assertEquals(List.of("store: cannot tell"), doubting.coordinator.refit(NEW).reasons());
  }
}

package dev.gatun.refit;

import static dev.gatun.refit.Replica.NEW;
import static dev.gatun.refit.Replica.NEXT;
import static dev.gatun.refit.Replica.OLD;
import static dev.gatun.refit.Replica.QUICK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.refit.RefitPolicy.OtherClients;
import dev.gatun.testing.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Orders of events in which old pages could survive, or nobody could know that they did not. */
class RefitProofTest {

  @Test
  @DisplayName("a foreign put in flight throughout is caught by the gauge, though the list is empty and removal finds 0")
  void putInFlightThroughout() {
    Replica replica = Replica.plain(QUICK);
    replica.master.putStart("foreign", OLD);

    RefitReport report = replica.coordinator.refit(NEW);

    replica.master.putEnd("foreign");
    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertTrue(report.reasons().contains("store: 1 objects left, of which 0 complete and listed"), report::text);
    assertFalse(report.open());
  }

  @Test
  @DisplayName("a foreign put in flight that lands while the refit waits is removed by the next pass")
  void putLandsDuringWait() {
    Replica replica = Replica.plain(RefitPolicy.DEFAULT.withOtherClients(OtherClients.FENCED));
    replica.master.putStart("foreign", OLD);
    replica.store.script.passes("removeAll").passes("removeAll").does("removeAll",
        () -> replica.master.putEnd("foreign"));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertFalse(replica.master.holdsOther(NEW));
  }

  @Test
  @DisplayName("a foreign put that comes after the last pass is caught by the last look")
  void putAfterLastPass() {
    Replica replica = Replica.plain();
    replica.master.script.does("keys", () -> replica.master.put("foreign", OLD));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertFalse(report.open());
  }

  @Test
  @DisplayName("a foreign put that starts after the last pass, unfinished, is caught by the last look")
  void startAfterLastPass() {
    Replica replica = Replica.plain();
    replica.master.script.does("keys", () -> replica.master.putStart("foreign", OLD));

    assertEquals(RefitOutcome.FAILED, replica.coordinator.refit(NEW).outcome());
  }

  @Test
  @DisplayName("a foreign put between verdict and opening is caught by one more look")
  void putWhileWeightsLoad() {
    Replica replica = Replica.plain();

    try (Refit refit = replica.coordinator.begin(NEW)) {
      assertEquals(RefitOutcome.VERIFIED, refit.clear().outcome());
      replica.master.put("foreign", OLD);
      RefitReport report = refit.open();
      assertEquals(RefitOutcome.FAILED, report.outcome());
      assertEquals(List.of("store: 1 objects came between verdict and opening",
          "store: 1 puts by other clients between verdict and opening"), report.reasons());
    }
    assertEquals(EpochGate.State.CLOSED, replica.gate.state());
    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(NEW).outcome(), "the next one starts afresh");
  }

  @Test
  @DisplayName("a foreign put that a pass took away again still shows that somebody writes")
  void putTakenByPass() {
    Replica replica = Replica.plain();
    replica.store.script.does("removeAll", () -> replica.master.put("foreign", OLD));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("store: 1 puts by other clients since the gate closed"), report.reasons());
    assertEquals(1, report.stores().getFirst().foreignPuts());
  }

  @Test
  @DisplayName("what one attempt saw of other clients, the next attempt of the same refit does not forget")
  void othersAreRememberedAcrossAttempts() {
    Replica replica = Replica.plain(RefitPolicy.DEFAULT.withOnFailure(OnFailure.RETRY).withAttempts(2,
        Duration.ofMillis(1)));
    replica.store.script.does("removeAll", () -> replica.master.put("foreign", OLD));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(2, report.attempts());
    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("attempt 1 saw 1 puts by other clients"), report.reasons());
  }

  @Test
  @DisplayName("a client that rests during the refit is given away by what it put before")
  void restingClient() {
    Replica replica = Replica.plain().filled();
    replica.coordinator.refit(NEW).orThrow();
    replica.store.put("mine");
    replica.master.put("foreign", NEW);

    RefitReport report = replica.coordinator.refit(NEXT);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("store: 1 puts by other clients since the last refit, whom no barrier holds"),
        report.reasons());
  }

  @Test
  @DisplayName("the first refit notices a resting client as well, from when the coordinator was made")
  void restingClientFirstRefit() {
    Replica replica = Replica.plain().filled();
    Await.until("the first look", () -> replica.master.script.hits("read") > 0);
    for (int i = 0; i < 6; i++)
      replica.master.put("foreign" + i, OLD);

    assertEquals(RefitOutcome.UNVERIFIED, replica.coordinator.refit(NEW).outcome());
  }

  @Test
  @DisplayName("clients whom somebody else has fenced may have put before the refit, not during it")
  void fencedClients() {
    Replica replica = Replica.plain(RefitPolicy.DEFAULT.withOtherClients(OtherClients.FENCED));
    replica.coordinator.refit(NEW).orThrow();
    replica.master.put("foreign", NEW);

    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(NEXT).outcome());
  }

  @Test
  @DisplayName("clients whom nobody stops leave no proof, but epochs in the keys isolate")
  void unfencedClients() {
    RefitPolicy policy = RefitPolicy.DEFAULT.withOtherClients(OtherClients.UNFENCED);

    assertEquals(RefitOutcome.UNVERIFIED, Replica.plain(policy).coordinator.refit(NEW).outcome());
    assertEquals(RefitOutcome.ISOLATED, Replica.keyed(policy).coordinator.refit(NEW).outcome());
  }

  @Test
  @DisplayName("the master dies between the first and the second pass")
  void masterDiesBetweenPasses() {
    Replica replica = Replica.plain().filled();
    replica.store.script.passes("removeAll").does("removeAll", () -> replica.master.down(true));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertTrue(report.reasons().contains("store: removeAll failed: RPC_FAIL (-900)"), report::text);
    assertEquals(2, report.stores().getFirst().passes());
  }

  @Test
  @DisplayName("K8.01 the master starts anew during the refit: no proof, the next attempt has one")
  void masterRestarts() {
    Replica replica = Replica.plain(RefitPolicy.DEFAULT.withOnFailure(OnFailure.RETRY).withAttempts(2,
        Duration.ofMillis(1))).filled();
    replica.store.script.does("removeAll", () -> replica.master.restart("start-2"));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(2, report.attempts());
  }

  @Test
  @DisplayName("another master takes over during the refit: no proof")
  void roleChanges() {
    Replica replica = Replica.plain().filled();
    replica.master.script.does("keys", () -> replica.master.role("standby"));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("store: the master changed during the refit: leader/start-1 became standby/start-1"),
        report.reasons());
  }

  @Test
  @DisplayName("a canary that vanished without a removal of ours proves nothing")
  void canaryVanishes() {
    Replica replica = Replica.plain();
    replica.store.script.does("removeAll", () -> replica.master.lose("gatun-canary"));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("store: the canary vanished and no removal of ours took it: lost with its memory, or removed "
        + "by another client"), report.reasons());
  }

  @Test
  @DisplayName("K1.18 a removal that answers 0 and removes nothing is caught by the canary")
  void removalDoesNothing() {
    Replica replica = Replica.with(false, RefitPolicy.DEFAULT, FakeStore::withoutCensus).filled();
    replica.store.script.answers("removeAll", 0);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertTrue(report.reasons().contains("store: the canary survived the removal"), report::text);
  }

  @Test
  @DisplayName("a canary that was put but cannot be seen proves nothing")
  void canaryNeverSeen() {
    Replica replica = Replica.plain();
    replica.store.script.answers("size", -703);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("store: the canary was put but not seen: REPLICA_IS_NOT_READY (-703)"), report.reasons());
  }

  @Test
  @DisplayName("a full store has no space for a canary until the first removal, and then it has")
  void lateCanary() {
    Replica replica = Replica.plain().filled();
    replica.master.space(false);
    replica.store.script.does("removeAll", () -> replica.master.space(true));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals("seen, then gone", report.stores().getFirst().canary());
    assertEquals(2, replica.store.script.hits("canary"));
  }

  @Test
  @DisplayName("a late canary that is put but not seen is doubted like an early one")
  void lateCanaryNeverSeen() {
    Replica replica = Replica.plain();
    replica.master.space(false);
    replica.store.script.does("removeAll", () -> replica.master.space(true)).answers("size", -703);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome(), "nobody removed it, either");
    assertTrue(report.reasons().contains("store: the canary was put but not seen: REPLICA_IS_NOT_READY (-703)"),
        report::text);
  }

  @Test
  @DisplayName("no memory at all: no canary, yet a census that counted our attempts proves the store empty")
  void noSpaceAtAll() {
    Replica replica = Replica.plain();
    replica.master.space(false);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals("none: no space", report.stores().getFirst().canary());
  }

  @Test
  @DisplayName("no canary and no census: no proof")
  void noSpaceNoCensus() {
    Replica replica = Replica.with(false, RefitPolicy.DEFAULT, FakeStore::withoutCensus);
    replica.master.space(false);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertTrue(report.reasons().contains("store: no space for a canary"), report::text);
  }

  @Test
  @DisplayName("a canary that is refused for another reason is no proof")
  void canaryRefused() {
    Replica replica = Replica.plain();
    replica.store.script.answers("canary", -600);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertTrue(report.reasons().contains("store: the canary could not be put: INVALID_PARAMS (-600)"), report::text);
  }

  @Test
  @DisplayName("a gauge that says 0 while objects are listed is not believed")
  void gaugeTooLow() {
    Replica replica = Replica.plain().filled();
    replica.master.keyCountError(-6);
    replica.store.script.answers("removeAll", 6).answers("removeAll", 0);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertTrue(report.reasons().contains("store: 6 objects are listed, though the master counts 0"), report::text);
  }

  @Test
  @DisplayName("a negative gauge is not believed")
  void gaugeNegative() {
    Replica replica = Replica.plain();
    replica.store.script.passes("removeAll").does("removeAll", () -> replica.master.keyCountError(-1));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("store: the master counts -1 objects"), report.reasons());
  }

  @Test
  @DisplayName("a gauge that never comes down is not believed either, and the leftovers are named")
  void gaugeTooHigh() {
    Replica replica = Replica.plain(QUICK.withLeftoversMax(2)).filled();
    replica.store.script.answers("removeAll", 0);
    for (int i = 0; i < 40; i++)
      replica.store.script.answers("removeAll", 0);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertEquals(List.of("ns//page0", "ns//page1"), report.stores().getFirst().leftovers());
    assertEquals(6, report.stores().getFirst().keyCount());
  }

  @Test
  @DisplayName("a census of another master never proves anything about this one")
  void censusOfAnotherMaster() {
    FakeMaster idle = new FakeMaster("idle");
    Replica replica = Replica.with(false, RefitPolicy.DEFAULT, store -> store.withCensusOf(idle)).filled();

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertTrue(report.reasons().contains(
        "store: the census counted 0 puts where ours were at least 1: it watches another master, or lags"),
        report::text);
  }

  @Test
  @DisplayName("no census: a lost canary is no further reason, since no count of removals belongs to one master")
  void noCensusLostCanary() {
    Replica replica = Replica.with(false, RefitPolicy.DEFAULT, FakeStore::withoutCensus);
    replica.store.script.does("removeAll", () -> replica.master.lose("gatun-canary"));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(List.of("store: no census: without the master's counters, puts in flight cannot be seen"),
        report.reasons());
  }

  @Test
  @DisplayName("a census that missed one of two stores' canaries lags, and proves nothing")
  void censusLags() {
    Replica replica = Replica.plain();
    new FakeStore("other", replica.master, replica.gate, false);
    replica.master.startsShown(1);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertTrue(report.reasons().contains(
        "store: the census counted 1 puts where ours were at least 2: it watches another master, or lags"),
        report::text);
  }

  @Test
  @DisplayName("no census: no proof, since the list hides puts in flight")
  void noCensus() {
    Replica replica = Replica.with(false, RefitPolicy.DEFAULT, FakeStore::withoutCensus).filled();

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome());
    assertEquals(6, report.removed());
  }

  @Test
  @DisplayName("a census that fails at any of its looks leaves no proof")
  void censusFails() {
    // 2 is the look within the removal, which only saves time
    for (int look : new int[]{0, 1, 3, 4}) {
      Replica replica = Replica.plain();
      Await.until("the first look", () -> replica.master.script.hits("read") > 0);
      for (int i = 0; i < look; i++)
        replica.master.script.passes("read");
      replica.master.script.answers("read", -1);
      RefitReport report = replica.coordinator.refit(NEW);

      assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
    }
  }

  @Test
  @DisplayName("a list of keys that cannot be had leaves no proof")
  void listFails() {
    Replica replica = Replica.plain();
    replica.master.script.answers("keys", -1);

    assertEquals(RefitOutcome.UNVERIFIED, replica.coordinator.refit(NEW).outcome());
  }

  @Test
  @DisplayName("what the store itself doubts keeps it from VERIFIED")
  void doubts() {
    assertEquals(List.of("store: another client caches"),
        Replica.with(false, RefitPolicy.DEFAULT, store -> store.doubting("another client caches")).coordinator
            .refit(NEW).reasons());
    assertEquals(RefitOutcome.ISOLATED,
        Replica.with(true, RefitPolicy.DEFAULT, store -> store.doubting("another client caches")).coordinator
            .refit(NEW).outcome());
  }

  @Test
  @DisplayName("K1.14 what the master keeps and does not count keeps it from VERIFIED; epochs in the keys isolate")
  void uncounted() {
    for (boolean epochInKey : new boolean[]{false, true}) {
      Replica replica = new Replica("store", new FakeMaster("master"), epochInKey, RefitPolicy.DEFAULT);
      replica.master.uncounted("objects on disk");

      RefitReport report = replica.coordinator.refit(NEW);

      assertEquals(epochInKey ? RefitOutcome.ISOLATED : RefitOutcome.UNVERIFIED, report.outcome());
      assertEquals(List.of("store: objects on disk"), report.reasons());
    }
  }

  @Test
  @DisplayName("a removal that hangs is given up at the deadline, named, and still named by the next refit")
  void removalHangs() {
    Replica replica = Replica.plain(QUICK).filled();
    CountDownLatch thaw = new CountDownLatch(1);
    replica.store.script.hangs("removeAll", thaw, -901);

    RefitReport first = replica.coordinator.refit(NEW);
    RefitReport second = replica.coordinator.refit(NEXT);

    assertEquals(RefitOutcome.FAILED, first.outcome());
    assertTrue(first.reasons().getFirst().startsWith("store: removeAll did not return by the deadline"), first::text);
    assertEquals(RefitOutcome.FAILED, second.outcome());
    assertTrue(second.reasons().toString().contains("waited behind removeAll"), second::text);
    assertEquals(1, replica.store.script.hits("removeAll"), "nothing is sent while the first has not come back");
    thaw.countDown();
    Await.until("the removal came back", () -> replica.coordinator.unfinished().isEmpty());
    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(NEXT).outcome());
  }

  @Test
  @DisplayName("epochs in the keys: the master is gone, yet nothing old can be asked for")
  void isolated() {
    Replica replica = Replica.keyed(RefitPolicy.DEFAULT).filled();
    replica.store.script.answers("removeAll", -900);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.ISOLATED, report.outcome());
    assertTrue(report.open());
    assertFalse(replica.store.hit("page0"));
    assertTrue(replica.master.holdsOther(NEW), "it is still there");
  }

  @Test
  @DisplayName("a policy that requires VERIFIED does not open for ISOLATED")
  void isolatedIsNotEnough() {
    Replica replica = Replica.keyed(RefitPolicy.DEFAULT.withRequired(RefitOutcome.VERIFIED)).filled();
    replica.store.script.answers("removeAll", -900);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.ISOLATED, report.outcome());
    assertFalse(report.accepted());
    assertEquals(EpochGate.State.CLOSED, replica.gate.state());
  }

  @Test
  @DisplayName("an epoch that was used before isolates nothing: its old pages bear the new name")
  void epochUsedTwice() {
    Replica replica = Replica.keyed(RefitPolicy.DEFAULT);
    replica.master.put(replica.store.key("page0", NEW), OLD);
    replica.store.script.answers("removeAll", -900);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertTrue(report.reasons().contains("store: 1 objects carry epoch run@2 already: it was used before"),
        report::text);
  }

  @Test
  @DisplayName("an epoch that was used before is harmless once the removal was answered")
  void epochUsedTwiceButRemoved() {
    Replica replica = Replica.keyed(RefitPolicy.DEFAULT.withOtherClients(OtherClients.FENCED));
    replica.master.put(replica.store.key("page0", NEW), OLD);

    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(NEW).outcome());
    assertEquals(0, replica.master.count());
  }

  @Test
  @DisplayName("S1.5 a replica of another process that is at the new epoch already does not spoil isolation")
  void otherProcessAhead() {
    Replica replica = Replica.keyed(RefitPolicy.DEFAULT.withOtherClients(OtherClients.UNFENCED)).filled();
    replica.master.script.does("keys", () -> replica.master.put(replica.store.key("fresh", NEW), NEW));

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.ISOLATED, report.outcome());
    assertTrue(replica.store.hit("fresh"));
  }

  @Test
  @DisplayName("the epoch in force can be cleared, but does not isolate from itself")
  void epochInForce() {
    Replica replica = Replica.keyed(RefitPolicy.DEFAULT).filled();
    replica.store.script.answers("removeAll", -900);

    assertEquals(RefitOutcome.FAILED, replica.coordinator.refit(OLD).outcome());
    assertEquals(RefitOutcome.VERIFIED, replica.coordinator.refit(OLD).outcome());
    assertEquals(0, replica.master.count());
  }

  @Test
  @DisplayName("the epoch in force does not isolate from itself, even where nobody can list what is left")
  void epochInForceUnlisted() {
    Replica replica = Replica.keyed(RefitPolicy.DEFAULT).filled();
    replica.store.script.answers("removeAll", -900);
    replica.master.script.answers("keys", -1);

    RefitReport report = replica.coordinator.refit(OLD);

    assertEquals(RefitOutcome.FAILED, report.outcome(), report::text);
    assertTrue(replica.master.size(replica.store.key("page0", OLD)) > 0, "the old page stands under the same key");
  }

  @Test
  @DisplayName("two stores of two masters: one without proof is enough to have none")
  void twoMasters() {
    Replica replica = Replica.plain().filled();
    FakeMaster second = new FakeMaster("second");
    FakeStore other = new FakeStore("other", second, replica.gate, false);
    other.put("page");
    other.script.answers("removeAll", -900);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertEquals(0, replica.master.count(), "the other one was cleared");
  }

  @Test
  @DisplayName("a plain store and one with epochs: each needs its own proof")
  void mixedCodecs() {
    Replica replica = Replica.plain().filled();
    FakeStore keyed = new FakeStore("keyed", new FakeMaster("second"), replica.gate, true);
    keyed.script.answers("removeAll", -900);
    assertEquals(RefitOutcome.ISOLATED, replica.coordinator.refit(NEW).outcome(), "the plain one is proved");

    replica.store.script.answers("removeAll", -900);
    assertEquals(RefitOutcome.FAILED, replica.coordinator.refit(NEXT).outcome(), "the plain one is not");
  }

  @Test
  @DisplayName("a plain store in doubt does not fail for what was left of a store with epochs, which cannot be asked for")
  void mixedCodecsInDoubt() {
    Replica replica = Replica.plain();
    FakeStore keyed = new FakeStore("keyed", new FakeMaster("second"), replica.gate, true);
    keyed.script.answers("removeAll", -900);
    replica.store.script.answers("size", -703);

    assertEquals(RefitOutcome.UNVERIFIED, replica.coordinator.refit(NEW).outcome());
  }

  @Test
  @DisplayName("a store that was closed left its pages in the master: no proof")
  void closedStore() {
    Replica replica = Replica.plain().filled();
    replica.store.close();

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertEquals(List.of("store: the store was closed, and nobody else saw its master empty"), report.reasons());
  }

  @Test
  @DisplayName("a store that was closed and opened again at the same master is cleared through the new one")
  void reopenedStore() {
    Replica replica = Replica.plain().filled();
    replica.store.close();
    new FakeStore("again", replica.master, replica.gate, false);

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(List.of("store was closed; its master was seen empty through another store"), report.notes());
  }

  @Test
  @DisplayName("a store that opened and closed since the last refit left its pages in its master: no proof")
  void closedBetweenRefits() {
    Replica replica = Replica.plain().filled();
    FakeMaster elsewhere = new FakeMaster("elsewhere");
    FakeStore brief = new FakeStore("brief", elsewhere, replica.gate, false);
    brief.put("old page");
    brief.close();

    RefitReport report = replica.coordinator.refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome(), report::text);
    assertEquals(List.of("brief: the store was closed, and nobody else saw its master empty"), report.reasons());
    new FakeStore("again", elsewhere, replica.gate, false);
    RefitReport again = replica.coordinator.refit(NEW);
    assertEquals(RefitOutcome.VERIFIED, again.outcome(), again::text);
  }

  @Test
  @DisplayName("a store that opened while weights were loaded, at another master: no proof, and retry clears it too")
  void openedDuringRefit() {
    for (OnFailure reaction : List.of(OnFailure.FAIL, OnFailure.RETRY)) {
      Replica replica = Replica.plain(RefitPolicy.DEFAULT.withOnFailure(reaction)).filled();
      FakeMaster elsewhere = new FakeMaster("elsewhere");
      new FakeStore("before", elsewhere, new EpochGate(OLD), false).put("old page");
      try (Refit refit = replica.coordinator.begin(NEW)) {
        assertEquals(RefitOutcome.VERIFIED, refit.clear().outcome());
        new FakeStore("beside", replica.master, replica.gate, false);
        new FakeStore("late", elsewhere, replica.gate, false);
        RefitReport report = refit.open();
        boolean retries = reaction == OnFailure.RETRY;
        assertEquals(retries ? RefitOutcome.VERIFIED : RefitOutcome.FAILED, report.outcome(), report::text);
        assertEquals(retries, report.open());
        if (retries) assertEquals(0, elsewhere.count());
        else
          assertEquals(List.of("late: it was opened after the removal, which did not reach its objects"),
              report.reasons());
      }
    }
  }

  @Test
  @DisplayName("several stores of one gate at one master count each other's canaries as ours")
  void storesShareMaster() {
    EpochGate gate = new EpochGate(OLD);
    FakeMaster master = new FakeMaster("master");
    List<FakeStore> stores = List.of(new FakeStore("a", master, gate, false), new FakeStore("b", master, gate, false),
        new FakeStore("c", master, gate, false));
    stores.forEach(store -> store.put("page"));

    RefitReport report = new RefitCoordinator(gate, stores, RefitPolicy.DEFAULT, Observer.NONE).refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
  }
}

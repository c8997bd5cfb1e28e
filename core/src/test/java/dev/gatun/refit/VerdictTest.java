package dev.gatun.refit;

import static dev.gatun.refit.Replica.NEW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.StoreCensus.Reading;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What is concluded from answers, condition by condition. */
class VerdictTest {
  private final FakeMaster master = new FakeMaster("master");
  private int replicas;

  private static Reading reading(long keyCount, long putStarts) {
    return new Reading(keyCount, putStarts, putStarts, 0, "leader", "start-1");
  }

  /** A store whose canary was put, seen, and removed, at a master that counts nothing else. */
  private StoreTrace sound() {
    StoreTrace trace = blank();
    trace.planting();
    trace.canaries().add(new Canary("canary", 0, 8));
    trace.before = reading(0, 0);
    trace.planted = reading(1, 1);
    trace.after = reading(0, 1);
    trace.removed = 1;
    trace.passed = true;
    trace.canaryGone = true;
    return trace;
  }

  private StoreTrace blank() {
    Replica replica = new Replica("store" + replicas++, master, false, RefitPolicy.DEFAULT);
    return new StoreTrace(replica.coordinator.ports().getFirst(), new Member(replica.coordinator, "replica"));
  }

  private static List<String> unproven(StoreTrace... traces) {
    Verdict.judge(List.of(traces), NEW);
    return traces[0].unproven();
  }

  @Test
  @DisplayName("nothing is held against a sound store")
  void nothing() {
    StoreTrace trace = sound();
    assertEquals(List.of(), unproven(trace));
    assertTrue(trace.sound());
    assertEquals(0, trace.foreignPuts);
  }

  @Test
  @DisplayName("a planting that was not acknowledged may have been counted or not: neither is foreign, neither is a gap")
  void unacknowledgedPlanting() {
    StoreTrace trace = sound();
    trace.planting();
    assertEquals(List.of(), unproven(trace), "it never arrived");
    assertEquals(0, trace.foreignPuts, "and puts that are missing are no foreign ones");

    StoreTrace counted = sound();
    counted.planting();
    counted.after = reading(0, 2);
    assertEquals(List.of(), unproven(counted), "it arrived");

    StoreTrace more = sound();
    more.planting();
    more.after = reading(0, 3);
    assertEquals(List.of("store2: 1 puts by other clients since the gate closed"), unproven(more));
    assertEquals(1, more.foreignPuts);
  }

  @Test
  @DisplayName("a census that counted no put at all is not believed, though no canary was acknowledged")
  void noPutCounted() {
    StoreTrace trace = blank();
    trace.planting();
    trace.canaries().add(new Canary("canary", -200, 0));
    trace.before = reading(0, 5);
    trace.after = reading(0, 5);
    assertEquals(
        List.of("store0: the census counted 0 puts where ours were at least 1: it watches another master, or lags"),
        unproven(trace));
  }

  @Test
  @DisplayName("a canary that was never seen need not have been removed")
  void unseenCanary() {
    StoreTrace trace = sound();
    trace.planting();
    trace.canaries().addFirst(new Canary("unseen", 0, -703));
    trace.after = reading(0, 2);
    assertEquals(List.of(), unproven(trace));
  }

  @Test
  @DisplayName("of two canaries that were seen, one was removed: the other was lost, whatever else was removed")
  void lostOne() {
    StoreTrace trace = sound();
    trace.planting();
    trace.canaries().add(new Canary("second", 0, 8));
    trace.after = reading(0, 2);
    assertEquals(
        List.of("store0: the canary vanished and no removal of ours took it: lost with its memory, or removed by "
            + "another client"),
        unproven(trace));

    trace = sound();
    trace.planting();
    trace.canaries().add(new Canary("second", 0, 8));
    trace.after = reading(0, 2);
    trace.removed = 2;
    assertEquals(List.of(), unproven(trace), "both were removed");
  }

  @Test
  @DisplayName("the counters of a master that changed say nothing; those of another store's census still do")
  void changedMaster() {
    StoreTrace changed = sound();
    changed.after = new Reading(0, 0, 0, 0, "leader", "start-2");
    StoreTrace other = sound();
    other.after = reading(0, 4);
    Verdict.judge(List.of(changed, other), NEW);
    assertEquals(List.of("store0: the master changed during the refit: leader/start-1 became leader/start-2"),
        changed.unproven());
    assertEquals(List.of("store1: 2 puts by other clients since the gate closed"), other.unproven());
  }

  @Test
  @DisplayName("a census that did not see the canary watches another master")
  void unwitnessedCanary() {
    StoreTrace trace = sound();
    trace.planted = reading(0, 1);
    assertEquals(List.of("store0: the census did not see the canary: it watches another master, or lags"),
        unproven(trace));
  }

  @Test
  @DisplayName("objects of the new epoch were put by others, if a removal was answered before")
  void epochUsedAfterRemoval() {
    StoreTrace trace = sound();
    trace.ofNewEpoch = 1;
    unproven(trace);
    assertEquals(List.of(), trace.unremoved());
    trace.passed = false;
    unproven(trace);
    assertEquals(List.of("store0: 1 objects carry epoch run@2 already: it was used before"), trace.unremoved());
  }

  @Test
  @DisplayName("a canary that is there, be it empty, survived; one that cannot be asked for is unproven; only absence is gone")
  void canaryAnswers() {
    StoreTrace there = look(0L);
    assertEquals(List.of("store0: the canary survived the removal"), there.unremoved());
    StoreTrace unknown = look(-900L);
    assertEquals(List.of("store1: asking for the canary answered RPC_FAIL (-900)"), unknown.unproven());
    assertFalse(unknown.canaryGone);
    assertFalse(look(-704L, -900L).canaryGone);
    assertTrue(look(-704L, -704L).canaryGone);
    assertFalse(look().canaryGone, "none was put");
  }

  private StoreTrace look(Long... sizes) {
    StoreTrace trace = blank();
    new Look(List.of(sizes), List.of(), 0, null, "").into(trace);
    return trace;
  }

  @Test
  @DisplayName("puts of others are what a master counts beyond all that our stores sent, never less than none")
  void watchedPuts() {
    Replica replica = new Replica("store", master, false, RefitPolicy.DEFAULT);
    StorePort port = replica.coordinator.ports().getFirst();
    List<StorePort> ours = List.of(port);
    PutWatch watch = new PutWatch();
    assertEquals(-1, watch.foreign(port, reading(0, 5), ours), "nothing is known");
    replica.store.put("before");
    watch.mark(port, reading(0, 10), ours);
    assertEquals(0, watch.foreign(port, reading(0, 9), ours));
    replica.store.put("mine");
    assertEquals(2, watch.foreign(port, reading(0, 13), ours));
    assertEquals(0, watch.foreign(port, reading(0, 10), ours), "ours has not arrived yet");
    Reading restarted = new Reading(0, 3, 3, 0, "leader", "start-2");
    assertEquals(2, watch.foreign(port, restarted, ours), "a master that started anew counts from 0");
    watch.markLoosely(port, reading(0, 10));
    assertEquals(1, watch.foreign(port, reading(0, 13), ours), "both of ours may have come since");
    watch.depart(port);
    assertFalse(watch.marked(port));
    assertEquals(-1, watch.foreign(port, reading(0, 13), ours));
  }
}

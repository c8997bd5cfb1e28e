package dev.gatun.refit;

import static dev.gatun.refit.Replica.NEW;
import static dev.gatun.refit.Replica.NEXT;
import static dev.gatun.refit.Replica.OLD;
import static dev.gatun.refit.Replica.QUICK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochGate.State;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.testing.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RefitGroupTest {
  private final FakeMaster master = new FakeMaster("master");

  private List<Replica> replicas(int count, boolean epochInKey) {
    List<Replica> replicas = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Replica replica = new Replica("store" + i, master, epochInKey, RefitPolicy.DEFAULT);
      replica.store.put("page" + i);
      replicas.add(replica);
    }
    return replicas;
  }

  private static RefitGroup group(RefitPolicy policy, List<Replica> replicas) {
    return new RefitGroup(policy, replicas.stream().map(replica -> replica.coordinator).toList());
  }

  @Test
  @DisplayName("S1.5 K1.15 four replicas reset one master at once: all succeed, behind one barrier")
  void atOnce() throws Exception {
    List<Replica> replicas = replicas(4, false);
    group(RefitPolicy.DEFAULT, replicas);
    List<String> breaches = new CopyOnWriteArrayList<>();
    for (Replica replica : replicas) {
      for (int pass = 0; pass < 2; pass++) {
        replica.store.script.does("removeAll", () -> {
          if (replicas.stream().anyMatch(each -> each.gate.state() != State.CLOSED)) breaches.add("removal, gate open");
        });
      }
    }
    CyclicBarrier start = new CyclicBarrier(4);
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<RefitReport>> reports = new ArrayList<>();
      for (Replica replica : replicas) {
        reports.add(threads.submit(() -> {
          start.await(10, TimeUnit.SECONDS);
          return replica.coordinator.refit(NEW);
        }));
      }
      for (Future<RefitReport> report : reports) {
        assertEquals(RefitOutcome.VERIFIED, report.get(10, TimeUnit.SECONDS).outcome());
      }
    }
    assertEquals(List.of(), breaches);
    for (Replica replica : replicas) {
      assertEquals(State.OPEN, replica.gate.state());
      assertEquals(NEW, replica.gate.epoch());
      assertEquals(1, replica.coordinator.resets());
      assertEquals(1, replica.store.script.hits("canary"));
    }
    assertEquals(0, master.count());
  }

  @Test
  @DisplayName("S1.5 replicas reset one master in turn: all succeed, each opens its own gate")
  void inTurn() {
    List<Replica> replicas = replicas(3, false);
    group(RefitPolicy.DEFAULT, replicas);

    for (int i = 0; i < 3; i++) {
      RefitReport report = replicas.get(i).coordinator.refit(NEW);
      assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
      assertEquals(3, report.replicas().size());
      for (int j = 0; j < 3; j++) {
        assertEquals(j <= i ? State.OPEN : State.CLOSED, replicas.get(j).gate.state());
      }
      replicas.get(i).store.put("fresh" + i);
    }
    assertTrue(replicas.get(2).store.hit("fresh0"), "the first one's new pages survive the others' refits");
    assertEquals(1, replicas.get(0).store.script.hits("canary"));
  }

  @Test
  @DisplayName("a replica that never begins keeps its gate closed, and cannot put old pages")
  void absentReplica() {
    List<Replica> replicas = replicas(2, false);
    group(RefitPolicy.DEFAULT, replicas);

    RefitReport report = replicas.getFirst().coordinator.refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome());
    assertFalse(report.open());
    assertEquals(List.of(new RefitReport.Replica("replica-0", State.OPEN, ""),
        new RefitReport.Replica("replica-1", State.CLOSED, "")), report.replicas());
    assertThrows(GateClosedException.class, () -> replicas.get(1).store.put("old"));
    assertEquals(RefitOutcome.VERIFIED, replicas.getFirst().coordinator.refit(NEXT).outcome());
  }

  @Test
  @DisplayName("the group's own bracket opens all gates together")
  void groupBracket() {
    List<Replica> replicas = replicas(3, false);

    RefitReport report = group(RefitPolicy.DEFAULT, replicas).refit(NEW);

    assertTrue(report.open(), report::text);
    assertEquals(3 + 3, report.removed(), "a page and a canary each");
    assertEquals(3, replicas.stream().mapToLong(replica -> replica.coordinator.resets()).sum());
  }

  @Test
  @DisplayName("one replica without proof is enough: none opens")
  void oneFails() {
    List<Replica> replicas = replicas(3, false);
    replicas.get(1).store.script.answers("removeAll", -900);

    RefitReport report = group(RefitPolicy.DEFAULT, replicas).refit(NEW);

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertTrue(replicas.stream().allMatch(replica -> replica.gate.state() == State.CLOSED));
  }

  @Test
  @DisplayName("another epoch is refused while one replica still loads weights")
  void slowReplica() {
    List<Replica> replicas = replicas(2, false);
    group(RefitPolicy.DEFAULT, replicas);
    try (Refit slow = replicas.get(1).coordinator.begin(NEW)) {
      replicas.get(0).coordinator.refit(NEW).orThrow();
      assertThrows(IllegalStateException.class, () -> replicas.get(0).coordinator.refit(NEXT));
      assertEquals(State.OPEN, replicas.get(0).gate.state(), "refused before anything was closed");
      slow.clear();
      slow.open();
    }
    assertEquals(RefitOutcome.VERIFIED, replicas.get(0).coordinator.refit(NEXT).outcome());
  }

  @Test
  @DisplayName("a replica whose call does not come back leaves, is reported, and may come back when it has")
  void stuckReplicaLeaves() {
    List<Replica> replicas = replicas(3, true);
    RefitGroup group = group(QUICK, replicas);
    Replica stuck = replicas.get(1);
    int ticket = stuck.gate.enter("get");

    RefitReport report = group.refit(NEW);

    assertEquals(RefitOutcome.ISOLATED, report.outcome());
    assertEquals("1 operations inside the gate", report.replicas().get(1).left());
    assertEquals(State.CLOSED, stuck.gate.state());
    assertEquals(State.OPEN, replicas.get(0).gate.state());
    assertThrows(IllegalStateException.class, () -> stuck.coordinator.begin(NEXT));
    assertThrows(IllegalStateException.class, () -> group.join(stuck.coordinator), "its call is still inside");

    RefitReport without = group.refit(NEXT);
    assertEquals(2, without.replicas().size());
    assertEquals(RefitOutcome.ISOLATED, without.outcome(), "the straggler may still land a put");

    stuck.gate.exit(ticket);
    group.join(stuck.coordinator);
    RefitReport again = group.refit(new WeightEpoch("run", 4));
    assertEquals(RefitOutcome.VERIFIED, again.outcome(), again::text);
    assertTrue(again.open());
  }

  @Test
  @DisplayName("the straggler's late put keeps the others from VERIFIED until it has come back")
  void stragglerKeepsFromVerified() {
    List<Replica> replicas = replicas(2, false);
    RefitGroup group = group(QUICK, replicas);
    int ticket = replicas.get(1).gate.enter("put");
    assertEquals(RefitOutcome.UNVERIFIED, group.refit(NEW).outcome());

    RefitReport second = group.refit(NEW);
    assertEquals(RefitOutcome.UNVERIFIED, second.outcome());
    assertEquals(List.of("a replica that left still has calls inside: 1 operations inside the gate"), second.reasons());

    replicas.get(1).gate.exit(ticket);
    assertEquals(RefitOutcome.VERIFIED, group.refit(NEW).outcome());
  }

  @Test
  @DisplayName("a replica whose store hangs leaves, and the others go on with what they saw themselves")
  void hangingReplicaLeaves() {
    List<Replica> replicas = replicas(3, false);
    RefitGroup group = group(QUICK, replicas);
    CountDownLatch thaw = new CountDownLatch(1);
    replicas.get(2).store.script.hangs("removeAll", thaw, -901);
    try {
      RefitReport report = group.refit(NEW);

      assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
      assertEquals("store2 was closed or hangs", report.replicas().get(2).left());
      assertEquals(State.CLOSED, replicas.get(2).gate.state());
      assertEquals(State.OPEN, replicas.get(0).gate.state());
      assertEquals(2, group.members().size());
    } finally {
      thaw.countDown();
    }
  }

  @Test
  @DisplayName("a replica whose store was closed leaves, and the others go on")
  void closedReplicaLeaves() {
    List<Replica> replicas = replicas(2, false);
    RefitGroup group = group(RefitPolicy.DEFAULT, replicas);
    replicas.get(1).store.close();

    RefitReport report = group.refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals("store1 was closed or hangs", report.replicas().get(1).left());
    assertEquals(1, group.members().size());
  }

  @Test
  @DisplayName("a replica that closed a store and has another at the same master stays")
  void replicaWithAnotherStoreStays() {
    List<Replica> replicas = replicas(2, false);
    RefitGroup group = group(RefitPolicy.DEFAULT, replicas);
    Replica second = replicas.get(1);
    new FakeStore("brief", second.master, second.gate, false).close();

    RefitReport report = group.refit(NEW);

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals("", report.replicas().get(1).left());
    assertEquals(2, group.members().size());
  }

  @Test
  @DisplayName("when all replicas are in trouble it is the master: nobody leaves, and the next attempt has all")
  void masterInTrouble() {
    List<Replica> replicas = replicas(2, false);
    RefitGroup group = group(QUICK, replicas);
    CountDownLatch thaw = new CountDownLatch(1);
    replicas.forEach(replica -> replica.store.script.hangs("removeAll", thaw, -901));

    RefitReport report = group.refit(NEW);
    thaw.countDown();

    assertEquals(RefitOutcome.FAILED, report.outcome());
    assertEquals(2, group.members().size());
    Await.until("the removals came back",
        () -> replicas.stream().allMatch(replica -> replica.coordinator.unfinished().isEmpty()));
    assertEquals(RefitOutcome.VERIFIED, group.refit(NEW).outcome());
  }

  @Test
  @DisplayName("a put of somebody else between two replicas' openings keeps the second closed")
  void putBetweenOpenings() {
    List<Replica> replicas = replicas(2, false);
    group(RefitPolicy.DEFAULT, replicas);
    assertTrue(replicas.get(0).coordinator.refit(NEW).accepted());
    replicas.get(0).store.put("fresh");
    master.put("ns//page9", OLD);

    RefitReport second = replicas.get(1).coordinator.refit(NEW);

    assertEquals(RefitOutcome.UNVERIFIED, second.outcome());
    assertEquals(State.CLOSED, replicas.get(1).gate.state());
    assertEquals(List.of("store0: 1 puts by other clients between verdict and opening",
        "store1: 1 puts by other clients between verdict and opening"), second.reasons());
  }

  @Test
  @DisplayName("without a group, a replica that still puts old pages keeps the other from VERIFIED")
  void withoutGroup() {
    List<Replica> replicas = replicas(2, false);
    replicas.get(0).coordinator.refit(NEW);
    replicas.get(1).store.put("old page of a replica that was not told");

    assertEquals(RefitOutcome.UNVERIFIED, replicas.get(0).coordinator.refit(NEXT).outcome());
  }

  @Test
  @DisplayName("a replica that joins between refits takes part in the next one")
  void lateJoiner() {
    List<Replica> replicas = replicas(2, false);
    // the other replica has put its page already, before or after this one first looked at the master
    RefitPolicy fenced = RefitPolicy.DEFAULT.withOtherClients(RefitPolicy.OtherClients.FENCED);
    RefitGroup group = group(fenced, List.of(replicas.get(0)));
    group.refit(NEW).orThrow();
    group.join(replicas.get(1).coordinator);

    assertThrows(IllegalStateException.class, () -> replicas.get(1).coordinator.begin(NEW));
    RefitReport report = group.refit(NEXT);
    assertEquals(2, report.replicas().size());
    assertTrue(report.open());
  }

  @Test
  @DisplayName("a replica that leaves refits alone, and what it had put is not held against the group")
  void leaver() {
    List<Replica> replicas = replicas(2, false);
    RefitGroup group = group(RefitPolicy.DEFAULT, replicas);
    group.refit(NEW).orThrow();
    replicas.get(1).store.put("page");
    replicas.get(1).store.close();
    group.leave(replicas.get(1).coordinator);

    RefitReport report = group.refit(NEXT);

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertThrows(IllegalArgumentException.class, () -> group.leave(replicas.get(1).coordinator));
  }

  @Test
  @DisplayName("members: none, twice, and of two groups are refused")
  void membership() {
    List<Replica> replicas = replicas(2, false);
    assertThrows(IllegalArgumentException.class, () -> group(RefitPolicy.DEFAULT, List.of()));
    assertThrows(IllegalArgumentException.class,
        () -> group(RefitPolicy.DEFAULT, List.of(replicas.get(0), replicas.get(0))));
    group(RefitPolicy.DEFAULT, List.of(replicas.get(1)));
    assertThrows(IllegalStateException.class, () -> group(RefitPolicy.DEFAULT, List.of(replicas.get(1))));
  }

  @Test
  @DisplayName("a group that is refused holds none of those who would have been its members")
  void refusedGroup() {
    List<Replica> replicas = replicas(2, false);
    RefitGroup other = group(RefitPolicy.DEFAULT, List.of(replicas.get(1)));
    assertThrows(IllegalStateException.class, () -> group(RefitPolicy.DEFAULT, replicas));
    assertThrows(IllegalArgumentException.class,
        () -> group(RefitPolicy.DEFAULT, List.of(replicas.get(0), replicas.get(0))));
    other.join(replicas.get(0).coordinator);
    assertEquals(2, other.members().size());
    assertEquals(RefitOutcome.VERIFIED, other.refit(NEW).outcome());
  }

  @Test
  @DisplayName("a replica in the middle of a refit of its own cannot join")
  void joinWhileRefitting() {
    List<Replica> replicas = replicas(2, false);
    RefitGroup group = group(RefitPolicy.DEFAULT, List.of(replicas.get(0)));
    try (Refit refit = replicas.get(1).coordinator.begin(NEW)) {
      assertThrows(IllegalStateException.class, () -> group.join(replicas.get(1).coordinator));
      refit.clear();
      refit.open();
    }
    group.join(replicas.get(1).coordinator);
    assertEquals(2, group.members().size());
  }
}

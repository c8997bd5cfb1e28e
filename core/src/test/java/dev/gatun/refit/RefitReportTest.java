package dev.gatun.refit;

import static dev.gatun.refit.Replica.NEW;
import static dev.gatun.refit.Replica.OLD;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The two forms in which a report leaves Gatun, letter by letter. */
class RefitReportTest {

  /** The same report with durations that a golden text can hold: step n took n ms and 5 us, the whole 12.5 ms. */
  private static RefitReport timed(RefitReport report) {
    List<RefitReport.Step> steps = new ArrayList<>();
    for (RefitReport.Step step : report.steps())
      steps.add(new RefitReport.Step(step.name(), steps.size() * 1_000_000L + 5_000, step.detail()));
    return new RefitReport(report.epoch(), report.previous(), report.outcome(), report.accepted(), report.reasons(),
        report.notes(), report.attempts(), report.removed(), report.resets(), report.removedTotal(), 12_500_000, steps,
        report.replicas(), report.stores());
  }

  @Test
  @DisplayName("a VERIFIED report")
  void verified() {
    RefitReport report = timed(Replica.plain().filled().coordinator.refit(NEW));

    assertEquals("""
        refit run@1 -> run@2: VERIFIED
          6 objects removed, 1 replica, 1 attempt, 12.50 ms, reset 1 of this process
          close gate   0.01 ms   1 closed
          raise epoch  1.01 ms   1 of 1 raised
          drain        2.01 ms   0 queued failed, all quiet
          clear local  3.01 ms   done
          baseline     4.01 ms   1 of 1 censuses read
          canary       5.01 ms   1 of 1 seen
          witness      6.01 ms   1 censuses read
          remove       7.01 ms   6 removed
          verify       8.01 ms   1 of 1 seen empty
          look again   9.01 ms   1 of 1 still empty
          open         10.01 ms  1 opened
          replica-0  store  6 objects in 2 passes  canary seen, then gone  0 keys left  0 other puts
          replica-0  gate open
        """, report.text());
    assertMap("""
        run: run
        version: 2
        previous: run@1
        outcome: VERIFIED
        accepted: true
        open: true
        reasons: []
        notes: []
        attempts: 1
        removed: 6
        resets: 1
        removedTotal: 6
        nanos: 12500000
        steps:
          {name=close gate, nanos=5000, detail=1 closed}
          {name=raise epoch, nanos=1005000, detail=1 of 1 raised}
          {name=drain, nanos=2005000, detail=0 queued failed, all quiet}
          {name=clear local, nanos=3005000, detail=done}
          {name=baseline, nanos=4005000, detail=1 of 1 censuses read}
          {name=canary, nanos=5005000, detail=1 of 1 seen}
          {name=witness, nanos=6005000, detail=1 censuses read}
          {name=remove, nanos=7005000, detail=6 removed}
          {name=verify, nanos=8005000, detail=1 of 1 seen empty}
          {name=look again, nanos=9005000, detail=1 of 1 still empty}
          {name=open, nanos=10005000, detail=1 opened}
        replicas:
          {name=replica-0, gate=OPEN, left=}
        stores:
          {replica=replica-0, name=store, census=master, passes=2, removed=6, canary=seen, then gone, keyCount=0, \
        foreignPuts=0, leftovers=[]}
        """, report);
  }

  @Test
  @DisplayName("an UNVERIFIED report, which keeps the gate closed")
  void unverified() {
    Replica replica = Replica.plain().filled();
    replica.store.script.does("removeAll", () -> replica.master.put("foreign", OLD));

    RefitReport report = timed(replica.coordinator.refit(NEW));

    assertEquals("""
        refit run@1 -> run@2: UNVERIFIED
          7 objects removed, 1 replica, 1 attempt, 12.50 ms, reset 1 of this process
          close gate   0.01 ms  1 closed
          raise epoch  1.01 ms  1 of 1 raised
          drain        2.01 ms  0 queued failed, all quiet
          clear local  3.01 ms  done
          baseline     4.01 ms  1 of 1 censuses read
          canary       5.01 ms  1 of 1 seen
          witness      6.01 ms  1 censuses read
          remove       7.01 ms  7 removed
          verify       8.01 ms  1 of 1 seen empty
          open         9.01 ms  refused, on_failure is fail
          replica-0  store  7 objects in 2 passes  canary seen, then gone  0 keys left  1 other put
          replica-0  gate closed
          not verified: store: 1 puts by other clients since the gate closed
        """, report.text());
    assertMap("""
        run: run
        version: 2
        previous: run@1
        outcome: UNVERIFIED
        accepted: false
        open: false
        reasons: [store: 1 puts by other clients since the gate closed]
        notes: []
        attempts: 1
        removed: 7
        resets: 1
        removedTotal: 7
        nanos: 12500000
        steps:
          {name=close gate, nanos=5000, detail=1 closed}
          {name=raise epoch, nanos=1005000, detail=1 of 1 raised}
          {name=drain, nanos=2005000, detail=0 queued failed, all quiet}
          {name=clear local, nanos=3005000, detail=done}
          {name=baseline, nanos=4005000, detail=1 of 1 censuses read}
          {name=canary, nanos=5005000, detail=1 of 1 seen}
          {name=witness, nanos=6005000, detail=1 censuses read}
          {name=remove, nanos=7005000, detail=7 removed}
          {name=verify, nanos=8005000, detail=1 of 1 seen empty}
          {name=open, nanos=9005000, detail=refused, on_failure is fail}
        replicas:
          {name=replica-0, gate=CLOSED, left=}
        stores:
          {replica=replica-0, name=store, census=master, passes=2, removed=7, canary=seen, then gone, keyCount=0, \
        foreignPuts=1, leftovers=[]}
        """, report);
  }

  @Test
  @DisplayName("an ISOLATED report of two replicas, with the names of what was left")
  void isolated() {
    RefitPolicy policy = RefitPolicy.DEFAULT.withLeftoversMax(2);
    FakeMaster master = new FakeMaster("master");
    Replica first = new Replica("first", master, true, policy).filled();
    Replica second = new Replica("second", master, true, policy);
    first.store.script.answers("removeAll", -900);
    second.store.script.answers("removeAll", -900);

    RefitReport report = timed(new RefitGroup(policy, List.of(first.coordinator, second.coordinator)).refit(NEW));

    assertEquals("""
        refit run@1 -> run@2: ISOLATED
          0 objects removed, 2 replicas, 1 attempt, 12.50 ms, reset 1 of this process
          close gate   0.01 ms  2 closed
          raise epoch  1.01 ms  2 of 2 raised
          drain        2.01 ms  0 queued failed, all quiet
          clear local  3.01 ms  done
          baseline     4.01 ms  2 of 2 censuses read
          canary       5.01 ms  2 of 2 seen
          witness      6.01 ms  2 censuses read
          remove       7.01 ms  0 removed
          verify       8.01 ms  0 of 2 seen empty
          open         9.01 ms  2 opened
          replica-0  first   0 objects in 1 pass  canary seen  7 keys left  0 other puts
          replica-1  second  0 objects in 1 pass  canary seen  7 keys left  0 other puts
          left in first: ns/run/1/page0
          left in first: ns/run/1/page1
          left in second: ns/run/1/page0
          left in second: ns/run/1/page1
          replica-0  gate open
          replica-1  gate open
          not verified: first: removeAll failed: RPC_FAIL (-900)
          not verified: first: the canary survived the removal
          not verified: first: 7 objects left, of which 7 complete and listed
          not verified: second: removeAll failed: RPC_FAIL (-900)
          not verified: second: the canary survived the removal
          not verified: second: 7 objects left, of which 7 complete and listed
        """, report.text());
    assertMap("""
        run: run
        version: 2
        previous: run@1
        outcome: ISOLATED
        accepted: true
        open: true
        reasons: [first: removeAll failed: RPC_FAIL (-900), first: the canary survived the removal, \
        first: 7 objects left, of which 7 complete and listed, second: removeAll failed: RPC_FAIL (-900), \
        second: the canary survived the removal, second: 7 objects left, of which 7 complete and listed]
        notes: []
        attempts: 1
        removed: 0
        resets: 1
        removedTotal: 0
        nanos: 12500000
        steps:
          {name=close gate, nanos=5000, detail=2 closed}
          {name=raise epoch, nanos=1005000, detail=2 of 2 raised}
          {name=drain, nanos=2005000, detail=0 queued failed, all quiet}
          {name=clear local, nanos=3005000, detail=done}
          {name=baseline, nanos=4005000, detail=2 of 2 censuses read}
          {name=canary, nanos=5005000, detail=2 of 2 seen}
          {name=witness, nanos=6005000, detail=2 censuses read}
          {name=remove, nanos=7005000, detail=0 removed}
          {name=verify, nanos=8005000, detail=0 of 2 seen empty}
          {name=open, nanos=9005000, detail=2 opened}
        replicas:
          {name=replica-0, gate=OPEN, left=}
          {name=replica-1, gate=OPEN, left=}
        stores:
          {replica=replica-0, name=first, census=master, passes=1, removed=0, canary=seen, keyCount=7, \
        foreignPuts=0, leftovers=[ns/run/1/page0, ns/run/1/page1]}
          {replica=replica-1, name=second, census=master, passes=1, removed=0, canary=seen, keyCount=7, \
        foreignPuts=0, leftovers=[ns/run/1/page0, ns/run/1/page1]}
        """, report);
  }

  @Test
  @DisplayName("what is unknown is called unknown, notes come last, and a disabled store shows at the gate")
  void unknown() {
    RefitPolicy policy = RefitPolicy.DEFAULT.withOnFailure(RefitPolicy.OnFailure.DISABLE_STORE);
    Replica replica = Replica.with(false, policy, FakeStore::withoutCensus);
    FakeMaster other = new FakeMaster("other");
    FakeStore closed = new FakeStore("closed", other, replica.gate, false);
    replica.coordinator.ports();
    closed.close();
    new FakeStore("again", other, replica.gate, false);
    replica.store.script.answers("canary", -600);

    String text = timed(replica.coordinator.refit(NEW)).text();

    assertEquals("""
        refit run@1 -> run@2: UNVERIFIED
          1 object removed, 1 replica, 1 attempt, 12.50 ms, reset 1 of this process
          close gate   0.01 ms  1 closed
          raise epoch  1.01 ms  1 of 1 raised
          drain        2.01 ms  0 queued failed, all quiet
          clear local  3.01 ms  done
          baseline     4.01 ms  1 of 2 censuses read
          canary       5.01 ms  1 of 2 seen
          witness      6.01 ms  1 censuses read
          remove       7.01 ms  1 removed
          verify       8.01 ms  1 of 2 seen empty
          open         9.01 ms  refused, on_failure is disable-store
          replica-0  store   0 objects in 1 pass    canary refused: INVALID_PARAMS (-600)  keys unknown  \
        other puts unknown
          replica-0  closed  0 objects in 0 passes  canary not put                         keys unknown  \
        other puts unknown
          replica-0  again   1 object in 2 passes   canary seen, then gone                 0 keys left   0 other puts
          replica-0  gate disabled
          not verified: store: no census: without the master's counters, puts in flight cannot be seen
          not verified: store: the canary could not be put: INVALID_PARAMS (-600)
          note: closed was closed; its master was seen empty through another store
        """, text);
  }

  /** Compares the map with one line for each entry, and one for each element of a list of maps. */
  private static void assertMap(String golden, RefitReport report) {
    StringBuilder lines = new StringBuilder();
    report.map().forEach((name, value) -> {
      boolean rows = value instanceof List<?> list && !list.isEmpty() && list.getFirst() instanceof Map;
      lines.append(name).append(rows ? ":\n" : ": " + value + '\n');
      if (rows) ((List<?>) value).forEach(row -> lines.append("  ").append(row).append('\n'));
    });
    assertEquals(golden, lines.toString());
  }
}

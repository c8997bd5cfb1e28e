package dev.gatun.refit;

import static dev.gatun.refit.Replica.NEW;
import static dev.gatun.refit.Replica.OLD;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate.State;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy.OnFailure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.statistics.Statistics;

/** Random events at random points of a refit, held against the scripted master, which knows what is old. */
class RefitPropertyTest {
  /** What happens to the master, or what it answers. */
  enum Kind {
    FOREIGN_PUT,
    FOREIGN_START,
    FOREIGN_END,
    LOSE_CANARIES,
    RESTART,
    ROLE,
    GAUGE_TOO_HIGH,
    DOWN,
    UP,
    NO_SPACE,
    SPACE,
    ANSWER_ZERO,
    ANSWER_CODE
  }

  record Event(String point, int hit, Kind kind, int replica) {}

  record Scenario(int replicas, boolean epochInKey, OnFailure onFailure, boolean stuck, int startedBefore,
      List<Event> events) {}

  @Provide
  Arbitrary<Scenario> scenarios() {
    Arbitrary<Event> event = Combinators.combine(
        Arbitraries.of("removeAll", "canary", "size", "read", "keys", "clearLocal", "loading"),
        Arbitraries.integers().between(0, 4), Arbitraries.of(Kind.class), Arbitraries.integers().between(0, 2))
        .as(Event::new);
    return Combinators.combine(Arbitraries.integers().between(1, 3), Arbitraries.of(true, false),
        Arbitraries.of(OnFailure.class), Arbitraries.frequencyOf(Tuple.of(4, Arbitraries.just(false)),
            Tuple.of(1, Arbitraries.just(true))),
        Arbitraries.frequencyOf(Tuple.of(4, Arbitraries.just(0)),
            Tuple.of(1, Arbitraries.integers().between(1, 2))),
        event.list().ofMaxSize(4)).as(Scenario::new);
  }

  @Property(tries = 400)
  @Label("VERIFIED: nothing old is or will be in the master; ISOLATED: nothing old can be asked for; else it is closed")
  void outcomeIsTrue(@ForAll("scenarios") Scenario scenario) {
    FakeMaster master = new FakeMaster("master");
    List<Replica> replicas = new ArrayList<>();
    for (int i = 0; i < scenario.replicas(); i++) {
      Replica replica = new Replica("store" + i, master, scenario.epochInKey(), RefitPolicy.DEFAULT);
      replica.store.put("page" + i);
      replicas.add(replica);
    }
    RefitGroup group = new RefitGroup(RefitPolicy.DEFAULT.withDeadline(Duration.ofMillis(60))
        .withOnFailure(scenario.onFailure()).withAttempts(2, Duration.ofMillis(1)),
        replicas.stream().map(replica -> replica.coordinator).toList());
    List<Runnable> landing = new ArrayList<>();
    for (int i = 0; i < scenario.startedBefore(); i++) {
      String key = "before" + i;
      master.putStart(key, OLD);
      landing.add(() -> master.putEnd(key));
    }
    Replica first = replicas.getFirst();
    int ticket = scenario.stuck() ? first.gate.enter("put") : -1;
    List<Runnable> loading = new ArrayList<>();
    for (Event event : scenario.events())
      arm(event, master, replicas, loading, landing);

    RefitReport report;
    try (Refit refit = group.begin(NEW)) {
      refit.clear();
      loading.forEach(Runnable::run);
      report = refit.open();
    }
    master.down(false);
    if (ticket >= 0) {
      // whatever epoch it is told now, its bytes are old
      master.put(first.store.key("stuck", epochOf(first, ticket)), OLD);
      first.gate.exit(ticket);
    }
    landing.forEach(Runnable::run);

    Statistics.label("outcome").collect(report.outcome())
        .coverage(coverage -> coverage.check(RefitOutcome.VERIFIED).percentage(share -> share > 5));
    if (report.outcome() == RefitOutcome.VERIFIED) assertFalse(master.holdsOther(NEW), report::text);
    if (report.outcome() == RefitOutcome.ISOLATED) {
      assertFalse(master.holdsOtherUnder(first.store.key("", NEW), NEW), report::text);
    }
    for (Replica replica : replicas) {
      State expected = report.accepted()
          ? State.OPEN
          : scenario.onFailure() == OnFailure.DISABLE_STORE ? State.DISABLED : State.CLOSED;
      boolean left = report.replicas().get(replicas.indexOf(replica)).left().isEmpty();
      assertEquals(left ? expected : State.CLOSED, replica.gate.state(), report::text);
      assertEquals(NEW, replica.gate.epoch());
    }
    assertTrue(report.reasons().isEmpty() == (report.outcome() == RefitOutcome.VERIFIED), report::text);
  }

  private static WeightEpoch epochOf(Replica replica, int ticket) {
    try {
      return replica.gate.epoch(ticket);
    } catch (EpochChangedException e) {
      return OLD;
    }
  }

  private static void arm(Event event, FakeMaster master, List<Replica> replicas, List<Runnable> loading,
      List<Runnable> landing) {
    if (event.point().equals("loading")) {
      loading.add(() -> happen(event, master, landing));
      return;
    }
    boolean census = event.point().equals("read") || event.point().equals("keys");
    Replica replica = replicas.get(event.replica() % replicas.size());
    Script script = census ? master.script : replica.store.script;
    for (int i = 0; i < event.hit(); i++)
      script.passes(event.point());
    switch (event.kind()) {
      case ANSWER_ZERO -> script.answers(event.point(), 0);
      case ANSWER_CODE -> script.answers(event.point(), -900);
      default -> script.does(event.point(), () -> happen(event, master, landing));
    }
  }

  private static synchronized void happen(Event event, FakeMaster master, List<Runnable> landing) {
    String key = "foreign" + event.hashCode();
    switch (event.kind()) {
      case FOREIGN_PUT -> master.put(key, OLD);
      case FOREIGN_START -> {
        master.putStart(key, OLD);
        landing.add(() -> master.putEnd(key));
      }
      case FOREIGN_END -> {
        for (int i = 0; i < 2; i++)
          master.putEnd("before" + i);
      }
      case LOSE_CANARIES -> master.lose("gatun-canary");
      case RESTART -> master.restart("start-" + key);
      case ROLE -> master.role("standby");
      case GAUGE_TOO_HIGH -> master.keyCountError(1);
      case DOWN -> master.down(true);
      case UP -> master.down(false);
      case NO_SPACE -> master.space(false);
      case SPACE -> master.space(true);
      case ANSWER_ZERO, ANSWER_CODE -> {
        // while weights load, nobody asks
      }
    }
  }
}

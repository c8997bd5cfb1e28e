package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GatunException;
import dev.gatun.fleet.FleetReport.Result;
import dev.gatun.fleet.FleetReport.Step;
import dev.gatun.refit.RefitOutcome;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One engine in one run. Touched by one thread at a time: the phases are barriers. Whatever happens becomes a step. */
final class EngineRun {
  private static final int SERVER_ERROR = 500;

  private final FleetEngine engine;
  private final EngineClient client;
  private final List<Step> steps = new ArrayList<>();
  private final Map<Phase, Result> results = new EnumMap<>(Phase.class);
  private EnginePlan plan = EnginePlan.NOTHING;
  private @Nullable Capabilities can;
  private Result probed = Result.SKIPPED;
  private Result looked = Result.SKIPPED;
  private String refusal = "";
  private String contradiction = "";
  private boolean paused;
  private boolean claimedRemoval;
  private boolean mayStillRemove;

  EngineRun(FleetEngine engine, EngineClient client) {
    this.engine = engine;
    this.client = client;
  }

  /** Asks what it is, unless it has answered that before. */
  void probe(FleetConfig config, Deadline deadline) {
    if (probed == Result.DONE) return;
    if (!engine.acts()) {
      if (steps.isEmpty()) {
        steps.add(new Step("probe", "nothing", Result.SKIPPED, 0, "rank " + engine.rank() + ": rank 0 acts for it"));
      }
      return;
    }
    probed = step("probe", "GET /list_workers, /version, /openapi.json",
        () -> switch (new Probe(engine, client, deadline).run()) {
          case Probe.Refused refused -> {
            refusal = refused.reason();
            yield new StepEnd(Result.DENIED, refusal);
          }
          case Probe.Found found -> {
            can = found.capabilities();
            plan = EnginePlan.of(engine, found.capabilities(), config);
            yield new StepEnd(Result.DONE, describe(found.capabilities()));
          }
        });
  }

  private String describe(Capabilities found) {
    String api = found.described() ? "API described" : "API not described";
    return engine.kind() + " " + found.version().text() + ", " + api + "; " + found.external().meaning();
  }

  /** Carries out a phase, unless that was done before. */
  void perform(Phase phase, Deadline deadline) {
    if (phase == Phase.PAUSE ? paused : phase != Phase.RESET && results.get(phase) == Result.DONE) return;
    if (phase == Phase.RESET) claimedRemoval = false;
    for (Action action : plan.in(phase)) {
      Result result = step(phase.word(), action.text(), () -> carryOut(action, phase, deadline));
      results.put(phase, result);
      if (removes(phase) && result == Result.NO_ANSWER) mayStillRemove = true;
      if (result != Result.DONE && result != Result.SKIPPED) break;
    }
    settle(phase);
  }

  private void settle(Phase phase) {
    boolean done = results.get(phase) == Result.DONE;
    if (phase == Phase.PAUSE) paused = done && can != null && can.pause();
    if (phase == Phase.RESUME && done) paused = false;
  }

  private StepEnd carryOut(Action action, Phase phase, Deadline deadline) {
    return switch (action) {
      case Action.Skip skip -> new StepEnd(Result.SKIPPED, skip.reason());
      case Action.Drain drain -> drain(deadline);
      case Action.Call call -> {
        EngineAnswer answer = client.send("POST", call.path(), call.body(), deadline);
        StepEnd end = answer.ok() ? call.judge().of(answer) : new StepEnd(Result.ERROR, answer.text());
        if (phase == Phase.RESET) {
          claimedRemoval = end.result() == Result.DONE && can != null
              && can.external() == Capabilities.External.CASCADES;
        }
        boolean strange = end.result() == Result.UNPROVEN && !answer.isEmpty();
        if (removes(phase) && (strange || answer.status() >= SERVER_ERROR)) mayStillRemove = true;
        yield end;
      }
    };
  }

  /** vLLM removes everything from the store in both. */
  private static boolean removes(Phase phase) {
    return phase == Phase.RESET || phase == Phase.SLEEP;
  }

  private StepEnd drain(Deadline deadline) {
    double left = Drained.await(client, deadline);
    if (left == 0) return new StepEnd(Result.DONE, "no request left; new ones are not stopped");
    return new StepEnd(Result.NO_ANSWER, left < 0
        ? "its /metrics does not say how many requests it has"
        : Math.round(left) + " requests left at the deadline");
  }

  /** Asks whether it still is paused, where it says so: anybody may have resumed it. One that sleeps is not asked. */
  void look(Deadline deadline) {
    if (!paused || can == null || !can.tellsPaused() || results.get(Phase.SLEEP) == Result.DONE) return;
    looked = step("look", "GET /is_paused", () -> {
      EngineAnswer answer = client.get("/is_paused", deadline);
      return answer.field("is_paused").asBoolean()
          ? new StepEnd(Result.DONE, answer.text())
          : new StepEnd(Result.UNPROVEN, answer.text() + ": it was paused, and is not known to be so any more");
    });
    paused = looked == Result.DONE;
  }

  private interface Work {
    StepEnd run();
  }

  private Result step(String phase, String request, Work work) {
    long start = System.nanoTime();
    StepEnd ended;
    try {
      ended = work.run();
    } catch (DeadlineException late) {
      ended = new StepEnd(Result.NO_ANSWER, String.valueOf(late.getMessage()));
    } catch (GatunException lost) {
      boolean refused = lost.getCause() instanceof ConnectException;
      ended = new StepEnd(refused ? Result.UNREACHABLE : Result.NO_ANSWER, String.valueOf(lost.getMessage()));
    }
    steps.add(new Step(phase, request, ended.result(), System.nanoTime() - start, ended.detail()));
    return ended.result();
  }

  boolean acts() {
    return engine.acts();
  }

  /** Why this address must not be refitted, empty if it may. */
  String refusal() {
    return refusal;
  }

  /**
   * Why it may still be putting into the store, empty if it says that it is not: it is paused, and its reset, which waits
   * for what its store connector was putting, is done. A pause alone stops new requests, not what is queued.
   */
  String unfenced() {
    if (!acts()) return "";
    String why = "";
    Capabilities found = can;
    if (found == null || !paused) why = "it is not known to be paused";
    else if (found.connector().absent()) return "";
    else if (found.external() != Capabilities.External.CASCADES)
      why = "its reset does not wait for its store connector";
    else if (results.get(Phase.RESET) != Result.DONE) why = "the reset that waits for its store connector is not done";
    return why.isEmpty() ? "" : engine.url() + " may still put pages: " + why;
  }

  /** Whether a removal that it asked for in any attempt may be under way still. */
  boolean mayStillRemove() {
    return mayStillRemove;
  }

  boolean claimedRemoval() {
    return claimedRemoval;
  }

  void contradict(String text) {
    contradiction = text;
  }

  /** What is worth knowing of it, empty if nothing is. */
  String note() {
    if (can == null || can.connector().known() || can.external() != Capabilities.External.CASCADES) return "";
    return engine.url() + " does not say which store connector it has; MooncakeStoreConnector is assumed";
  }

  private String foreignConnector() {
    List<String> foreign = can == null ? List.of() : can.connector().foreign();
    return foreign.isEmpty()
        ? ""
        : engine.url() + " has the connector " + String.join(", ", foreign)
            + ", of which it is not known what a reset does";
  }

  /** What its own answers leave possible. */
  RefitOutcome outcome() {
    if (!acts()) return RefitOutcome.VERIFIED;
    RefitOutcome least = foreignConnector().isEmpty() ? RefitOutcome.VERIFIED : RefitOutcome.UNVERIFIED;
    return answered().compareTo(least) > 0 ? answered() : least;
  }

  /** The worst of its answers so far. */
  RefitOutcome answered() {
    return Stream.concat(Stream.of(probed, looked), results.values().stream()).map(Result::outcome)
        .max(Comparator.naturalOrder()).orElseThrow();
  }

  /** The last step that did not end as it should, empty if all did. */
  String problem() {
    if (outcome() == RefitOutcome.VERIFIED) return "";
    if (answered() == RefitOutcome.VERIFIED) return foreignConnector();
    return steps.reversed().stream().filter(step -> step.result().outcome() != RefitOutcome.VERIFIED).findFirst()
        .map(step -> engine.url() + " " + step.phase() + ": " + step.detail()).orElse("");
  }

  /** The plan as steps that were not taken. */
  void plan(FleetPath path) {
    for (Phase phase : path.phases()) {
      if (plan.in(phase).isEmpty()) continue;
      steps.add(new Step(phase.word(), plan.text(phase), Result.SKIPPED, 0, "planned"));
    }
  }

  FleetReport.Engine report() {
    return new FleetReport.Engine(engine, can == null ? "" : can.version().text(), plan.sequence(), paused, steps,
        problem(), contradiction);
  }
}

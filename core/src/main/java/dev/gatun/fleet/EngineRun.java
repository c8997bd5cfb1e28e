package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GatunException;
import dev.gatun.fleet.FleetReport.Result;
import dev.gatun.fleet.FleetReport.Step;
import dev.gatun.refit.RefitOutcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One engine in one run. Touched by one thread at a time: the phases are barriers. Whatever happens becomes a step. */
final class EngineRun {
  private final FleetEngine engine;
  private final EngineClient client;
  private final List<Step> steps = new ArrayList<>();
  private final Map<Phase, Result> results = new EnumMap<>(Phase.class);
  private EnginePlan plan = EnginePlan.NOTHING;
  private @Nullable Capabilities can;
  private Result probed = Result.SKIPPED;
  private String refusal = "";
  private String contradiction = "";
  private boolean paused;
  private boolean claimedRemoval;

  EngineRun(FleetEngine engine, EngineClient client) {
    this.engine = engine;
    this.client = client;
  }

  void probe(FleetConfig config, Deadline deadline) {
    if (!engine.acts()) {
      steps.add(new Step("probe", "nothing", Result.SKIPPED, 0, "rank " + engine.rank() + ": rank 0 acts for it"));
      return;
    }
    probed = step("probe", "GET /list_workers, /version, /openapi.json",
        () -> switch (new Probe(engine, client, deadline).run()) {
          case Probe.Refused refused -> {
            refusal = refused.reason();
            yield new Ended(Result.DENIED, refusal);
          }
          case Probe.Found found -> {
            can = found.capabilities();
            plan = EnginePlan.of(engine, found.capabilities(), config);
            yield new Ended(Result.DONE, describe(found.capabilities()));
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
      if (result != Result.DONE && result != Result.SKIPPED) break;
    }
    note(phase);
  }

  private void note(Phase phase) {
    boolean done = results.get(phase) == Result.DONE;
    if (phase == Phase.PAUSE) paused = done && can != null && can.pause();
    if (phase == Phase.RESUME && done) paused = false;
  }

  private Ended carryOut(Action action, Phase phase, Deadline deadline) {
    return switch (action) {
      case Action.Skip skip -> new Ended(Result.SKIPPED, skip.reason());
      case Action.Drain drain -> drain(deadline);
      case Action.Call call -> {
        EngineAnswer answer = client.send("POST", call.path(), call.body(), deadline);
        boolean denied = answer.ok() && answer.json().path("success").isBoolean()
            && !answer.json().path("success").asBoolean();
        if (phase == Phase.RESET) {
          claimedRemoval = answer.ok() && answer.json().path("success").asBoolean() && can != null
              && can.external() == Capabilities.External.CASCADES;
        }
        yield new Ended(!answer.ok() ? Result.ERROR : denied ? Result.DENIED : Result.DONE, answer.text());
      }
    };
  }

  private Ended drain(Deadline deadline) {
    double left = Drained.await(client, deadline);
    if (left == 0) return new Ended(Result.DONE, "no request left; new ones are not stopped");
    return new Ended(Result.NO_ANSWER, left < 0
        ? "its /metrics does not say how many requests it has"
        : Math.round(left) + " requests left at the deadline");
  }

  private record Ended(Result result, String detail) {}

  private interface Work {
    Ended run();
  }

  private Result step(String phase, String request, Work work) {
    long start = System.nanoTime();
    Ended ended;
    try {
      ended = work.run();
    } catch (DeadlineException late) {
      ended = new Ended(Result.NO_ANSWER, String.valueOf(late.getMessage()));
    } catch (GatunException gone) {
      ended = new Ended(Result.UNREACHABLE, String.valueOf(gone.getMessage()));
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

  /** Whether it puts nothing any more. */
  boolean fenced() {
    return !acts() || paused;
  }

  /** Whether a removal that it asked for may be under way still. */
  boolean mayStillRemove() {
    return results.get(Phase.RESET) == Result.NO_ANSWER || results.get(Phase.SLEEP) == Result.NO_ANSWER;
  }

  boolean claimedRemoval() {
    return claimedRemoval;
  }

  void contradict(String text) {
    contradiction = text;
  }

  /** What its own answers leave possible. */
  RefitOutcome outcome() {
    if (!acts()) return RefitOutcome.VERIFIED;
    return Stream.concat(Stream.of(probed), results.values().stream()).map(Result::outcome)
        .max(Comparator.naturalOrder()).orElseThrow();
  }

  /** The last step that did not end as it should, empty if all did. */
  String problem() {
    if (outcome() == RefitOutcome.VERIFIED) return "";
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

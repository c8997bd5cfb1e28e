package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.fleet.FleetReport.Result;
import dev.gatun.refit.RefitOutcome;
import java.net.URI;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One engine in one run. Touched by one thread at a time: the phases are barriers. Whatever happens becomes a step. */
final class EngineRun {
  private final FleetEngine engine;
  private final StepLog log = new StepLog();
  private final Map<Phase, Result> results = new EnumMap<>(Phase.class);
  private EnginePlan plan = EnginePlan.NOTHING;
  private @Nullable Capabilities can;
  private Result probed = Result.SKIPPED;
  private Result looked = Result.SKIPPED;
  private String refusal = "";
  private String contradiction = "";
  private Hold hold = Hold.RUNS;
  private boolean claimedRemoval;
  private boolean mayStillRemove;

  EngineRun(FleetEngine engine) {
    this.engine = engine;
  }

  /** Asks what it is, unless it has answered that before. */
  void probe(FleetConfig config, EngineClient client, Deadline deadline) {
    if (probed == Result.DONE) return;
    if (!engine.acts()) {
      if (log.steps().isEmpty()) log.skip("probe", "nothing", "rank " + engine.rank() + ": rank 0 acts for it");
      return;
    }
    probed = log.time("probe", "GET /list_workers, /version, /openapi.json",
        () -> switch (new Probe(engine, client, deadline).run()) {
          case Probe.Refused refused -> {
            refusal = refused.reason();
            yield StepEnd.of(Result.DENIED, refusal);
          }
          case Probe.Found found -> {
            can = found.capabilities();
            plan = EnginePlan.of(engine, found.capabilities(), config);
            yield StepEnd.of(Result.DONE, engine.kind() + " " + found.capabilities().text());
          }
        }).result();
  }

  /** Carries out a phase, unless that was done before. */
  void perform(Phase phase, EngineClient client, Deadline deadline) {
    if (phase == Phase.PAUSE ? hold == Hold.FENCED : phase != Phase.RESET && results.get(phase) == Result.DONE) return;
    if (phase == Phase.RESET) claimedRemoval = false;
    ActionRun run = new ActionRun(client, deadline);
    for (Action action : plan.in(phase)) {
      boolean sent = !deadline.reached();
      Hold before = hold;
      if (sent && changesHold(phase)) hold = Hold.UNKNOWN; // also if no answer comes, or the refit is broken off meanwhile
      StepEnd end = log.time(phase.word(), action.text(), () -> run.carryOut(action));
      if (phase == Phase.RESUME && stayed(end)) hold = before;
      results.put(phase, end.result());
      settle(phase, action, end.result());
      if (removes(phase)) mayStillRemove |= end.mayGoOn() || (sent && end.result() == Result.NO_ANSWER);
      if (end.result() != Result.DONE && end.result() != Result.SKIPPED) break;
    }
  }

  private boolean changesHold(Phase phase) {
    return phase == Phase.PAUSE ? can != null && can.pause() : phase == Phase.RESUME && hold != Hold.RUNS;
  }

  /** Whether an order was not given, or was refused for certain. */
  private static boolean stayed(StepEnd end) {
    return switch (end.result()) {
      case SKIPPED, DENIED -> true;
      case ERROR -> !end.mayGoOn();
      case DONE, UNPROVEN, NO_ANSWER, UNREACHABLE -> false;
    };
  }

  private void settle(Phase phase, Action action, Result result) {
    boolean done = result == Result.DONE && action instanceof Action.Call;
    if (result == Result.UNREACHABLE || (phase == Phase.RESUME && done)) hold = Hold.RUNS;
    if (phase == Phase.PAUSE && done && hold == Hold.UNKNOWN) hold = Hold.FENCED;
    if (phase == Phase.RESET) claimedRemoval = done && can != null && can.external() == Capabilities.External.CASCADES;
  }

  /** vLLM removes everything from the store in both. */
  private static boolean removes(Phase phase) {
    return phase == Phase.RESET || phase == Phase.SLEEP;
  }

  /** Asks whether it still is paused, where it says so: anybody may have resumed it. One that sleeps is not asked. */
  void look(EngineClient client, Deadline deadline) {
    if (hold == Hold.RUNS || can == null || !can.tellsPaused() || results.get(Phase.SLEEP) == Result.DONE) return;
    Hold before = hold;
    hold = Hold.UNKNOWN;
    Result result = log.time("look", "GET /is_paused", () -> {
      EngineAnswer answer = client.get("/is_paused", deadline);
      if (answer.states("is_paused", true)) {
        hold = before == Hold.FENCED ? Hold.FENCED : Hold.PAUSED;
        return StepEnd.of(Result.DONE, answer.text());
      }
      if (answer.states("is_paused", false)) hold = Hold.RUNS;
      return StepEnd.of(Result.UNPROVEN, answer.text() + (before == Hold.UNKNOWN
          ? ": it is not known to be paused"
          : ": it was paused, and is not known to be so any more"));
    }).result();
    if (before == Hold.FENCED) looked = result;
    if (result == Result.UNREACHABLE) hold = Hold.RUNS;
  }

  URI url() {
    return engine.url();
  }

  boolean acts() {
    return engine.acts();
  }

  /** Why this address must not be refitted, empty if it may. */
  String refusal() {
    return refusal;
  }

  /** Why it may still be putting into the store, empty if it says that it is not. */
  String unfenced() {
    if (!acts()) return "";
    String why = can == null || hold != Hold.FENCED
        ? "it is not known to be paused"
        : can.unfenced(results.get(Phase.RESET) == Result.DONE);
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
    return can != null && can.assumesConnector()
        ? engine.url() + " does not say which store connector it has; MooncakeStoreConnector is assumed"
        : "";
  }

  private String foreignConnector() {
    String foreign = can == null ? "" : String.join(", ", can.connector().foreign());
    return foreign.isEmpty()
        ? ""
        : engine.url() + " has the connector " + foreign + ", of which it is not known what a reset does";
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
    return log.lastUnproven().map(step -> engine.url() + " " + step.phase() + ": " + step.detail()).orElse("");
  }

  /** The plan as steps that were not taken. */
  void plan(FleetPath path) {
    for (Phase phase : path.phases()) {
      if (!plan.in(phase).isEmpty()) log.skip(phase.word(), plan.text(phase), "planned");
    }
  }

  FleetReport.Engine report() {
    return new FleetReport.Engine(engine, can == null ? "" : can.version().text(), plan.sequence(),
        hold == Hold.FENCED || hold == Hold.PAUSED, hold == Hold.UNKNOWN, log.steps(), problem(), contradiction);
  }
}

package dev.gatun.fleet;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitOutcome;
import dev.gatun.refit.RefitReport;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a fleet's refit did to each engine and to the store, and what it proved. Immutable. {@link #text} is for people,
 * {@link #map} for JSON.
 *
 * @param outcome the verdict: the worst of the store's and the engines'
 * @param epoch the epoch the refit was for
 * @param path where in the training step
 * @param attempts attempts made
 * @param nanos from the first question to the end
 * @param reasons why the outcome is not VERIFIED; empty if it is
 * @param notes what else is worth knowing
 * @param phases in order, all attempts; each ended for all engines before the next began
 * @param engines every engine of the configuration
 * @param store what the store's own refit did, in the last attempt that reached it
 * @param sentinel what became of the object that shows late removals; empty if none was put
 */
public record FleetReport(FleetOutcome outcome, WeightEpoch epoch, FleetPath path, int attempts, long nanos,
    List<String> reasons, List<String> notes, List<PhaseTime> phases, List<Engine> engines,
    Optional<RefitReport> store, String sentinel) {

  /** Makes the lists immutable. */
  public FleetReport {
    reasons = List.copyOf(reasons);
    notes = List.copyOf(notes);
    phases = List.copyOf(phases);
    engines = List.copyOf(engines);
  }

  /**
   * One phase.
   *
   * @param name its name
   * @param nanos until the last engine was through
   */
  public record PhaseTime(String name, long nanos) {}

  /** How a step ended. */
  public enum Result {
    /** Answered with success. */
    DONE,
    /** Nothing was sent, for the reason given. */
    SKIPPED,
    /** Answered that it was not done. */
    DENIED,
    /** Answered with an error. */
    ERROR,
    /** Answered, and the answer does not show that it was done. */
    UNPROVEN,
    /** Not answered in time, or the connection was lost: it may have been done, or be done yet. */
    NO_ANSWER,
    /** The connection was refused: nobody was there to ask. */
    UNREACHABLE;

    /** What it leaves possible. */
    RefitOutcome outcome() {
      return switch (this) {
        case DONE, SKIPPED -> RefitOutcome.VERIFIED;
        case UNPROVEN, NO_ANSWER -> RefitOutcome.UNVERIFIED;
        case DENIED, ERROR, UNREACHABLE -> RefitOutcome.FAILED;
      };
    }
  }

  /**
   * One step of one engine.
   *
   * @param phase its phase
   * @param request what was sent, or would be
   * @param result how it ended
   * @param nanos how long it took
   * @param detail what was answered
   */
  public record Step(String phase, String request, Result result, long nanos, String detail) {}

  /**
   * One engine.
   *
   * @param engine as configured
   * @param version as it states it; empty if it did not
   * @param sequence what is done to such an engine: {@code pause-reset-resume}, {@code drain-reset}, or {@code none}
   * @param paused whether it says that it is paused, and was not seen to be resumed since
   * @param mayBePaused whether it was told to pause, and nobody knows what became of that
   * @param steps in order, of all attempts
   * @param problem what keeps the refit from VERIFIED; empty if nothing does
   * @param contradiction where it reported a success that the store does not bear out; empty if nowhere
   */
  public record Engine(FleetEngine engine, String version, String sequence, boolean paused, boolean mayBePaused,
      List<Step> steps, String problem, String contradiction) {
    /** Makes the list immutable. */
    public Engine {
      steps = List.copyOf(steps);
    }

    private String address() {
      return engine.url().toString();
    }
  }

  /** {@return addresses of engines that say that they are paused, and were not seen to be resumed since} */
  public List<String> paused() {
    return engines.stream().filter(Engine::paused).map(Engine::address).toList();
  }

  /** {@return addresses of engines that were told to pause, and of which nobody knows what became of that} */
  public List<String> mayBePaused() {
    return engines.stream().filter(Engine::mayBePaused).map(Engine::address).toList();
  }

  /** {@return a table for people, several lines, each ending in a newline} */
  public String text() {
    return FleetText.of(this);
  }

  /** {@return strings, numbers, booleans, lists and maps in a fixed order, as a JSON writer wants them} */
  public Map<String, Object> map() {
    return FleetText.map(this);
  }
}

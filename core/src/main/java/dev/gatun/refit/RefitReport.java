package dev.gatun.refit;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import java.util.List;
import java.util.Map;

/**
 * What a refit did, step by step, and what it proved. Immutable. {@link #text} is for people, {@link #map} for JSON.
 *
 * @param epoch the epoch the refit was for
 * @param previous the epoch in force before; the same when a refit was tried again
 * @param outcome the verdict
 * @param accepted whether the policy lets the gate open with it
 * @param reasons why the outcome is not VERIFIED; empty if it is
 * @param notes what else is worth knowing; does not touch the outcome
 * @param attempts attempts made, 0 if {@code clear} was never called
 * @param removed objects that the removals reported, our own canaries included
 * @param resets resets so far, this one included: refits whose removal was judged
 * @param removedTotal objects removed by all of them
 * @param nanos from closing the gates to the verdict
 * @param steps steps in order, of all attempts
 * @param replicas every replica that took part
 * @param stores every store that was cleared, with what it answered in the last attempt
 */
public record RefitReport(WeightEpoch epoch, WeightEpoch previous, RefitOutcome outcome, boolean accepted,
    List<String> reasons, List<String> notes, int attempts, long removed, long resets, long removedTotal, long nanos,
    List<Step> steps, List<Replica> replicas, List<Store> stores) {

  /** Makes the lists immutable. */
  public RefitReport {
    reasons = List.copyOf(reasons);
    notes = List.copyOf(notes);
    steps = List.copyOf(steps);
    replicas = List.copyOf(replicas);
    stores = List.copyOf(stores);
  }

  /**
   * One step.
   *
   * @param name a constant name
   * @param nanos its duration
   * @param detail what came of it
   */
  public record Step(String name, long nanos, String detail) {}

  /**
   * One replica of the group; a coordinator alone is one replica.
   *
   * @param name its name in the group
   * @param gate what its gate lets through now
   * @param left why it left the group during this refit; empty if it did not
   */
  public record Replica(String name, EpochGate.State gate, String left) {}

  /**
   * What one store answered.
   *
   * @param replica whose store it is
   * @param name the store
   * @param census where the master's counters come from; empty if there are none
   * @param passes forced removals sent
   * @param removed objects they reported
   * @param canary what became of the canary
   * @param keyCount objects the master knew at the end, -1 if it was not asked or did not say
   * @param foreignPuts puts during the refit that were not ours, -1 if unknown
   * @param leftovers names of objects that were left, as many as the policy asks for
   */
  public record Store(String replica, String name, String census, int passes, long removed, String canary,
      long keyCount, long foreignPuts, List<String> leftovers) {
    /** Makes the list immutable. */
    public Store {
      leftovers = List.copyOf(leftovers);
    }
  }

  /** {@return whether every replica's gate is fully open} */
  public boolean open() {
    return replicas.stream().allMatch(replica -> replica.gate() == EpochGate.State.OPEN);
  }

  /**
   * {@return this report, if the policy accepts its outcome}
   *
   * @throws RefitException if it does not: compute without the store, or begin the refit again
   */
  public RefitReport orThrow() {
    if (!accepted) throw new RefitException(this);
    return this;
  }

  /** {@return a table for people, several lines, each ending in a newline} */
  public String text() {
    return RefitText.of(this);
  }

  /** {@return strings, numbers, booleans, lists and maps in a fixed order, as a JSON writer wants them} */
  public Map<String, Object> map() {
    return RefitText.map(this);
  }
}

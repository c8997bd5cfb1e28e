package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateControl;
import dev.gatun.backend.Quiescable;
import java.util.ArrayList;
import java.util.List;

/** One replica in one refit. Touched with the run's turn held. */
final class Member {
  private final RefitCoordinator coordinator;
  private final String name;
  private List<String> pending = List.of();
  private String left = "";
  private boolean ended;
  // guarded by the group
  private final List<Holder> holders = new ArrayList<>();
  private boolean abandoned;
  private long removed;

  /** What a drain left behind. */
  record Quiet(int failed, List<String> pending) {}

  Member(RefitCoordinator coordinator, String name) {
    this.coordinator = coordinator;
    this.name = name;
  }

  RefitCoordinator coordinator() {
    return coordinator;
  }

  String name() {
    return name;
  }

  EpochGate gate() {
    return coordinator.gate();
  }

  GateControl control() {
    return coordinator.control();
  }

  /** Its stores now: one may open while a refit runs. */
  List<StorePort> ports() {
    return coordinator.ports();
  }

  /** Own operations that have not ended, one line each. */
  List<String> pending() {
    return pending;
  }

  void pending(List<String> value) {
    pending = value;
  }

  /** Why this replica left the group during the refit, empty if it did not. */
  String left() {
    return left;
  }

  void leave(String reason) {
    left = reason;
  }

  /** A bracket was made for this replica; called with the group locked. */
  void hold(Holder holder) {
    if (holders.isEmpty()) abandoned = false;
    holders.add(holder);
  }

  /**
   * A bracket was left; called with the group locked. True if the replica has no other one and was not opened by it:
   * weights may be half loaded.
   */
  boolean release(Holder holder) {
    holders.remove(holder);
    if (!holder.wantsOpen()) abandoned = true;
    return holders.isEmpty() && abandoned && !ended;
  }

  int holders() {
    return holders.size();
  }

  /**
   * Opens the gate, unless somebody else in a bracket for this replica has not asked for it, or left without asking:
   * his weights may not be loaded. Called with the group locked.
   */
  boolean open() {
    if (!left.isEmpty() || abandoned || !holders.stream().allMatch(Holder::wantsOpen)) return false;
    control().open(EpochGate.State.OPEN);
    return true;
  }

  /** Opens the gate with the store disabled; called with the group locked. */
  void disable() {
    if (left.isEmpty()) control().open(EpochGate.State.DISABLED);
  }

  void removed(long objects) {
    removed += objects;
  }

  /** Objects removed since this was last asked. */
  long takeRemoved() {
    long since = removed;
    removed = 0;
    return since;
  }

  /** Whether a bracket of this replica has ended the refit. */
  boolean ended() {
    return ended;
  }

  /** Ends the refit for this replica; true the first time. */
  boolean end() {
    boolean first = !ended;
    ended = true;
    return first;
  }

  boolean registered(StorePort port) {
    return gate().parts().stream().anyMatch(part -> part.equals(port.store()));
  }

  RefitReport.Replica report() {
    return new RefitReport.Replica(name, gate().state(), left);
  }

  /** Fails what is queued, then waits until gate and parts are quiet; on the replica's own lane. */
  static Quiet drain(EpochGate gate, Deadline deadline) {
    int failed = 0;
    List<String> pending = new ArrayList<>();
    for (Quiescable part : gate.parts()) {
      try {
        failed += part.failQueued();
      } catch (RuntimeException e) {
        pending.add(part.name() + " could not fail what is queued: " + e.getMessage());
      }
    }
    long inside = gate.awaitDrained(deadline);
    if (inside > 0) pending.add(inside + " operations inside the gate");
    pending.addAll(gate.drainParts(deadline));
    return new Quiet(failed, pending);
  }

  /** Makes every part forget; on the replica's own lane. Says which could not. */
  static List<String> clearLocal(EpochGate gate) {
    List<String> problems = new ArrayList<>();
    for (Quiescable part : gate.parts()) {
      try {
        part.clearLocal();
      } catch (RuntimeException e) {
        problems.add(part.name() + " could not clear its local state: " + e.getMessage());
      }
    }
    return problems;
  }
}

package dev.gatun.refit;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateControl;
import dev.gatun.backend.Observer;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.WeightEpoch;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs the refits of one replica: the only object that closes and opens its gate. Usable by any thread.
 *
 * <p>A refit to the epoch in force joins the one that is running or succeeded, and gets its report; if that failed, it
 * tries again. A lower epoch is refused, and so is another one while somebody is in a bracket, since he may be loading
 * weights. Replicas that share a master belong into one {@link RefitGroup}.
 */
public final class RefitCoordinator {
  private final EpochGate gate;
  private final GateControl control;
  private final RefitPolicy policy;
  private final Observer observer;
  private final Lane lane = new Lane("gate");
  // guarded by this
  private final List<StorePort> ports = new ArrayList<>();
  private long resets;
  private long removed;
  private @Nullable RefitReport lastReport;
  private volatile RefitGroup group;

  /**
   * Takes charge of a gate. Asks each master for its counters in the background, so that later puts of clients that no
   * gate stops are noticed.
   *
   * @param gate closed and opened by this object alone from now on
   * @param stores every store that is used through this gate; the gate tells of one that opens later
   * @param policy for refits of this replica alone; a {@link RefitGroup} brings its own
   * @param observer sees each refit that ends
   * @throws IllegalStateException if the gate has a coordinator already
   * @throws IllegalArgumentException if a store is not registered with the gate, which could then not stop its puts
   */
  public RefitCoordinator(EpochGate gate, List<? extends RefitStore> stores, RefitPolicy policy, Observer observer) {
    this.gate = gate;
    this.policy = policy;
    this.observer = observer;
    List<Quiescable> parts = gate.parts();
    for (RefitStore store : stores) {
      if (parts.stream().noneMatch(store::equals)) {
        throw new IllegalArgumentException(store.name() + " is not registered with this gate");
      }
    }
    control = gate.claim(this::met);
    group = RefitGroup.solo(policy, this);
    ports();
  }

  /**
   * Closes the gate, raises the epoch and drains: fails what is queued, waits for what has started. Blocks, up to half of
   * the policy's deadline.
   *
   * @param next the epoch of the weights to come, as the trainer numbers them
   * @return the bracket; whether everything has drained shows in its report
   * @throws IllegalArgumentException if {@code next} is missing or lower than one that was in force; nothing was done
   * @throws IllegalStateException if a refit to another epoch still has a bracket, or this replica has left its group;
   *     nothing was done
   */
  public Refit begin(WeightEpoch next) {
    return group.begin(next, this);
  }

  /**
   * A whole refit without weights to load: begin, clear, open. Blocks, up to the policy's deadline, or as long as its
   * attempts and back-offs take.
   *
   * @param next as for {@link #begin}
   * @return the report; see {@link RefitReport#orThrow}
   * @throws IllegalArgumentException as {@link #begin}
   * @throws IllegalStateException as {@link #begin}
   */
  public RefitReport refit(WeightEpoch next) {
    try (Refit refit = begin(next)) {
      refit.clear();
      return refit.open();
    }
  }

  /** {@return the gate} */
  public EpochGate gate() {
    return gate;
  }

  /** {@return resets so far: refits of this replica that have ended} */
  public synchronized long resets() {
    return resets;
  }

  /** {@return objects that all of them removed through this replica's stores, canaries included} */
  public synchronized long removed() {
    return removed;
  }

  /** {@return the report of the last refit that ended} */
  public synchronized Optional<RefitReport> lastReport() {
    return Optional.ofNullable(lastReport);
  }

  GateControl control() {
    return control;
  }

  Lane lane() {
    return lane;
  }

  RefitGroup group() {
    return group;
  }

  void group(RefitGroup value) {
    group = value;
  }

  /** Leaves any group. */
  void alone() {
    group = RefitGroup.solo(policy, this);
  }

  /** Every store ever registered with the gate that was not forgotten since, open or closed. */
  synchronized List<StorePort> ports() {
    for (Quiescable part : gate.parts()) {
      if (part instanceof RefitStore store) met(store);
    }
    return List.copyOf(ports);
  }

  private synchronized void met(RefitStore store) {
    if (ports.stream().noneMatch(port -> port.store().equals(store))) ports.add(new StorePort(store));
  }

  /** Drops a store that was closed, and whose master was seen empty through another. */
  synchronized void forget(StorePort port) {
    ports.remove(port);
  }

  /** {@return calls that have not come back, one line each: what they do may be done late; empty if none} */
  public List<String> unfinished() {
    List<String> lines = new ArrayList<>();
    if (gate.inside() > 0) lines.add(gate.inside() + " operations inside the gate");
    if (!lane.running().isEmpty()) lines.add(lane.running());
    for (StorePort port : ports()) {
      if (!port.lane().running().isEmpty()) lines.add(port.name() + ": " + port.lane().running());
    }
    return lines;
  }

  /** A refit of this replica ended, or ended again differently. Returns what the observer threw, if it did. */
  Optional<String> ended(RefitReport report, long objects, boolean first) {
    synchronized (this) {
      lastReport = report;
      removed += objects;
      if (first) resets++;
    }
    if (!first) return Optional.empty();
    try {
      observer.onReset(report.epoch(), report.outcome().name(), objects, report.nanos());
      return Optional.empty();
    } catch (RuntimeException | LinkageError e) {
      return Optional.of("an observer threw " + e);
    }
  }
}

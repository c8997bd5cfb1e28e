package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.refit.RefitOutcome;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.refit.RefitReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One run: probe, then attempts, then what follows from the verdict. Used by one thread. */
final class FleetRun implements AutoCloseable {
  // as refits of one store back off; unmeasured default
  private static final long BACK_OFF_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  // a removal that was queued behind what has just ended shows at once; unmeasured default
  private static final Duration WATCH_MIN = Duration.ofSeconds(1);
  private static final String LATE = "a removal may still run";

  private final FleetConfig config;
  private final EngineFleet engines;
  private final List<String> notes = new ArrayList<>();
  private final List<FleetStore> stores = new ArrayList<>();
  private final long startNanos = System.nanoTime();
  private final Sentinel sentinel;
  private int attempts;
  private @Nullable StoreVerdict verdict;
  private boolean storeMayRemove;
  private List<String> unfenced = List.of();

  FleetRun(FleetConfig config) {
    this.config = config;
    sentinel = new Sentinel(config.epoch());
    engines = new EngineFleet(config);
  }

  FleetReport plan() {
    return reported(this::planned);
  }

  FleetReport run() {
    return reported(this::refitted);
  }

  /** Ends in a report, whatever happens: engines may be paused by then. */
  private FleetReport reported(Supplier<FleetReport> work) {
    try {
      return nothing().orElseGet(work);
    } catch (RuntimeException | Error broken) {
      List<String> reasons = new ArrayList<>(List.of("broken off: "
          + (broken instanceof InterruptedRunException ? broken.getMessage() : broken)));
      reasons.addAll(reasons());
      if (mayStillRemove()) reasons.add(LATE);
      return report(FleetOutcome.FAILED, reasons, "");
    }
  }

  private Optional<FleetReport> nothing() {
    if (config.nodeRank() != 0) {
      notes.add("node rank " + config.nodeRank() + ": rank 0 acts");
      return Optional.of(report(FleetOutcome.SKIPPED, List.of(), ""));
    }
    return engines.nobodyActs()
        ? Optional.of(report(FleetOutcome.REFUSED, List.of("no engine of rank 0 is named: nobody would act"), ""))
        : Optional.empty();
  }

  private FleetReport planned() {
    Deadline deadline = Deadline.after(config.deadline());
    List<String> refusals = probe(deadline);
    if (!refusals.isEmpty()) return report(FleetOutcome.REFUSED, refusals, "");
    RefitOutcome answered = engines.answered();
    FleetStore store = newStore();
    try {
      store.open(FleetStore.share(deadline, 4));
      noteOwners(store, deadline);
    } catch (RuntimeException cannot) {
      notes.add("a refit would be refused, store: " + cannot.getMessage());
    }
    if (Thread.currentThread().isInterrupted()) throw new InterruptedRunException();
    engines.plan();
    notes.addAll(engines.notes());
    return report(answered == RefitOutcome.VERIFIED ? FleetOutcome.PLANNED : FleetOutcome.of(answered), reasons(), "");
  }

  private FleetReport refitted() {
    Deadline deadline = Deadline.after(config.deadline());
    List<String> refusals = probe(deadline);
    if (!refusals.isEmpty()) return report(FleetOutcome.REFUSED, refusals, "");
    FleetStore store = newStore();
    try {
      store.open(FleetStore.share(deadline, 4));
    } catch (RuntimeException cannot) {
      return report(FleetOutcome.REFUSED, List.of("store: " + cannot.getMessage()), "");
    }
    noteOwners(store, deadline);
    if (Thread.currentThread().isInterrupted()) throw new InterruptedRunException(); // nothing is paused yet
    attempt(store, deadline);
    int max = config.onFailure() == OnFailure.RETRY ? config.attemptsMax() : 1;
    while (ofAttempt() != RefitOutcome.VERIFIED && attempts < max) {
      LockSupport.parkNanos(BACK_OFF_NANOS << Math.min(attempts - 1, 10));
      deadline = Deadline.after(config.deadline());
      store = newStore();
      engines.probe(FleetStore.share(deadline, 4));
      attempt(store, deadline);
    }
    if (Thread.currentThread().isInterrupted()) throw new InterruptedRunException();
    notes.addAll(engines.notes());
    return outcome() == RefitOutcome.VERIFIED ? succeed(store) : fail();
  }

  private void noteOwners(FleetStore store, Deadline deadline) {
    String warning = store.warning(FleetStore.share(deadline, 8));
    if (!warning.isEmpty()) notes.add(warning);
  }

  private FleetStore newStore() {
    FleetStore store = new FleetStore(config);
    stores.add(store);
    return store;
  }

  private List<String> probe(Deadline deadline) {
    Deadline half = FleetStore.share(deadline, 2);
    return engines.time("probe", () -> {
      engines.probe(half);
      return engines.refusals();
    });
  }

  private void attempt(FleetStore store, Deadline deadline) {
    attempts++;
    for (Phase phase : config.path().phases()) {
      if (phase == Phase.STORE) {
        engines.look(FleetStore.share(deadline, 4));
        unfenced = engines.unfenced();
        StoreVerdict now = engines.time(phase.word(), () -> store.reset(unfenced.isEmpty(), deadline));
        verdict = now;
        storeMayRemove |= now.mayStillRemove();
        return;
      }
      engines.perform(phase, FleetStore.share(deadline, 2));
    }
  }

  /**
   * Everything is proven: the new epoch gets its sentinel, and then the engines may go on, if they are paused still and
   * late removals can be seen.
   */
  private FleetReport succeed(FleetStore store) {
    sentinel.plant(store::port, quarter());
    engines.look(quarter());
    if (config.path().phases().contains(Phase.RESUME) && sentinel.planted() && outcome() == RefitOutcome.VERIFIED) {
      engines.perform(Phase.RESUME, quarter());
    }
    store.port().ifPresent(port -> sentinel.watch(port, Deadline.after(config.watch()), quarter()));
    return watched(sentinel.doubt().isEmpty() ? RefitOutcome.VERIFIED : RefitOutcome.UNVERIFIED, reasons());
  }

  /** All stay paused. If a removal may still run, it is watched. */
  private FleetReport fail() {
    StoreVerdict of = verdict;
    if (of != null) {
      if (!of.reached()) {
        engines.contradict("it reported success, but the store does not answer: nothing bears out a removal");
      } else if (of.left() > 0) {
        engines.contradict("it reported success, but the store holds " + of.left() + " objects");
      }
      if (of.seenEmpty()) notes.add("the store was seen empty; what is missing concerns the engines");
    }
    if (!mayStillRemove()) return report(FleetOutcome.of(outcome()), reasons(), "");
    FleetStore other = newStore(); // whatever hangs, hangs in the first
    Duration time = config.watch().compareTo(WATCH_MIN) < 0 ? WATCH_MIN : config.watch();
    Deadline planting = Deadline.after(time);
    sentinel.plant(() -> {
      other.open(planting);
      return other.port();
    }, planting);
    Deadline end = Deadline.after(time);
    other.port().ifPresent(port -> sentinel.watch(port, end, end));
    List<String> reasons = new ArrayList<>(reasons());
    reasons.add(LATE);
    return watched(RefitOutcome.UNVERIFIED, reasons);
  }

  private FleetReport watched(RefitOutcome best, List<String> reasons) {
    List<String> all = new ArrayList<>(reasons);
    if (!sentinel.doubt().isEmpty()) all.add(sentinel.doubt());
    return report(FleetOutcome.of(worse(best, outcome())), all, sentinel.text());
  }

  private Deadline quarter() {
    return Deadline.after(config.deadline().dividedBy(4));
  }

  /** Of any attempt: a later one that goes well does not call back what an earlier one sent. */
  private boolean mayStillRemove() {
    return storeMayRemove || engines.mayStillRemove();
  }

  /** What all attempts together leave possible. */
  private RefitOutcome outcome() {
    return worse(ofAttempt(), mayStillRemove() ? RefitOutcome.UNVERIFIED : RefitOutcome.VERIFIED);
  }

  private RefitOutcome ofAttempt() {
    return worse(verdict == null ? RefitOutcome.FAILED : verdict.outcome(), engines.outcome());
  }

  private static RefitOutcome worse(RefitOutcome one, RefitOutcome other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  private List<String> reasons() {
    List<String> reasons = new ArrayList<>(engines.problems());
    reasons.addAll(unfenced);
    if (verdict != null) verdict.reasons().forEach(reason -> reasons.add("store: " + reason));
    return reasons;
  }

  private FleetReport report(FleetOutcome outcome, List<String> reasons, String watched) {
    Optional<RefitReport> store = Optional.ofNullable(verdict).flatMap(StoreVerdict::report);
    return new FleetReport(outcome, config.epoch(), config.path(), attempts, System.nanoTime() - startNanos, reasons,
        notes, engines.phases(), engines.reports(), store, watched);
  }

  @Override
  public void close() {
    stores.forEach(FleetStore::close);
  }
}

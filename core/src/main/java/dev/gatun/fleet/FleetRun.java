package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.fleet.FleetReport.PhaseTime;
import dev.gatun.internal.http.HttpCaller;
import dev.gatun.refit.RefitOutcome;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.refit.RefitReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** One run: probe, then attempts, then what follows from the verdict. Used by one thread. */
final class FleetRun implements AutoCloseable {
  // as refits of one store back off; unmeasured default
  private static final long BACK_OFF_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final Duration CONNECT_MAX = Duration.ofSeconds(5);
  // a removal that was queued behind what has just ended shows at once; unmeasured default
  private static final Duration WATCH_MIN = Duration.ofSeconds(1);
  private static final String LATE = "a removal may still run";

  private final FleetConfig config;
  private final HttpCaller caller = new HttpCaller("the engine", "check the address, and that the engine runs",
      CONNECT_MAX);
  private final List<EngineRun> engines;
  private final List<PhaseTime> phases = new ArrayList<>();
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
    engines = config.engines().stream().map(engine -> new EngineRun(engine, new EngineClient(caller, engine.url())))
        .toList();
  }

  FleetReport plan() {
    Optional<FleetReport> nothing = nothing();
    if (nothing.isPresent()) return nothing.get();
    List<String> refusals = probe(Deadline.after(config.deadline()));
    if (!refusals.isEmpty()) return report(FleetOutcome.REFUSED, refusals, "");
    RefitOutcome answered = engines.stream().map(EngineRun::answered).max(Comparator.naturalOrder()).orElseThrow();
    engines.forEach(engine -> engine.plan(config.path()));
    notes();
    return report(answered == RefitOutcome.VERIFIED ? FleetOutcome.PLANNED : FleetOutcome.of(answered), reasons(), "");
  }

  /** Ends in a report, whatever happens: engines may be paused by then. */
  FleetReport run() {
    try {
      return refit();
    } catch (RuntimeException | Error broken) {
      List<String> reasons = new ArrayList<>(List.of("broken off: " + broken));
      reasons.addAll(reasons());
      if (mayStillRemove()) reasons.add(LATE);
      return report(FleetOutcome.FAILED, reasons, "");
    }
  }

  private FleetReport refit() {
    Optional<FleetReport> nothing = nothing();
    if (nothing.isPresent()) return nothing.get();
    Deadline deadline = Deadline.after(config.deadline());
    List<String> refusals = probe(deadline);
    if (!refusals.isEmpty()) return report(FleetOutcome.REFUSED, refusals, "");
    FleetStore store = newStore();
    try {
      store.open(FleetStore.share(deadline, 4));
    } catch (RuntimeException cannot) {
      return report(FleetOutcome.REFUSED, List.of("store: " + cannot.getMessage()), "");
    }
    attempt(store, deadline);
    int max = config.onFailure() == OnFailure.RETRY ? config.attemptsMax() : 1;
    while (ofAttempt() != RefitOutcome.VERIFIED && attempts < max) {
      LockSupport.parkNanos(BACK_OFF_NANOS << Math.min(attempts - 1, 10));
      deadline = Deadline.after(config.deadline());
      store = newStore();
      attempt(store, deadline);
    }
    notes();
    return outcome() == RefitOutcome.VERIFIED ? succeed(store) : fail();
  }

  private void notes() {
    engines.stream().map(EngineRun::note).filter(note -> !note.isEmpty()).forEach(notes::add);
  }

  private Optional<FleetReport> nothing() {
    if (config.nodeRank() != 0) {
      notes.add("node rank " + config.nodeRank() + ": rank 0 acts");
      return Optional.of(report(FleetOutcome.SKIPPED, List.of(), ""));
    }
    return engines.stream().anyMatch(EngineRun::acts)
        ? Optional.empty()
        : Optional.of(report(FleetOutcome.REFUSED, List.of("no engine of rank 0 is named: nobody would act"), ""));
  }

  private FleetStore newStore() {
    FleetStore store = new FleetStore(config);
    stores.add(store);
    return store;
  }

  private List<String> probe(Deadline deadline) {
    all("probe", FleetStore.share(deadline, 2), (engine, until) -> engine.probe(config, until));
    return engines.stream().map(EngineRun::refusal).filter(reason -> !reason.isEmpty()).toList();
  }

  private void attempt(FleetStore store, Deadline deadline) {
    attempts++;
    if (attempts > 1) each("probe", FleetStore.share(deadline, 4), (engine, until) -> engine.probe(config, until));
    for (Phase phase : config.path().phases()) {
      if (phase == Phase.STORE) {
        each("look", FleetStore.share(deadline, 4), EngineRun::look);
        unfenced = engines.stream().map(EngineRun::unfenced).filter(reason -> !reason.isEmpty()).toList();
        StoreVerdict now = time(phase.word(), () -> store.reset(unfenced.isEmpty(), deadline));
        verdict = now;
        storeMayRemove |= now.mayStillRemove();
        return;
      }
      all(phase.word(), FleetStore.share(deadline, 2), (engine, until) -> engine.perform(phase, until));
    }
  }

  /**
   * Everything is proven: the new epoch gets its sentinel, and then the engines may go on, if they are paused still and
   * late removals can be seen.
   */
  private FleetReport succeed(FleetStore store) {
    sentinel.plant(store::port, quarter());
    each("look", quarter(), EngineRun::look);
    if (config.path().phases().contains(Phase.RESUME) && sentinel.planted() && outcome() == RefitOutcome.VERIFIED) {
      all(Phase.RESUME.word(), quarter(), (engine, until) -> engine.perform(Phase.RESUME, until));
    }
    store.port().ifPresent(port -> sentinel.watch(port, Deadline.after(config.watch()), quarter()));
    return watched(sentinel.doubt().isEmpty() ? RefitOutcome.VERIFIED : RefitOutcome.UNVERIFIED, reasons());
  }

  /** All stay paused. If a removal may still run, it is watched. */
  private FleetReport fail() {
    contradict();
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
    return storeMayRemove || engines.stream().anyMatch(EngineRun::mayStillRemove);
  }

  /** Sets what engines claim beside what the store says. */
  private void contradict() {
    StoreVerdict of = verdict;
    if (of == null) return;
    for (EngineRun engine : engines) {
      if (!engine.claimedRemoval()) continue;
      if (!of.reached()) {
        engine.contradict("it reported success, but the store does not answer: nothing bears out a removal");
      } else if (of.left() > 0) {
        engine.contradict("it reported success, but the store holds " + of.left() + " objects");
      }
    }
    if (of.seenEmpty()) notes.add("the store was seen empty; what is missing concerns the engines");
  }

  /** What all attempts together leave possible. */
  private RefitOutcome outcome() {
    return worse(ofAttempt(), mayStillRemove() ? RefitOutcome.UNVERIFIED : RefitOutcome.VERIFIED);
  }

  private RefitOutcome ofAttempt() {
    RefitOutcome worst = verdict == null ? RefitOutcome.FAILED : verdict.outcome();
    for (EngineRun engine : engines)
      worst = worse(worst, engine.outcome());
    return worst;
  }

  private static RefitOutcome worse(RefitOutcome one, RefitOutcome other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  private List<String> reasons() {
    List<String> reasons = new ArrayList<>();
    engines.stream().map(EngineRun::problem).filter(problem -> !problem.isEmpty()).forEach(reasons::add);
    reasons.addAll(unfenced);
    if (verdict != null) verdict.reasons().forEach(reason -> reasons.add("store: " + reason));
    return reasons;
  }

  /** A phase of every engine. */
  private void all(String phase, Deadline deadline, BiConsumer<EngineRun, Deadline> work) {
    time(phase, () -> each(phase, deadline, work));
  }

  /** Does something with every engine at once, and waits for all. */
  private int each(String what, Deadline deadline, BiConsumer<EngineRun, Deadline> work) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<? extends Future<?>> running = engines.stream()
          .map(engine -> threads.submit(() -> work.accept(engine, deadline))).toList();
      for (Future<?> one : running)
        one.get();
      return running.size();
    } catch (ExecutionException bug) {
      throw new IllegalStateException(what, bug.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted in phase " + what + "; engines may be paused", stopped);
    }
  }

  private interface Work<T> {
    T run();
  }

  private <T> T time(String phase, Work<T> work) {
    long start = System.nanoTime();
    T result = work.run();
    phases.add(new PhaseTime(phase, System.nanoTime() - start));
    return result;
  }

  private FleetReport report(FleetOutcome outcome, List<String> reasons, String watched) {
    Optional<RefitReport> store = Optional.ofNullable(verdict).flatMap(StoreVerdict::report);
    return new FleetReport(outcome, config.epoch(), config.path(), attempts, System.nanoTime() - startNanos, reasons,
        notes, phases, engines.stream().map(EngineRun::report).toList(), store, watched);
  }

  @Override
  public void close() {
    stores.forEach(FleetStore::close);
    caller.close();
  }
}

package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.fleet.FleetReport.PhaseTime;
import dev.gatun.internal.http.HttpCaller;
import dev.gatun.refit.RefitOutcome;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.refit.RefitReport;
import java.time.Duration;
import java.util.ArrayList;
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

  FleetRun(FleetConfig config) {
    this.config = config;
    sentinel = new Sentinel(config.epoch());
    engines = config.engines().stream().map(engine -> new EngineRun(engine, new EngineClient(caller, engine.url())))
        .toList();
  }

  FleetReport plan() {
    if (notHere()) return report(FleetOutcome.SKIPPED, List.of(), "");
    List<String> refusals = probe(Deadline.after(config.deadline()));
    if (!refusals.isEmpty()) return report(FleetOutcome.REFUSED, refusals, "");
    engines.forEach(engine -> engine.plan(config.path()));
    return report(FleetOutcome.PLANNED, List.of(), "");
  }

  FleetReport run() {
    if (notHere()) return report(FleetOutcome.SKIPPED, List.of(), "");
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
    while (outcome() != RefitOutcome.VERIFIED && attempts < max) {
      LockSupport.parkNanos(BACK_OFF_NANOS << Math.min(attempts - 1, 10));
      deadline = Deadline.after(config.deadline());
      store = newStore();
      attempt(store, deadline);
    }
    return outcome() == RefitOutcome.VERIFIED ? succeed(store) : fail(deadline);
  }

  private boolean notHere() {
    if (config.nodeRank() != 0) notes.add("node rank " + config.nodeRank() + ": rank 0 acts");
    else if (engines.stream().noneMatch(EngineRun::acts)) notes.add("no engine of rank 0 is named");
    return !notes.isEmpty();
  }

  private FleetStore newStore() {
    FleetStore store = new FleetStore(config, caller);
    stores.add(store);
    return store;
  }

  private List<String> probe(Deadline deadline) {
    all("probe", FleetStore.share(deadline, 2), (engine, until) -> engine.probe(config, until));
    return engines.stream().map(EngineRun::refusal).filter(reason -> !reason.isEmpty()).toList();
  }

  private void attempt(FleetStore store, Deadline deadline) {
    attempts++;
    for (Phase phase : config.path().phases()) {
      if (phase == Phase.STORE) {
        boolean fenced = engines.stream().allMatch(EngineRun::fenced);
        verdict = time(phase.word(), () -> store.reset(fenced, deadline));
        return;
      }
      all(phase.word(), FleetStore.share(deadline, 2), (engine, until) -> engine.perform(phase, until));
    }
  }

  /** Everything is proven: the new epoch gets its sentinel, and then the engines may go on. */
  private FleetReport succeed(FleetStore store) {
    Deadline look = Deadline.after(config.deadline().dividedBy(4));
    sentinel.plant(store::port, look, Deadline.after(Duration.ZERO));
    if (config.path().phases().contains(Phase.RESUME)) {
      all(Phase.RESUME.word(), look, (engine, until) -> engine.perform(Phase.RESUME, until));
    }
    store.port().ifPresent(port -> sentinel.watch(port, Deadline.after(config.watch()), look));
    List<String> reasons = new ArrayList<>(reasons());
    RefitOutcome outcome = outcome();
    if (sentinel.lost()) {
      reasons.add("late wipe: the sentinel of " + config.epoch() + " is gone");
      if (outcome == RefitOutcome.VERIFIED) outcome = RefitOutcome.UNVERIFIED;
    }
    return report(FleetOutcome.of(outcome), reasons, sentinel.text());
  }

  /** All stay paused. If a removal may still run, it is watched for as long as there is time. */
  private FleetReport fail(Deadline deadline) {
    contradict();
    List<String> reasons = new ArrayList<>(reasons());
    if (!mayStillRemove()) return report(FleetOutcome.of(outcome()), reasons, "");
    reasons.add("a removal may still run");
    FleetStore other = newStore(); // whatever hangs, hangs in the first
    sentinel.plant(() -> {
      other.open(deadline);
      return other.port();
    }, deadline, deadline);
    other.port().ifPresent(port -> sentinel.watch(port, deadline, deadline));
    if (sentinel.lost()) reasons.add("late wipe: the sentinel of " + config.epoch() + " is gone");
    return report(FleetOutcome.of(outcome()), reasons, sentinel.text());
  }

  private boolean mayStillRemove() {
    return (verdict != null && verdict.mayStillRemove()) || engines.stream().anyMatch(EngineRun::mayStillRemove);
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
    if (of.outcome() == RefitOutcome.VERIFIED) {
      notes.add("the store is verified empty; what engines refused concerns their own pages");
    }
  }

  private RefitOutcome outcome() {
    RefitOutcome worst = verdict == null ? RefitOutcome.FAILED : verdict.outcome();
    for (EngineRun engine : engines) {
      if (engine.outcome().compareTo(worst) > 0) worst = engine.outcome();
    }
    return worst;
  }

  private List<String> reasons() {
    List<String> reasons = new ArrayList<>();
    engines.stream().map(EngineRun::problem).filter(problem -> !problem.isEmpty()).forEach(reasons::add);
    if (verdict != null) verdict.reasons().forEach(reason -> reasons.add("store: " + reason));
    return reasons;
  }

  /** Does something with every engine at once, and waits for all. */
  private void all(String phase, Deadline deadline, BiConsumer<EngineRun, Deadline> work) {
    time(phase, () -> {
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<? extends Future<?>> running = engines.stream()
            .map(engine -> threads.submit(() -> work.accept(engine, deadline))).toList();
        for (Future<?> one : running)
          one.get();
        return running.size();
      } catch (ExecutionException bug) {
        throw new IllegalStateException(phase, bug.getCause());
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted in phase " + phase + "; engines may be paused", stopped);
      }
    });
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

package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.fleet.FleetReport.PhaseTime;
import dev.gatun.internal.http.HttpCaller;
import dev.gatun.refit.RefitOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Supplier;

/** The engines of a run, which go from phase to phase together. Used by one thread. */
final class EngineFleet {
  private static final Duration CONNECT_MAX = Duration.ofSeconds(5);

  private final FleetConfig config;
  private final List<EngineRun> engines;
  private final List<PhaseTime> phases = new ArrayList<>();

  EngineFleet(FleetConfig config) {
    this.config = config;
    engines = config.engines().stream().map(EngineRun::new).toList();
  }

  /** What is done with one engine. */
  interface Work {
    void on(EngineRun engine, EngineClient client, Deadline deadline);
  }

  /** A phase of every engine. */
  void perform(Phase phase, Deadline deadline) {
    time(phase.word(), () -> each(deadline, (engine, client, until) -> engine.perform(phase, client, until)));
  }

  /** Asks all that have not said what they are. */
  void probe(Deadline deadline) {
    each(deadline, (engine, client, until) -> engine.probe(config, client, until));
  }

  /** Asks whether those that are paused still are. */
  void look(Deadline deadline) {
    each(deadline, EngineRun::look);
  }

  /** Does something with every engine at once, and waits for all, or until the thread is interrupted. */
  private int each(Deadline deadline, Work work) {
    // seen by no wait, if all answered at that moment: what engines have said so far stands
    if (Thread.currentThread().isInterrupted()) throw new InterruptedRunException();
    // connections of their own: one that was kept alive over a phase may be closed just when an order is sent on it
    try (HttpCaller caller = new HttpCaller("the engine", "check the address, and that the engine runs", CONNECT_MAX);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      return awaitAll(threads, engines.stream().map(engine -> threads.submit(
          () -> work.on(engine, new EngineClient(caller, engine.url()), deadline))).toList());
    }
  }

  private static int awaitAll(ExecutorService threads, List<? extends Future<?>> running) {
    try {
      for (Future<?> one : running)
        one.get();
      return running.size();
    } catch (ExecutionException bug) {
      throw new IllegalStateException("internal error", bug.getCause());
    } catch (InterruptedException stopped) {
      threads.shutdownNow(); // ends what each waits for, and so the close of these threads
      Thread.currentThread().interrupt();
      throw new InterruptedRunException();
    }
  }

  <T> T time(String phase, Supplier<T> work) {
    long start = System.nanoTime();
    try {
      return work.get();
    } finally {
      phases.add(new PhaseTime(phase, System.nanoTime() - start));
    }
  }

  List<PhaseTime> phases() {
    return phases;
  }

  boolean nobodyActs() {
    return engines.stream().noneMatch(EngineRun::acts);
  }

  List<String> refusals() {
    return texts(EngineRun::refusal);
  }

  List<String> unfenced() {
    return texts(EngineRun::unfenced);
  }

  List<String> problems() {
    return texts(EngineRun::problem);
  }

  List<String> notes() {
    return texts(EngineRun::note);
  }

  private List<String> texts(Function<EngineRun, String> text) {
    return engines.stream().map(text).filter(said -> !said.isEmpty()).toList();
  }

  /** Whether a removal that one of them asked for may be under way still. */
  boolean mayStillRemove() {
    return engines.stream().anyMatch(EngineRun::mayStillRemove);
  }

  /** What their own answers leave possible. */
  RefitOutcome outcome() {
    return worst(EngineRun::outcome);
  }

  /** The worst of their answers so far. */
  RefitOutcome answered() {
    return worst(EngineRun::answered);
  }

  private RefitOutcome worst(Function<EngineRun, RefitOutcome> outcome) {
    return engines.stream().map(outcome).max(Comparator.naturalOrder()).orElseThrow();
  }

  /** Sets what they claim of the store beside what it says itself. */
  void contradict(String text) {
    engines.stream().filter(EngineRun::claimedRemoval).forEach(engine -> engine.contradict(text));
  }

  void plan() {
    engines.forEach(engine -> engine.plan(config.path()));
  }

  List<FleetReport.Engine> reports() {
    return engines.stream().map(EngineRun::report).toList();
  }
}

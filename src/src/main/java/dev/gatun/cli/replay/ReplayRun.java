package dev.gatun.cli.replay;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Drives all replicas through the steps of a trace: within a step they run freely, each on a thread of its own; at a
 * step boundary they meet, and refit together. All gates are closed before the first removal, and none opens before the
 * last verification.
 */
final class ReplayRun implements AutoCloseable {
  private static final String RUN = "replay";

  private final List<? extends Replica> replicas;
  private final List<ExecutorService> threads = new ArrayList<>();
  private final long boundaries;
  private final @Nullable MasterSwitch failingMaster;
  private final RefitTally refits = new RefitTally();
  private volatile long resets;

  /**
   * Prepares a run.
   *
   * @param replicas open, and in one refit group if they share this process
   * @param boundaries step boundaries of the trace
   * @param failingMaster fails during each removal, null for none
   */
  ReplayRun(List<? extends Replica> replicas, long boundaries, @Nullable MasterSwitch failingMaster) {
    this.replicas = replicas;
    this.boundaries = boundaries;
    this.failingMaster = failingMaster;
    for (int i = 0; i < replicas.size(); i++) {
      threads.add(Executors.newSingleThreadExecutor(Thread.ofPlatform().name("replica-" + i).factory()));
    }
  }

  /** {@return the epoch of a step} */
  static WeightEpoch epoch(long step) {
    return new WeightEpoch(RUN, step);
  }

  /** Opens all stores. */
  void open() {
    all(replicas, replica -> {
      replica.open();
      return true;
    });
  }

  /** Runs to the end of the trace, or until a refit leaves a gate closed or a store has stopped working. */
  void run() {
    for (long step = 0;; step++) {
      long current = step;
      List<Boolean> goOn = all(replicas, replica -> replica.runStep(current));
      if (goOn.contains(false) || step == boundaries || !refit(step + 1)) return;
      resets = step + 1;
    }
  }

  private boolean refit(long step) {
    List<? extends Replica> followers = replicas.subList(1, replicas.size());
    List<? extends Replica> leader = replicas.subList(0, 1);
    // The leader takes the master's counters when it begins, so the others must have stopped by then.
    all(followers, replica -> begin(replica, step));
    all(leader, replica -> begin(replica, step));
    if (failingMaster != null) failingMaster.fail();
    try {
      all(replicas, replica -> {
        replica.clear();
        return true;
      });
    } finally {
      if (failingMaster != null) failingMaster.mend();
    }
    List<RefitSummary> verdict = new ArrayList<>(all(leader, Replica::endRefit));
    if (verdict.getFirst().open()) verdict.addAll(all(followers, Replica::endRefit));
    return refits.add(verdict);
  }

  private static boolean begin(Replica replica, long step) {
    replica.beginRefit(epoch(step));
    return true;
  }

  /** {@return the refits so far} */
  RefitTally refits() {
    return refits;
  }

  /** {@return what all replicas did, added up} */
  ReplicaFigures figures() {
    ReplicaFigures sum = new ReplicaFigures();
    for (ReplicaFigures figures : all(replicas, Replica::figures))
      sum.add(figures);
    return sum;
  }

  /** {@return requests replayed so far; any thread} */
  long requestsDone() {
    return replicas.stream().mapToLong(Replica::requestsDone).sum();
  }

  /** {@return resets so far; any thread} */
  long resets() {
    return resets;
  }

  /** Runs a call in each replica's thread and waits for all; the first that fails makes the others stop early. */
  private <T> List<T> all(List<? extends Replica> chosen, Function<Replica, T> call) {
    List<CompletableFuture<T>> calls = new ArrayList<>();
    for (Replica replica : chosen) {
      calls.add(CompletableFuture.supplyAsync(() -> call.apply(replica), threads.get(replicas.indexOf(replica)))
          .whenComplete((done, failure) -> {
            if (failure != null) replicas.forEach(Replica::cancel);
          }));
    }
    RuntimeException first = null;
    List<T> answers = new ArrayList<>();
    for (CompletableFuture<T> running : calls) {
      try {
        answers.add(running.join());
      } catch (CompletionException failed) {
        RuntimeException cause = unwrap(failed);
        if (first == null) first = cause;
        else
          first.addSuppressed(cause);
      }
    }
    if (first != null) throw first;
    return answers;
  }

  private static RuntimeException unwrap(CompletionException failed) {
    return failed.getCause() instanceof RuntimeException cause
        ? cause
        : new IllegalStateException(Failure.message(failed), failed);
  }

  /** Closes all stores. */
  @Override
  public void close() {
    try {
      all(replicas, replica -> {
        replica.close();
        return true;
      });
    } finally {
      threads.forEach(ExecutorService::shutdown);
    }
  }
}

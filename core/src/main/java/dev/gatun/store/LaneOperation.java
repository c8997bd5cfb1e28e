package dev.gatun.store;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One accepted operation: the work, the future that tells how it ended, and what to give back when native code is done
 * with it, which may be later than the end that the caller sees. Whether the work was begun decides who gives back.
 */
final class LaneOperation<T> {
  final CompletableFuture<T> future = new CompletableFuture<>();
  final int keys;
  private final String name;
  private final Function<Lane, T> work;
  private final Runnable giveBack;
  private final AtomicBoolean taken = new AtomicBoolean();
  private volatile @Nullable Future<?> timer;

  @SuppressWarnings("FutureReturnValueIgnored") // the future that the action belongs to tells nobody anything
  LaneOperation(String name, int keys, Function<Lane, T> work, Runnable giveBack) {
    this.name = name;
    this.keys = keys;
    this.work = work;
    this.giveBack = giveBack;
    future.whenComplete((result, failure) -> ended());
  }

  /** {@return what lets one lane end} */
  static LaneOperation<Boolean> end() {
    return new LaneOperation<>("end", 0, lane -> {
      lane.end();
      return true;
    }, () -> {});
  }

  void timer(Future<?> deadline) {
    timer = deadline;
    if (future.isDone()) deadline.cancel(false);
  }

  /** Runs it, unless it ended while it waited. */
  void run(Lane lane) {
    if (!taken.compareAndSet(false, true)) return;
    T result;
    try {
      result = work.apply(lane);
    } catch (RuntimeException | Error e) {
      giveBack.run();
      future.completeExceptionally(e);
      return;
    }
    giveBack.run();
    future.complete(result);
  }

  /** Ends it for its caller. {@return whether it had not ended before} */
  boolean fail(RuntimeException reason) {
    return future.completeExceptionally(reason);
  }

  /** {@return whether its work was begun, or never will be} */
  boolean isTaken() {
    return taken.get();
  }

  private void ended() {
    Future<?> deadline = timer;
    if (deadline != null) deadline.cancel(false);
    if (taken.compareAndSet(false, true)) giveBack.run();
  }

  @Override
  public String toString() {
    return name + " of " + keys + " keys";
  }
}

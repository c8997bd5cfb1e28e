package dev.gatun.internal.ffm;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/**
 * Runs native code that spoils the thread it runs on: creating a store can block signals in the calling thread for good,
 * and every thread and process started from it would inherit that.
 */
public final class ThrowAwayThread {
  private ThrowAwayThread() {}

  /**
   * Runs the work on a platform thread of its own, which then ends. Blocks until it is done; an interrupt does not cut
   * that short, since the native call cannot be, and is pending again afterwards.
   *
   * @param name of the thread
   * @param work what to run
   * @param <T> type of the result
   * @return its result
   */
  public static <T> T call(String name, Supplier<T> work) {
    FutureTask<T> task = new FutureTask<>(work::get);
    Thread.ofPlatform().daemon().name(name).start(task);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return task.get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw rethrown(e);
        }
      }
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  /** What the work threw, with the caller's stack attached: its own stack ends at the thread. */
  private static RuntimeException rethrown(ExecutionException failure) {
    return switch (failure.getCause()) {
      case Error error -> throw error;
      case RuntimeException e -> {
        e.addSuppressed(failure);
        yield e;
      }
      case null, default -> new IllegalStateException(failure);
    };
  }
}

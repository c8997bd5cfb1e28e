package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Native calls that know no deadline, on platform threads of their own, so that whoever waits for them can give up. */
final class BoundedCalls {
  // peers that answer nothing hold one each, for a minute at most; unmeasured default
  private static final int THREADS_MAX = 32;

  private final ThreadPoolExecutor threads;

  BoundedCalls(String name) {
    threads = new ThreadPoolExecutor(0, THREADS_MAX, 10, TimeUnit.SECONDS, new SynchronousQueue<>(),
        Thread.ofPlatform().daemon().name("gatun-call " + name + ' ', 0).factory());
  }

  /** {@return what the call returns, unless the deadline comes first; the call then goes on by itself} */
  <T> T within(String what, Deadline deadline, Supplier<T> call) {
    FutureTask<T> task = new FutureTask<>(call::get);
    try {
      threads.execute(task);
    } catch (RejectedExecutionException e) {
      throw new TooManyRequestsException(what + " refused: " + threads.getActiveCount()
          + " calls to peers wait for an answer");
    }
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return task.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException e) {
          throw new DeadlineException(what + " has not returned by its deadline");
        } catch (ExecutionException e) {
          throw rethrown(e);
        }
      }
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  /** {@return calls that have not returned} */
  int running() {
    return threads.getActiveCount();
  }

  /** Runs a call that nobody waits for. */
  void start(Runnable call) {
    try {
      threads.execute(call);
    } catch (RejectedExecutionException e) {
      throw new TooManyRequestsException(
          "refused: " + threads.getActiveCount() + " calls to peers wait for an answer, or the engine is closed");
    }
  }

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

  void close() {
    threads.shutdown();
  }
}

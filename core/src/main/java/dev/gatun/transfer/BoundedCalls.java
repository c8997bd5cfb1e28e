package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Native calls that know no deadline, on platform threads of their own, so that whoever waits for them can give up. One
 * peer that answers nothing holds up no other.
 */
final class BoundedCalls {
  /** Calls to one peer at a time: one that answers nothing holds each for a minute at most. Unmeasured default. */
  static final int PEER_MAX = 32;

  private final ThreadPoolExecutor threads;
  private final Map<String, Integer> running = new ConcurrentHashMap<>();

  BoundedCalls(String name) {
    threads = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(),
        Thread.ofPlatform().daemon().name("gatun-call " + name + ' ', 0).factory());
  }

  /** {@return what the call returns, unless the deadline comes first; the call then goes on by itself} */
  <T> T within(String operation, String peer, Deadline deadline, Supplier<T> call) {
    String what = operation + ' ' + peer;
    FutureTask<T> task = new FutureTask<>(call::get);
    countIn(what, peer);
    try {
      threads.execute(() -> {
        try {
          task.run();
        } finally {
          countOut(peer);
        }
      });
    } catch (RejectedExecutionException e) {
      countOut(peer);
      throw new ClosedException(what + " refused: the engine is closed");
    } catch (Error noThread) {
      countOut(peer);
      throw noThread;
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

  private void countIn(String what, String peer) {
    if (running.merge(peer, 1, Integer::sum) <= PEER_MAX) return;
    countOut(peer);
    throw new TooManyRequestsException(what + " refused: " + PEER_MAX + " calls to it wait for an answer");
  }

  private void countOut(String peer) {
    running.computeIfPresent(peer, (name, count) -> count == 1 ? null : count - 1);
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

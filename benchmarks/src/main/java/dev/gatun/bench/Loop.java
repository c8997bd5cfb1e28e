package dev.gatun.bench;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Does something again and again on a thread of its own, until it is closed or that fails. Between two turns it computes, as
 * hosts do, or rather leaves its core to others: six loops that never rest keep a refit waiting for a core, not for them.
 */
final class Loop implements AutoCloseable {
  // some thousand turns a second; unmeasured default
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final Future<?> work;
  private volatile boolean over;

  Loop(Runnable turn) {
    work = thread.submit(() -> {
      while (!over) {
        turn.run();
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    });
  }

  /** Fails if a turn has failed. */
  void requireRunning() {
    if (work.isDone()) end();
  }

  private void end() {
    try {
      work.get();
    } catch (ExecutionException failed) {
      throw new IllegalStateException("broke off", failed.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", stopped);
    }
  }

  /** Waits for the turn that runs. */
  @Override
  public void close() {
    over = true;
    thread.close();
    end();
  }
}

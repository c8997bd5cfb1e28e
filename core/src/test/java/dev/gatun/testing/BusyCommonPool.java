package dev.gatun.testing;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;

/** Holds every thread of the common pool until it is closed, as a host does whose tasks wait for an answer of ours. */
public final class BusyCommonPool implements AutoCloseable {
  private final CountDownLatch end = new CountDownLatch(1);

  private BusyCommonPool() {}

  /** Waits until each thread is held. */
  public static BusyCommonPool hold() throws InterruptedException {
    BusyCommonPool pool = new BusyCommonPool();
    int threads = ForkJoinPool.getCommonPoolParallelism();
    CountDownLatch held = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      ForkJoinPool.commonPool().execute(() -> {
        held.countDown();
        pool.await();
      });
    }
    held.await();
    return pool;
  }

  private void await() {
    try {
      end.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    end.countDown();
  }
}

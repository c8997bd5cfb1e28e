package dev.gatun.connector;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Copies many pieces of memory, the caller and some threads beside it taking them in turns. The caller waits for every piece,
 * and for no thread that has none: on a busy machine it does all by itself. One caller at a time.
 */
final class CopyLanes implements AutoCloseable {
  // as many copies at once as memory has bandwidth for; unmeasured default
  private static final int LANES_MAX = 4;
  // 512 KiB: one thread takes 50 us for it, about as long as another takes to wake
  private static final long SHARED_BYTES_MIN = 512L << 10;
  // so long without a copy, and the threads end; the next one starts them again. Unmeasured default
  private static final long IDLE_SECONDS = 10;

  private final int helpers;
  private final ExecutorService threads;

  CopyLanes(String name) {
    this(name, Math.clamp(Runtime.getRuntime().availableProcessors(), 1, LANES_MAX) - 1);
  }

  /**
   * @param helpers threads beside the caller
   */
  CopyLanes(String name, int helpers) {
    this.helpers = helpers;
    ThreadPoolExecutor pool = new ThreadPoolExecutor(Math.max(1, helpers), Math.max(1, helpers), IDLE_SECONDS,
        TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
        Thread.ofPlatform().daemon().name("gatun-copy " + name + ' ', 0).factory());
    pool.allowCoreThreadTimeOut(true);
    threads = pool;
  }

  /**
   * Copies pieces 0 to {@code count}, in no order, and returns when all are done; what one throws, too, is thrown then.
   *
   * @param count pieces
   * @param pieceBytes bytes each
   * @param copy copies the piece of a number, on any thread
   */
  void each(int count, long pieceBytes, IntConsumer copy) {
    if (helpers == 0 || count * pieceBytes < SHARED_BYTES_MIN) {
      for (int i = 0; i < count; i++)
        copy.accept(i);
      return;
    }
    AtomicInteger next = new AtomicInteger();
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    CountDownLatch left = new CountDownLatch(count);
    Runnable lane = () -> {
      for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
        try {
          copy.accept(i);
        } catch (RuntimeException | Error e) { // the others go on
          thrown.compareAndSet(null, e);
        } finally {
          left.countDown();
        }
      }
    };
    for (int i = 0; i < Math.min(helpers, count - 1); i++)
      tryStart(lane);
    lane.run();
    await(left);
    if (thrown.get() instanceof Error e) throw e;
    if (thrown.get() instanceof RuntimeException e) throw e;
  }

  /** Whatever a thread cannot be had for, the caller copies. */
  private void tryStart(Runnable lane) {
    try {
      threads.execute(lane);
    } catch (RejectedExecutionException | OutOfMemoryError none) {
      // closed, or no more threads
    }
  }

  /** Also when interrupted: others are still copying. */
  private static void await(CountDownLatch left) {
    boolean interrupted = false;
    while (left.getCount() > 0) {
      try {
        left.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}

package dev.gatun.internal.device;

import dev.gatun.device.DeviceException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A queue of work items, done in order by a thread of its own. */
final class HostStream {
  private final ExecutorService thread = Executors
      .newSingleThreadExecutor(Thread.ofPlatform().daemon().name("gatun-host-stream-", 0).factory());
  private final AtomicInteger pending = new AtomicInteger();
  private final Consumer<DeviceException> onFailure;

  HostStream(Consumer<DeviceException> onFailure) {
    this.onFailure = onFailure;
  }

  void queue(Runnable work) {
    pending.incrementAndGet();
    thread.execute(() -> {
      try {
        work.run();
      } catch (DeviceException failure) {
        onFailure.accept(failure);
      } finally {
        pending.decrementAndGet();
      }
    });
  }

  boolean isIdle() {
    return pending.get() == 0;
  }

  /** Takes no more work; what is queued goes on. */
  void destroy() {
    thread.shutdown();
  }

  /** Waits, in a stream's thread, for what an event stood for when the wait was queued. */
  static void await(CountDownLatch mark) {
    try {
      mark.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts a stream's thread", e);
    }
  }
}

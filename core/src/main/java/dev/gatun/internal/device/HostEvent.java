package dev.gatun.internal.device;

import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** What was recorded last, and when it was done. */
final class HostEvent {
  private volatile @Nullable CountDownLatch last;
  private volatile long doneNanos;

  void record(HostStream stream) {
    CountDownLatch mark = new CountDownLatch(1);
    last = mark;
    stream.queue(() -> {
      doneNanos = System.nanoTime();
      mark.countDown();
    });
  }

  void holdUp(HostStream stream) {
    CountDownLatch mark = last;
    if (mark != null) stream.queue(() -> HostStream.await(mark));
  }

  boolean isDone() {
    CountDownLatch mark = last;
    return mark == null || mark.getCount() == 0;
  }

  long doneNanos() {
    return doneNanos;
  }
}

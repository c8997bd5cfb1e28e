package dev.gatun.device;

import dev.gatun.backend.DeadlineException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps the queue of a stream shorter than the driver's. A call on a queue that is full waits inside of the driver, where it
 * keeps a carrier thread and locks that calls for other streams need. So whoever is too far ahead waits here, before the call
 * and with no context bound. Usable by any thread; allocates nothing.
 */
final class QueueBound {
  // the driver 580.159.04 takes 1,021 copies before a call waits (the raw probe's "queue"); the largest step is some 130
  static final int OPERATIONS_MAX = 832;
  private static final int OPERATIONS_A_MARK = 64;
  private static final int MARKS = OPERATIONS_MAX / OPERATIONS_A_MARK - 1; // and what comes after the last of them
  // 512 operations take milliseconds; a GPU that ends none of the oldest 64 in this time is stuck; unmeasured default
  private static final long PATIENCE_SECONDS = 60;

  private final DeviceStream stream;
  private final AtomicLong admitted = new AtomicLong();
  private final ReentrantLock marking = new ReentrantLock();
  private final long[] marks = new long[MARKS]; // events, 0 if not made yet; under marking
  private int oldest;

  QueueBound(DeviceStream stream) {
    this.stream = stream;
  }

  /**
   * Waits until there is room. The stream is open, and does not close meanwhile; no context is bound and no lock is held that
   * others need.
   */
  void admit(int operations) {
    long before = admitted.getAndAdd(operations);
    long crossed = (before + operations) / OPERATIONS_A_MARK - before / OPERATIONS_A_MARK;
    if (crossed == 0) return;
    marking.lock();
    try {
      for (; crossed > 0; crossed--)
        mark();
    } finally {
      marking.unlock();
    }
  }

  /** Waits for the oldest mark, and makes it the newest. */
  private void mark() {
    Device device = stream.device();
    CudaDriver driver = device.driver();
    if (marks[oldest] != 0) await(device, marks[oldest]);
    device.bind();
    try {
      if (marks[oldest] == 0) marks[oldest] = driver.createEvent(false);
      driver.record(marks[oldest], stream.handle());
    } finally {
      device.unbind();
    }
    oldest = (oldest + 1) % MARKS;
  }

  private void await(Device device, long mark) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    for (int round = 0; !isDone(device, mark); round++) {
      long remainingNanos = end - System.nanoTime();
      if (remainingNanos <= 0) {
        throw new DeadlineException(
            stream + " is full: " + OPERATIONS_MAX + " operations are queued, of which the oldest"
                + " have not ended within " + PATIENCE_SECONDS + " s; the GPU is still working");
      }
      Pause.before(round, remainingNanos);
    }
  }

  private static boolean isDone(Device device, long event) {
    device.bind();
    try {
      return device.driver().isDone(event);
    } finally {
      device.unbind();
    }
  }

  /** Frees the marks, with the context bound; nothing is queued any more. */
  void destroy() {
    for (int i = 0; i < MARKS; i++) {
      if (marks[i] != 0) stream.device().driver().destroyEvent(marks[i]);
      marks[i] = 0;
    }
  }
}

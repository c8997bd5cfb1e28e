package dev.gatun.bench;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;

/** A peer whose loop is in Java: the same loop as in C, a clock around each operation and the removal outside. */
abstract class TimedPeer implements StorePeer {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Runs an operation once and checks every key's outcome, as the C loop does. */
  abstract void runOnce(StoreOperation operation);

  @Override
  public final void run(StoreOperation operation, int iterations, MemorySegment nanos) {
    for (int i = 0; i < iterations; i++) {
      nanos.setAtIndex(ValueLayout.JAVA_LONG, i, timedNanos(operation));
      if (operation.isPut()) removeAll();
    }
  }

  @Override
  public final long allocatedBytes(StoreOperation operation, int iterations) {
    long bytes = 0;
    for (int i = 0; i < iterations; i++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      runOnce(operation);
      bytes += THREADS.getCurrentThreadAllocatedBytes() - before;
      if (operation.isPut()) removeAll();
    }
    return bytes;
  }

  private long timedNanos(StoreOperation operation) {
    long start = System.nanoTime();
    runOnce(operation);
    return System.nanoTime() - start;
  }
}

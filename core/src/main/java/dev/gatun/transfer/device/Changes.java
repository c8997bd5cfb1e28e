package dev.gatun.transfer.device;

import dev.gatun.backend.Deadline;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Wakes whoever waits for a state that other threads change. One of those who wait at a time looks by itself before it sleeps. */
final class Changes {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final AtomicBoolean looking = new AtomicBoolean();

  /** Something has changed. */
  void happened() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the state is there, the deadline, or an interrupt, which stays set.
   *
   * @param state asked again and again, with and without a lock
   * @return whether it is there
   */
  boolean await(BooleanSupplier state, Deadline deadline) {
    if (looking.compareAndSet(false, true)) {
      try {
        if (look(state, deadline)) return true;
      } finally {
        looking.set(false);
      }
    }
    return sleep(state, deadline);
  }

  @SuppressWarnings("ThreadPriorityCheck") // on few cores whoever is waited for must get one at once
  private static boolean look(BooleanSupplier state, Deadline deadline) {
    long until = System.nanoTime() + LinkChannel.AWAKE_NANOS;
    while (System.nanoTime() - until < 0 && !deadline.reached() && !Thread.currentThread().isInterrupted()) {
      if (state.getAsBoolean()) return true;
      Thread.yield();
    }
    return false;
  }

  private boolean sleep(BooleanSupplier state, Deadline deadline) {
    lock.lock();
    try {
      while (!state.getAsBoolean()) {
        long leftNanos = deadline.remainingNanos();
        if (leftNanos == 0) return false;
        changed.awaitNanos(leftNanos);
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }
}

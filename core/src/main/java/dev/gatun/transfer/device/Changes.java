package dev.gatun.transfer.device;

import dev.gatun.backend.Deadline;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Wakes whoever waits for a state that other threads change. */
final class Changes {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  /** Something has changed. */
  void happened() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the state is there, the deadline, or an interrupt, which stays set. {@return whether it is there} */
  boolean await(BooleanSupplier state, Deadline deadline) {
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

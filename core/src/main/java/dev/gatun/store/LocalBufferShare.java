package dev.gatun.store;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Shares out the library's local buffer among copying puts: the library refuses a put when the buffer is merely busy, and
 * its code for that says as much as for a bad argument. Waits in order of arrival.
 */
final class LocalBufferShare {
  // 4 KiB: the step in which local buffers are sized
  private static final long UNIT_BYTES = 4096;

  private final long bytes;
  private final Semaphore units;

  LocalBufferShare(long bytes) {
    this.bytes = bytes;
    units = new Semaphore(units(bytes), true);
  }

  /** Refuses what could never be put. */
  void requireRoom(long objectBytes) {
    if (objectBytes > bytes) {
      throw new IllegalArgumentException("value of " + objectBytes + " bytes, stamp included, does not fit into the "
          + "local buffer of " + bytes + " bytes; raise localBufferBytes, or put it from a block");
    }
  }

  /** Blocks until there is room. */
  void acquire(long objectBytes, Deadline deadline) {
    // an interrupt ends a wait, it does not refuse a put that has none; nobody is passed who waits already
    if (!units.hasQueuedThreads() && units.tryAcquire(units(objectBytes))) return;
    String reason = "which other puts use; raise localBufferBytes, or put from blocks";
    try {
      if (units.tryAcquire(units(objectBytes), deadline.remainingNanos(), TimeUnit.NANOSECONDS)) return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      reason = "which other puts use, and was interrupted";
    }
    throw new DeadlineException(
        "put waited for " + objectBytes + " bytes of the local buffer of " + bytes + " bytes, " + reason);
  }

  void release(long objectBytes) {
    units.release(units(objectBytes));
  }

  private static int units(long size) {
    return (int) Math.min(Integer.MAX_VALUE, Math.ceilDiv(size, UNIT_BYTES));
  }
}

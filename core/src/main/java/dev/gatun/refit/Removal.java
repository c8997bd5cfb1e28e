package dev.gatun.refit;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.RefitStore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Forced removals, repeated until a pass finds nothing and the master knows of no put in flight, which a pass skips.
 *
 * @param passes removals sent
 * @param removed objects they reported
 * @param passed whether one was answered without an error: what was complete before is gone
 * @param problem why the end was not reached; empty if it was
 */
record Removal(int passes, long removed, boolean passed, String problem) {
  // waits for puts in flight: 10 ms is some hundred times a put of one page, 1 s bounds the load; unmeasured defaults
  private static final long WAIT_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long WAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  static Removal run(StorePort port, int passesMax, Deadline deadline) {
    RefitStore store = port.store();
    long removed = 0;
    long waitNanos = WAIT_NANOS_MIN;
    for (int passes = 1; passes <= passesMax; passes++) {
      long count = store.removeAllForced();
      if (count < 0) return new Removal(passes, removed, passes > 1, "removeAll failed: " + Codes.text(count));
      removed += count;
      if (count == 0 && keyCount(port, deadline) <= 0) return new Removal(passes, removed, true, "");
      if (deadline.reached())
        return new Removal(passes, removed, true, "the deadline came before a pass found nothing");
      if (count == 0) {
        LockSupport.parkNanos(Math.min(waitNanos, deadline.remainingNanos()));
        waitNanos = Math.min(2 * waitNanos, WAIT_NANOS_MAX);
      }
    }
    return new Removal(passesMax, removed, true,
        "pass " + passesMax + " was not the last: objects keep coming or stay");
  }

  /** Objects the master knows of, 0 where it cannot be asked: then the verification says so. */
  private static long keyCount(StorePort port, Deadline deadline) {
    if (!port.hasCensus()) return 0;
    try {
      return port.read(deadline).keyCount();
    } catch (RuntimeException e) {
      return 0;
    }
  }
}

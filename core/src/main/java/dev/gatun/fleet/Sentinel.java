package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.codec.GatunKey;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * A hard-pinned object of a few bytes of the new epoch. Nothing but a removal takes it away: when it is gone, a removal
 * that was sent for the old epoch ran late, and took the new epoch's pages as well.
 */
final class Sentinel {
  // a look is one question to the master; unmeasured default
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final String key;
  private final long startNanos = System.nanoTime();
  private String state = "not put: the store was not there";
  private boolean planted;
  private boolean lost;

  Sentinel(WeightEpoch epoch) {
    key = GatunKey.CANARY + epoch.run() + '/' + epoch.version() + "/sentinel-" + UUID.randomUUID();
  }

  /**
   * Puts it.
   *
   * @param port opens the store, empty while it is not there
   * @param deadline of one try
   * @param last when to stop trying again
   */
  void plant(Supplier<Optional<RefitStore>> port, Deadline deadline, Deadline last) {
    while (true) {
      try {
        port.get().ifPresent(store -> tryPut(store, deadline));
      } catch (GatunException failed) {
        state = "not put: " + failed.getMessage();
      }
      if (planted || last.reached()) return;
      LockSupport.parkNanos(Math.min(POLL_NANOS, last.remainingNanos()));
    }
  }

  private void tryPut(RefitStore store, Deadline deadline) {
    try {
      int code = BoundedCall.start("putting the sentinel", () -> store.putCanary(key)).await(deadline);
      planted = code == StoreCode.OK.raw();
      state = planted ? "put, not looked at" : "not put: " + StoreCode.of(code) + " (" + code + ')';
    } catch (GatunException failed) {
      state = "not put: " + failed.getMessage();
    }
  }

  /** Looks at least once, then on to the deadline, or until it is gone. */
  void watch(RefitStore store, Deadline deadline, Deadline look) {
    if (!planted) return;
    do {
      long size;
      try {
        size = BoundedCall.start("looking at the sentinel", () -> store.sizeOfCanary(key)).await(look.later(deadline));
      } catch (DeadlineException hangs) {
        state = "put, then the store did not answer: " + hangs.getMessage();
        return;
      }
      String after = " after " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos) + " ms";
      lost = size == StoreCode.OBJECT_NOT_FOUND.raw();
      state = lost
          ? "lost" + after + ": a removal ran late, and took pages of the new epoch with it"
          : size >= 0 ? "still there" + after : "put, then unclear: " + StoreCode.of(size) + " (" + size + ')';
      if (!lost) LockSupport.parkNanos(Math.min(POLL_NANOS, deadline.remainingNanos()));
    } while (!lost && !deadline.reached());
  }

  boolean lost() {
    return lost;
  }

  String text() {
    return state;
  }
}

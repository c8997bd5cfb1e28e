package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
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

  private final WeightEpoch epoch;
  private final String key;
  private final long startNanos = System.nanoTime();
  private String state = "not put: the store was not there";
  private boolean planted;
  private boolean seen;
  private boolean lost;

  Sentinel(WeightEpoch epoch) {
    this.epoch = epoch;
    key = GatunKey.CANARY + epoch.run() + '/' + epoch.version() + "/sentinel-" + UUID.randomUUID();
  }

  /**
   * Puts it.
   *
   * @param port opens the store, empty while it is not there
   * @param deadline when to stop trying
   */
  void plant(Supplier<Optional<RefitStore>> port, Deadline deadline) {
    while (true) {
      try {
        port.get().ifPresent(store -> put(store, deadline));
      } catch (RuntimeException failed) {
        state = "not put: " + failed.getMessage();
      }
      if (planted || isOver(deadline)) return;
      LockSupport.parkNanos(Math.min(POLL_NANOS, deadline.remainingNanos()));
    }
  }

  private void put(RefitStore store, Deadline deadline) {
    int code = BoundedCall.start("putting the sentinel", () -> store.putCanary(key)).await(deadline);
    planted = code == StoreCode.OK.raw();
    state = planted ? "put, not looked at" : "not put: " + StoreCode.of(code) + " (" + code + ')';
  }

  /** Looks at least once, then on to the deadline, or until it is gone. */
  void watch(RefitStore store, Deadline deadline, Deadline look) {
    if (!planted) return;
    do {
      seen = false;
      try {
        long size = BoundedCall.start("looking at the sentinel", () -> store.sizeOfCanary(key))
            .await(look.later(deadline));
        judge(size, " after " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos) + " ms");
      } catch (DeadlineException hangs) {
        state = "put, then the store did not answer: " + hangs.getMessage();
        return;
      } catch (RuntimeException failed) {
        state = "put, then unclear: " + failed.getMessage();
      }
      if (!lost) LockSupport.parkNanos(Math.min(POLL_NANOS, deadline.remainingNanos()));
    } while (!lost && !isOver(deadline));
  }

  /** An interrupt ends every wait, so that going on would be asking without end. */
  private static boolean isOver(Deadline deadline) {
    return deadline.reached() || Thread.currentThread().isInterrupted();
  }

  private void judge(long size, String after) {
    lost = size == StoreCode.OBJECT_NOT_FOUND.raw();
    seen = size >= 0;
    state = lost
        ? "lost" + after + ": a removal ran late, and took pages of the new epoch with it"
        : seen ? "still there" + after : "put, then unclear: " + StoreCode.of(size) + " (" + size + ')';
  }

  boolean planted() {
    return planted;
  }

  /** What keeps it from showing that no removal ran late, empty if it shows that. */
  String doubt() {
    if (lost) return "late wipe: the sentinel of " + epoch + " is gone";
    return seen ? "" : "no sentinel shows whether a removal runs late: " + state;
  }

  String text() {
    return state;
  }
}

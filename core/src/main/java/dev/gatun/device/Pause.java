package dev.gatun.device;

import java.util.concurrent.locks.LockSupport;

/** How a thread waits for a GPU: by asking again. A virtual thread gives its carrier away in between. */
final class Pause {
  // spinning covers what ends within some tens of microseconds, a launch or a small copy; unmeasured default
  private static final int SPINS = 200;
  // some 75 ms of asking and letting others run: a parked thread comes back late, by 60 us and more, which is most of what
  // a hand-over of 14 ms took over its kernel
  private static final int YIELDS = 50_000;
  // 20 us: 1 MiB of a 55 GB/s link; unmeasured default
  private static final long PARK_NANOS = 20_000;

  private Pause() {}

  @SuppressWarnings("ThreadPriorityCheck") // nothing depends on who runs meanwhile
  static void before(int round, long remainingNanos) {
    if (round < SPINS) Thread.onSpinWait();
    else if (round < SPINS + YIELDS) Thread.yield();
    else
      LockSupport.parkNanos(Math.min(PARK_NANOS, remainingNanos));
  }
}

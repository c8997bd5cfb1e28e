package dev.gatun.store;

import dev.gatun.backend.StoreCode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Asks the master for a key that does not exist: the only question that tells a dead master from a client without a
 * segment, whose own figure stays healthy for ever. One probe at a time, one every half second at most.
 */
final class HealthProbe {
  // 500 ms: a probe costs one round trip, or seconds when the master is down; unmeasured default
  private static final long FRESH_NANOS = 500_000_000;
  private static final String SENTINEL = "gatun.health.probe";

  private record Reading(int libraryFigure, long answer, long atNanos) {}

  private final StoreCore core;
  private final MemorySegment sentinel;
  private final ReentrantLock probing = new ReentrantLock();
  private volatile Reading last;

  HealthProbe(StoreCore core) {
    this.core = core;
    sentinel = core.arena.allocateFrom(SENTINEL);
    last = new Reading(0, 0, System.nanoTime() - FRESH_NANOS);
  }

  Health health() {
    Reading reading = last;
    if (System.nanoTime() - reading.atNanos >= FRESH_NANOS && probing.tryLock()) {
      try {
        reading = probe();
        last = reading;
      } finally {
        probing.unlock();
      }
    }
    StoreCode code = reading.answer >= 0 ? StoreCode.OK : StoreCode.of(reading.answer);
    return new Health(reading.libraryFigure == 0 && code == StoreCode.OK, reading.libraryFigure, code,
        System.nanoTime() - reading.atNanos);
  }

  private Reading probe() {
    return core.activities.runAside("health", () -> {
      int figure = core.backend.health();
      // the library's own bad news need no confirmation, and asking a dead master takes seconds
      int answer = figure == 0 ? core.backend.exists(sentinel) : StoreCode.UNAVAILABLE_IN_CURRENT_STATUS.raw();
      return new Reading(figure, answer, System.nanoTime());
    });
  }
}

package dev.gatun.testing;

import static org.junit.jupiter.api.Assertions.fail;

import dev.gatun.backend.Deadline;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what another thread brings about, with a deadline far above what it takes. */
public final class Await {
  private static final long POLL_NANOS = 100_000;

  private Await() {}

  /** Waits until the condition holds; fails with what was waited for. */
  public static void until(String what, BooleanSupplier condition) {
    Deadline deadline = Deadline.after(Duration.ofSeconds(30));
    while (!condition.getAsBoolean()) {
      if (deadline.reached()) fail("waited 30 s until " + what);
      LockSupport.parkNanos(POLL_NANOS);
    }
  }
}

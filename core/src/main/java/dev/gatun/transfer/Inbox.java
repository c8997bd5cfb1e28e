package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineNotification;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Messages that have arrived and were not taken. */
final class Inbox {
  private final EngineBackend backend;
  private final Queue<EngineNotification> waiting = new ArrayDeque<>();

  Inbox(EngineBackend backend) {
    this.backend = backend;
  }

  synchronized @Nullable EngineNotification poll() {
    if (waiting.isEmpty()) backend.drainNotifications(waiting::add);
    return waiting.poll();
  }

  @Nullable
  EngineNotification take(Deadline deadline) {
    Backoff backoff = new Backoff();
    backoff.reset();
    while (true) {
      EngineNotification next = poll();
      if (next != null || deadline.reached() || Thread.currentThread().isInterrupted()) return next;
      backoff.pause(deadline.remainingNanos());
    }
  }
}

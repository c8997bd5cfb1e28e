package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineNotification;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Messages that have arrived and were not taken. */
final class Inbox {
  private final EngineBackend backend;
  private final Queue<EngineNotification> waiting = new ArrayDeque<>();
  private Predicate<EngineNotification> first = message -> false;

  Inbox(EngineBackend backend) {
    this.backend = backend;
  }

  /** Gives messages to somebody who may keep them, before they wait here. */
  synchronized void route(Predicate<EngineNotification> taker) {
    first = taker;
  }

  synchronized @Nullable EngineNotification poll() {
    if (waiting.isEmpty()) receive();
    return waiting.poll();
  }

  /** Looks for messages, and hands on those that somebody keeps. */
  synchronized void receive() {
    backend.drainNotifications(message -> {
      if (!first.test(message)) waiting.add(message);
    });
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

package dev.gatun.connector;

import dev.gatun.transfer.PushTarget;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Follows room that was taken back until it is free. Prefill says so itself, unless it is gone: then nobody else would ever
 * end the quarantine. See {@link PeerWatch} for when it is.
 */
final class Revocations implements AutoCloseable {
  // 1 s: between two looks at a peer that does not say anything
  private static final Duration AGAIN = Duration.ofSeconds(1);
  // 1 s: what a peer that is gone had sent lies in this machine's socket buffers and is taken out at memory speed
  private static final Duration IN_BUFFERS = Duration.ofSeconds(1);

  private final AtomicInteger open = new AtomicInteger();
  private volatile boolean closed;

  /** Revoked transfers whose room is not free yet. */
  int open() {
    return open.get();
  }

  void follow(PushTarget target, PeerInstance sender) {
    if (target.isOver()) return;
    open.incrementAndGet();
    Thread.ofVirtual().name("gatun-revoked " + target.grant().id()).start(() -> {
      PeerWatch watch = new PeerWatch(sender);
      try {
        while (!closed && !target.isOver()) {
          if (watch.looksGone()) {
            LockSupport.parkNanos(IN_BUFFERS.toNanos());
            target.declareSenderDead();
          } else {
            LockSupport.parkNanos(AGAIN.toNanos());
          }
        }
      } finally {
        open.decrementAndGet();
      }
    });
  }

  @Override
  public void close() {
    closed = true;
  }
}

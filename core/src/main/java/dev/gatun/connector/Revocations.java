package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.transfer.PushTarget;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Follows room that was taken back until it is free. Prefill says so itself, unless it is gone: then nobody else would ever
 * end the quarantine. A worker side closes its port last, when nothing of it is being written any more; so one whose port
 * refuses, or is answered by another instance, is gone. Silence, or an error on the way, proves nothing.
 */
final class Revocations implements AutoCloseable {
  // 1 s: between two looks at a peer that does not say anything
  private static final Duration AGAIN = Duration.ofSeconds(1);
  // 1 s: what a peer that is gone had sent lies in this machine's socket buffers and is taken out at memory speed
  private static final Duration IN_BUFFERS = Duration.ofSeconds(1);
  // 2 s: a kernel itself gives a connection up after 3 s at the earliest, which Java could not tell from a refusal
  private static final Duration CONNECT_MAX = Duration.ofSeconds(2);

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
      try {
        while (!closed && !target.isOver()) {
          if (isGone(sender)) {
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

  static boolean isGone(PeerInstance peer) {
    try (PeerConnection now = PeerConnection.open(peer.address(), Deadline.after(CONNECT_MAX))) {
      return !now.peer().id().equals(peer.id());
    } catch (ConnectException refused) {
      return true;
    } catch (IOException unknown) {
      return false;
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}

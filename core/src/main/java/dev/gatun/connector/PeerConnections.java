package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Connections to peers' worker sides, kept for a while between two loads: to connect and to learn who answers takes longer
 * than all else that a load says. Any thread.
 *
 * <p>A question is never asked twice, since a peer may have begun with the first. So a connection that has ended, or on which
 * something was said unasked, is not given out. Only a peer that is itself at its end can end one between that look and the
 * question: it waits for a word six times as long as this keeps a connection.
 */
final class PeerConnections implements AutoCloseable {
  // 10 s, as long as the peer keeps the thread that serves it; far below its silence of 60 s. Unmeasured default
  private static final Duration IDLE_MAX = Duration.ofSeconds(10);

  private final int keptMax;
  private final Duration idleMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  // guarded by the lock; of each peer the one that was used last comes first
  private final Map<HostPort, Deque<Kept>> idle = new HashMap<>();
  private boolean sweeping;
  private boolean closed;

  private record Kept(PeerConnection connection, Deadline expiry) {}

  /** @param keptMax most that are kept for one peer: as many as there are loads at a time */
  PeerConnections(int keptMax) {
    this(keptMax, IDLE_MAX);
  }

  PeerConnections(int keptMax, Duration idleMax) {
    this.keptMax = keptMax;
    this.idleMax = idleMax;
  }

  /** Gives out one that was kept, or connects. The load's end closes it, until {@link #keep} or the next wait of the load. */
  PeerConnection take(HostPort peer, Deadline deadline, RunningLoad load) throws IOException {
    for (Kept kept = poll(peer); kept != null; kept = poll(peer)) {
      if (!kept.expiry.reached() && kept.connection.isQuiet()) {
        load.waits(kept.connection::close);
        return kept.connection;
      }
      kept.connection.close();
    }
    return PeerConnection.open(peer, deadline, load);
  }

  /** Takes back one whose last question was answered, and which nobody closes any more. */
  void keep(HostPort peer, PeerConnection answered) {
    boolean kept = false;
    lock.lock();
    try {
      kept = offer(peer, answered);
    } finally {
      lock.unlock();
      if (!kept) answered.close();
    }
  }

  private boolean offer(HostPort peer, PeerConnection answered) {
    Deque<Kept> others = idle.get(peer);
    if (closed || answered.isClosed() || (others != null && others.size() >= keptMax)) return false;
    sweepAside();
    idle.computeIfAbsent(peer, first -> new ArrayDeque<>()).push(new Kept(answered, Deadline.after(idleMax)));
    return true;
  }

  /** {@return how many are kept} */
  int kept() {
    lock.lock();
    try {
      return idle.values().stream().mapToInt(Deque::size).sum();
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Kept poll(HostPort peer) {
    lock.lock();
    try {
      Deque<Kept> kept = idle.get(peer);
      if (kept == null) return null;
      Kept last = kept.pop();
      if (kept.isEmpty()) idle.remove(peer);
      return last;
    } finally {
      lock.unlock();
    }
  }

  /** One thread closes what expires, for as long as there is something that can. */
  private void sweepAside() {
    if (sweeping) return;
    Thread.ofVirtual().name("gatun-kept").start(this::sweep);
    sweeping = true;
  }

  private void sweep() {
    lock.lock();
    try {
      while (!closed && !idle.isEmpty()) {
        expired().forEach(PeerConnection::close);
        changed.awaitNanos(idleMax.toNanos());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      sweeping = false;
      lock.unlock();
    }
  }

  private List<PeerConnection> expired() {
    List<PeerConnection> expired = new ArrayList<>();
    for (Deque<Kept> kept : idle.values()) {
      while (!kept.isEmpty() && kept.getLast().expiry.reached())
        expired.add(kept.removeLast().connection);
    }
    idle.values().removeIf(Deque::isEmpty);
    return expired;
  }

  /** Closes what is kept, and keeps no more. Idempotent. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      idle.values().forEach(kept -> kept.forEach(each -> each.connection.close()));
      idle.clear();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}

package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineInstance;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Segments of peers by name, opened when first needed; one that does not answer holds up no other. */
final class Peers {
  // as long as an engine's own connect and greeting take at most; unmeasured default
  private static final Duration OPEN_MAX = Duration.ofSeconds(10);

  private final TransferEngine engine;
  private final Map<String, Peer> known = new ConcurrentHashMap<>();

  /** One peer: what it told last, and its segment once it was opened. */
  private final class Peer {
    private final AtomicReference<Told> told;
    private final ReentrantLock opening = new ReentrantLock();
    private volatile @Nullable Segment segment;

    Peer(Told first) {
      told = new AtomicReference<>(first);
    }

    Segment open(Deadline deadline) {
      lock(deadline);
      try {
        Told last = told.get();
        Segment open = segment;
        if (open != null && !open.descriptor().instance().equals(last.descriptor().instance())) {
          end(open);
          open = null;
        }
        if (open == null || open.isClosed()) {
          open = engine.openSegment(last.descriptor(), deadline);
          segment = open;
        } else if (!open.descriptor().equals(last.descriptor())) {
          engine.refresh(open, last.descriptor(), deadline);
        }
        return open;
      } finally {
        opening.unlock();
      }
    }

    /** What was meant for an engine must not go on in the memory of one that was started anew under its name. */
    private void end(Segment before) {
      before.retire();
      if (before.inFlight() > 0) {
        throw new EngineException("openSegment", EngineCode.NOT_ALLOWED, 0, before.name() + ": " + before.inFlight()
            + " requests to the engine that had the name before have not ended");
      }
      segment = null;
    }

    private void lock(Deadline deadline) {
      boolean mine = opening.tryLock();
      try {
        if (!mine) mine = opening.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (!mine)
        throw new DeadlineException("openSegment " + told.get().descriptor().name() + ": another thread opens it");
    }
  }

  Peers(TransferEngine engine) {
    this.engine = engine;
  }

  /** Takes note of what a peer told, unless it has told something else since. */
  void know(Told told) {
    peer(told);
  }

  private Peer peer(Told told) {
    Peer peer = known.computeIfAbsent(told.descriptor().name(), name -> new Peer(told));
    peer.told.accumulateAndGet(told, Told::or);
    return peer;
  }

  /** {@return whether a peer can be told something, and is still the engine of its name} */
  boolean knows(String name, EngineInstance instance) {
    Peer peer = known.get(name);
    return peer != null && peer.told.get().descriptor().instance().filter(instance::equals).isPresent();
  }

  boolean knows(String name) {
    return known.containsKey(name);
  }

  /** {@return the segment for a message} A peer whose new description cannot be taken over yet is told over the old one. */
  Segment byName(String name) {
    Peer peer = known.get(name);
    if (peer == null) {
      throw new EngineException("openSegment", EngineCode.METADATA, -1, name + ": it has not introduced itself");
    }
    try {
      return peer.open(Deadline.after(OPEN_MAX));
    } catch (EngineException | DeadlineException e) {
      Segment open = peer.segment;
      if (open == null || open.isClosed()) throw e;
      return open;
    }
  }

  /** Opens a peer, or takes note of what it has registered since. */
  Segment open(Told told, Deadline deadline) {
    return peer(told).open(deadline);
  }

  /** The engine closes the segments that are in use. */
  void close() {
    known.values().forEach(peer -> {
      Segment open = peer.segment;
      if (open != null && open.inFlight() == 0) open.close();
    });
    known.clear();
  }
}

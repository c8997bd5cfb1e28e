package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineInstance;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.SegmentDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/** What the parts of one open engine share; its part in a refit. */
final class EngineCore implements Quiescable {
  // 100 us: well over a context switch, far below any wait that a person notices; unmeasured default
  private static final long POLL_NANOS = 100_000;

  /** Of this engine alone, unlike its name. */
  final EngineInstance instance = EngineInstance.startedNow();
  /** Of peers. */
  final Instances instances = new Instances();
  final EngineBackend backend;
  final EpochGate gate;
  final Poller poller;
  final EngineMemory memory;
  /** Batches that are not closed. */
  final Set<TransferBatch> batches = ConcurrentHashMap.newKeySet();
  final Set<Doubtful> doubtful = ConcurrentHashMap.newKeySet();
  final Set<Segment> segments = ConcurrentHashMap.newKeySet();
  /** What to do when the native engine is gone. */
  final Queue<Runnable> afterwards = new ConcurrentLinkedQueue<>();
  /**
   * Attempts at hand-overs that ended in a failure after which bytes may still land: nobody is told that nothing moves, also
   * not by hand-overs that are opened later.
   */
  final Set<UUID> lost = ConcurrentHashMap.newKeySet();
  /** Whether somebody routes the messages of hand-overs. */
  final AtomicBoolean handedOver = new AtomicBoolean();
  volatile boolean closing;
  private volatile boolean gone;

  EngineCore(EngineBackend backend, EpochGate gate) {
    this.backend = backend;
    this.gate = gate;
    poller = new Poller(backend.name());
    memory = new EngineMemory(this);
  }

  @Override
  public String name() {
    return "engine " + backend.name();
  }

  /**
   * Whatever was submitted has started. But nobody may be polling it, and pools that are drained before the engine wait
   * for its end: from now on the poller does, until nothing is left.
   */
  @Override
  public int failQueued() {
    poller.add(new Poller.Job() {
      @Override
      public boolean step() {
        batches.forEach(TransferBatch::step);
        boolean quiet = gate.inside() == 0 && batches.stream().noneMatch(TransferBatch::isFlying);
        return quiet || gate.state() == EpochGate.State.OPEN;
      }

      @Override
      public boolean urgent() {
        return true;
      }
    });
    return 0;
  }

  /** A read in doubt ends in quarantined blocks of ours; a write in doubt may still land with a peer, and counts. */
  @Override
  public List<String> drain(Deadline deadline) {
    return drain(deadline, Doubtful::writes);
  }

  /** Waits until nothing is in flight, polling also what nobody waits for. {@return what is left, one line each} */
  List<String> drain(Deadline deadline, Predicate<Doubtful> counts) {
    while (true) {
      batches.forEach(TransferBatch::step);
      doubtful.forEach(Doubtful::step);
      List<String> pending = pending(counts);
      if (pending.isEmpty() || deadline.reached()) return pending;
      LockSupport.parkNanos(this, Math.min(POLL_NANOS, deadline.remainingNanos()));
    }
  }

  /** Nothing of an epoch is kept here: blocks carry theirs. */
  @Override
  public void clearLocal() {}

  private List<String> pending(Predicate<Doubtful> counts) {
    List<String> lines = new ArrayList<>();
    for (TransferBatch batch : batches) {
      if (batch.isFlying()) lines.add(batch.toString());
    }
    for (Doubtful flight : doubtful) {
      if (counts.test(flight)) lines.add(flight.toString());
    }
    return lines;
  }

  void addDoubtful(Doubtful flight) {
    doubtful.add(flight);
    poller.add(flight);
    // whoever destroys the engine looks at the set after it has said so: one of the two sees the other
    if (gone) flight.engineGone();
  }

  /** The native engine was destroyed. */
  void engineGone() {
    gone = true;
    List.copyOf(doubtful).forEach(Doubtful::engineGone);
    afterwards.forEach(Runnable::run);
  }

  /** Opens a peer's memory. Blocks. {@return the segment's id} */
  int open(SegmentDescriptor descriptor) {
    return memory.call(() -> backend.openSegment(descriptor));
  }

  /** Takes note of a peer that was reached: nothing more goes out to engines that had its name before the last one. */
  void reached(SegmentDescriptor descriptor) {
    instances.know(descriptor).ifPresent(last -> segments.forEach(segment -> {
      boolean before = segment.name().equals(descriptor.name())
          && segment.descriptor().instance().filter(one -> !one.equals(last)).isPresent();
      if (before) segment.retire();
    }));
  }

  void closeSegment(Segment segment) {
    segments.remove(segment);
    if (closing) return;
    backend.closeSegment(segment.id());
  }

  void requireOpen(String operation) {
    if (closing) throw new ClosedException(operation + " refused: " + name() + " is closed");
  }

  void requireMessage(byte[] message) {
    int max = backend.capabilities().notificationBytesMax();
    if (message.length > max) {
      throw new IllegalArgumentException("message must be at most " + max + " bytes: " + message.length);
    }
  }
}

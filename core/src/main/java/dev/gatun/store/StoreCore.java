package dev.gatun.store;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.WeightEpoch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** What the parts of one open store share. */
final class StoreCore {
  /** Ticket of an operation that the gate let through with the store disabled: answer without asking. */
  static final int DISABLED = -1;
  // 50 ms: how soon a parked get notices that its store is being closed; unmeasured default
  private static final long PARK_SLICE_NANOS = 50_000_000;

  final StoreBackend backend;
  final KeyCodec codec;
  final EpochGate gate;
  final Observer observer;
  final StorePolicy policy;
  final Activities activities = new Activities();
  final QuarantinedBlocks quarantined = new QuarantinedBlocks();
  final FailedKeys failedKeys;
  final SegmentLimit segmentLimit;
  /** Keys of every put that was sent. */
  final AtomicLong keysSent = new AtomicLong();
  /** Batches to close with the store. */
  final Set<StoreBatch> batches = ConcurrentHashMap.newKeySet();
  final Arena arena = Arena.ofShared(); // store
  final MemorySegment defaultPlacement;

  StoreCore(StoreBackend backend, KeyCodec codec, EpochGate gate, Observer observer, StorePolicy policy) {
    this.backend = backend;
    this.codec = codec;
    this.gate = gate;
    this.observer = ContainedObserver.of(observer);
    this.policy = policy;
    segmentLimit = new SegmentLimit(backend.census());
    failedKeys = new FailedKeys(policy.failedKeysFor());
    defaultPlacement = backend.encodeReplicate(ReplicateOptions.DEFAULT, arena);
  }

  /** {@return the whole key, NUL-terminated} */
  MemorySegment encode(KvKey key, WeightEpoch epoch, Arena call) {
    byte[] prefix = codec.prefix(epoch);
    byte[] terminated = key.terminated();
    MemorySegment whole = call.allocate((long) prefix.length + terminated.length);
    MemorySegment.copy(prefix, 0, whole, ValueLayout.JAVA_BYTE, 0, prefix.length);
    MemorySegment.copy(terminated, 0, whole, ValueLayout.JAVA_BYTE, prefix.length, terminated.length);
    return whole;
  }

  /** Enters the gate for something whose bytes belong to the epoch at hand: refused, never parked. */
  int enter(String operation, int keys) {
    try {
      return gate.enter(operation);
    } catch (GateClosedException refused) {
      observer.onSkip("gate", keys);
      throw refused;
    }
  }

  /** Enters the gate for a question, which waits for a running refit. {@return a ticket, or {@link #DISABLED}} */
  int enterOrPark(String operation, int keys, Activity activity) {
    if (gate.state() == EpochGate.State.OPEN) {
      try {
        return gate.enter(operation);
      } catch (GateClosedException closedJustNow) {
        return park(operation, keys, activity);
      }
    }
    return park(operation, keys, activity);
  }

  private int park(String operation, int keys, Activity activity) {
    Deadline last = Deadline.after(policy.parkMax());
    activity.park();
    try {
      while (true) {
        long slice = Math.min(PARK_SLICE_NANOS, last.remainingNanos());
        try {
          int ticket = gate.awaitEnter(operation, new Deadline(System.nanoTime() + slice));
          if (ticket == DISABLED) observer.onSkip("disabled", keys);
          return ticket;
        } catch (DeadlineException stillClosed) {
          if (activities.closing()) throw new ClosedException(operation + " refused: the store is closed");
          if (last.reached() || Thread.currentThread().isInterrupted()) throw stillClosed;
        }
      }
    } finally {
      activity.resume();
    }
  }
}

package dev.gatun.backend;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * The one door through which every operation on KV passes, and which a refit closes. An operation enters, runs with the
 * epoch it found, and exits; the refit closes the gate, raises the epoch and waits until everybody has left.
 *
 * <p>Entering costs an increment of a striped counter and a read of the state; it takes no lock and allocates nothing.
 * Any thread may enter; closing, raising and opening belong to one refit at a time. The count is raised <em>before</em>
 * the state is read, and the closer writes the state <em>before</em> it sums: one of the two always sees the other.
 */
public final class EpochGate {
  /** What the gate lets through. */
  public enum State {
    /** Everything. */
    OPEN,
    /** Nothing: a refit is running, or failed and kept it closed. */
    CLOSED,
    /** Gets answer misses and puts are refused: a refit failed and its policy was to go on without the store. */
    DISABLED
  }

  // 16 stripes of 128 bytes: two cache lines keep adjacent-line prefetch from coupling them; power of two, unmeasured
  private static final int STRIPES = 16;
  private static final int STRIDE = 128 / Long.BYTES;
  // 50 us: well under the shortest refit, well over a context switch; unmeasured default
  private static final long POLL_NANOS = 50_000;

  private final AtomicLongArray inside = new AtomicLongArray(STRIPES * STRIDE);
  private final CopyOnWriteArrayList<Quiescable> parts = new CopyOnWriteArrayList<>();
  private volatile State state = State.OPEN;
  private volatile Epoch epoch;

  private record Epoch(WeightEpoch weights, int ordinal) {}

  /**
   * Creates an open gate.
   *
   * @param initial epoch in force until the first refit
   */
  public EpochGate(WeightEpoch initial) {
    epoch = new Epoch(initial, 0);
  }

  /**
   * Enters, or refuses at once.
   *
   * @param operation name for the message
   * @return a ticket for {@link #exit}
   * @throws GateClosedException unless the gate is open
   */
  public int enter(String operation) {
    int stripe = stripe();
    inside.getAndIncrement(stripe);
    State now = state;
    if (now == State.OPEN) return stripe;
    inside.getAndDecrement(stripe);
    throw new GateClosedException(now == State.CLOSED
      ? operation + " refused: a refit to " + epoch() + " is in progress; compute again when it has opened the gate"
      : operation + " refused: the store is disabled since the refit to " + epoch() + " could not be verified");
  }

  /**
   * Enters, waiting for a running refit to open the gate. Whoever waited must look at {@link #epoch} anew.
   *
   * @param operation name for the message
   * @param deadline when to give up
   * @return a ticket for {@link #exit}, or -1 if the gate opened as {@link State#DISABLED}
   * @throws DeadlineException if the gate is still closed at the deadline
   */
  public int awaitEnter(String operation, Deadline deadline) {
    while (true) {
      int stripe = stripe();
      inside.getAndIncrement(stripe);
      State now = state;
      if (now == State.OPEN) return stripe;
      inside.getAndDecrement(stripe);
      if (now == State.DISABLED) return -1;
      if (deadline.reached() || Thread.currentThread().isInterrupted()) {
        throw new DeadlineException(operation + " waited for the refit to " + epoch() + " to open the gate");
      }
      LockSupport.parkNanos(this, Math.min(POLL_NANOS, deadline.remainingNanos()));
    }
  }

  /**
   * Leaves.
   *
   * @param ticket what {@link #enter} returned
   */
  public void exit(int ticket) {
    inside.getAndDecrement(ticket);
  }

  /** {@return the epoch in force} */
  public WeightEpoch epoch() {
    return epoch.weights;
  }

  /** {@return how often the epoch was raised in this process: the short form that blocks and tickets carry} */
  public int ordinal() {
    return epoch.ordinal;
  }

  /** {@return what the gate lets through now} */
  public State state() {
    return state;
  }

  /** {@return operations inside now; a moment's figure while the gate is open} */
  public long inside() {
    long sum = 0;
    for (int i = 0; i < STRIPES; i++) sum += inside.get(i * STRIDE);
    return sum;
  }

  /**
   * Makes a part take part in each refit.
   *
   * @param part what holds work or memory of an epoch
   */
  public void register(Quiescable part) {
    parts.add(part);
  }

  /**
   * Ends a part's participation, because it was closed.
   *
   * @param part what was registered
   */
  public void unregister(Quiescable part) {
    parts.remove(part);
  }

  /** {@return the registered parts} */
  public List<Quiescable> parts() {
    return List.copyOf(parts);
  }

  /** Closes the gate: nobody new enters. Idempotent; does not wait for those inside. */
  public void close() {
    state = State.CLOSED;
  }

  /**
   * Raises the epoch, with the gate closed. It never goes back.
   *
   * @param next an epoch that follows the one in force
   * @throws IllegalStateException if the gate is not closed
   * @throws IllegalArgumentException if {@code next} does not follow
   */
  public void raise(WeightEpoch next) {
    if (state != State.CLOSED) throw new IllegalStateException("close the gate before raising the epoch");
    if (!next.follows(epoch.weights)) {
      throw new IllegalArgumentException("epoch must follow " + epoch.weights + ": " + next);
    }
    epoch = new Epoch(next, epoch.ordinal + 1);
  }

  /**
   * Waits until everybody inside has left.
   *
   * @param deadline when to give up
   * @return how many are still inside, 0 when drained
   */
  public long awaitDrained(Deadline deadline) {
    long left = inside();
    while (left != 0 && !deadline.reached()) {
      LockSupport.parkNanos(this, POLL_NANOS);
      left = inside();
    }
    return left;
  }

  /**
   * Opens the gate, fully or with the store disabled.
   *
   * @param to {@link State#OPEN} or {@link State#DISABLED}
   * @throws IllegalArgumentException for {@link State#CLOSED}
   */
  public void open(State to) {
    if (to == State.CLOSED) throw new IllegalArgumentException("open to OPEN or DISABLED");
    state = to;
  }

  /**
   * Drains every part, each to the same deadline.
   *
   * @param deadline when to give up
   * @return what is still pending, one line each; empty when quiet
   */
  public List<String> drainParts(Deadline deadline) {
    List<String> pending = new ArrayList<>();
    for (Quiescable part : parts) {
      for (String line : part.drain(deadline)) pending.add(part.name() + ": " + line);
    }
    return pending;
  }

  private static int stripe() {
    long id = Thread.currentThread().threadId();
    // Fibonacci hashing: thread numbers are consecutive, their low bits alone would do, their product spreads gaps too
    return (int) ((id * 0x9E3779B97F4A7C15L) >>> 60) * STRIDE;
  }
}

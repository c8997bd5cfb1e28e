package dev.gatun.backend;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one door through which every operation on KV passes, and which a refit closes. An operation enters, runs with the
 * epoch it entered under, and exits; the refit closes the gate, raises the epoch and waits until everybody has left.
 *
 * <p>The epoch is raised while operations are still inside, so those must not ask {@link #epoch()} what to write into a
 * key: they ask {@link #epoch(int)}, which refuses once the epoch of their entry has passed. An operation hands bytes to
 * its caller only if {@link #isCurrent} still holds after the native call.
 *
 * <p>Entering costs an increment of a striped counter and a read of the door; it takes no lock and allocates nothing.
 * Any thread may enter; closing, raising and opening belong to whoever has {@linkplain #claim claimed} the gate, one refit
 * at a time. The count is raised <em>before</em> the door is read, and the closer writes the door <em>before</em> it sums:
 * one of the two always sees the other.
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

  // a ticket is a slot of the count and the ordinal; 23 bits keep it positive
  private static final int TICKET_STRIPE_BITS = Integer.numberOfTrailingZeros(StripedCount.SLOTS);
  private static final int TICKET_STRIPE_MASK = (1 << TICKET_STRIPE_BITS) - 1;
  private static final int ORDINAL_MAX = Integer.MAX_VALUE >> TICKET_STRIPE_BITS;
  // 50 us: well under the shortest refit, well over a context switch; unmeasured default
  private static final long POLL_NANOS = 50_000;

  private final StripedCount inside = new StripedCount(1);
  private final CopyOnWriteArrayList<Quiescable> parts = new CopyOnWriteArrayList<>();
  // highest version each run ever had here, guarded by this
  private final Map<String, Long> highest = new HashMap<>();
  // state and epoch change together, so that whoever enters reads both in one go
  private volatile Door door;
  private @Nullable GateControl control;
  // told of stores that open, once the gate is claimed
  private volatile Consumer<RefitStore> newcomers = store -> {};

  private record Door(State state, WeightEpoch epoch, int ordinal) {}

  /**
   * Creates an open gate.
   *
   * @param initial epoch in force until the first refit
   */
  public EpochGate(WeightEpoch initial) {
    door = new Door(State.OPEN, initial, 0);
    highest.put(initial.run(), initial.version());
  }

  /**
   * Enters, or refuses at once.
   *
   * @param operation name for the message
   * @return a ticket for {@link #exit}, {@link #epoch(int)} and {@link #isCurrent}; 0 or more
   * @throws GateClosedException unless the gate is open
   */
  public int enter(String operation) {
    int slot = inside.slot(0);
    inside.add(slot);
    Door now = door;
    if (now.state == State.OPEN) return ticket(slot, now);
    inside.subtract(slot);
    throw new GateClosedException(now.state == State.CLOSED
        ? operation + " refused: a refit to " + now.epoch + " is in progress; compute again when it has opened the gate"
        : operation + " refused: the store is disabled since the refit to " + now.epoch + " could not be verified");
  }

  /**
   * Enters, waiting for a running refit to open the gate. Whoever waited has another epoch than before: take keys from
   * {@link #epoch(int)}.
   *
   * @param operation name for the message
   * @param deadline when to give up
   * @return a ticket as from {@link #enter}, or -1 if the gate opened as {@link State#DISABLED}
   * @throws DeadlineException if the gate is still closed at the deadline, or the thread is interrupted
   */
  public int awaitEnter(String operation, Deadline deadline) {
    while (true) {
      int slot = inside.slot(0);
      inside.add(slot);
      Door now = door;
      if (now.state == State.OPEN) return ticket(slot, now);
      inside.subtract(slot);
      if (now.state == State.DISABLED) return -1;
      if (deadline.reached() || Thread.currentThread().isInterrupted()) {
        throw new DeadlineException(operation + " waited for the refit to " + now.epoch + " to open the gate");
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
    inside.subtract(ticket & TICKET_STRIPE_MASK);
  }

  /**
   * {@return the epoch under which the holder of a ticket entered, which is what its keys carry}
   *
   * @param ticket what {@link #enter} returned
   * @throws EpochChangedException if a refit has raised the epoch since: bytes at hand belong to old weights, compute
   *     again
   */
  public WeightEpoch epoch(int ticket) {
    WeightEpoch entered = epochIfCurrent(ticket);
    if (entered != null) return entered;
    throw new EpochChangedException("a refit to " + epoch() + " began during the operation; compute again");
  }

  /**
   * {@return the same, or null once a refit has raised the epoch: for operations that ask anew instead of failing}
   *
   * @param ticket what {@link #enter} returned
   */
  public @Nullable WeightEpoch epochIfCurrent(int ticket) {
    Door now = door;
    return now.ordinal == ticket >>> TICKET_STRIPE_BITS ? now.epoch : null;
  }

  /**
   * {@return whether the epoch under which the holder of a ticket entered is still in force}
   *
   * @param ticket what {@link #enter} returned
   */
  public boolean isCurrent(int ticket) {
    return door.ordinal == ticket >>> TICKET_STRIPE_BITS;
  }

  /** {@return the epoch in force now, for messages and reports; operations inside ask {@link #epoch(int)}} */
  public WeightEpoch epoch() {
    return door.epoch;
  }

  /** {@return how often the epoch was raised in this process: the short form that blocks and tickets carry} */
  public int ordinal() {
    return door.ordinal;
  }

  /** {@return what the gate lets through now} */
  public State state() {
    return door.state;
  }

  /** {@return operations inside now; a moment's figure while the gate is open} */
  public long inside() {
    return inside.sum(0);
  }

  /**
   * Makes a part take part in each refit.
   *
   * @param part what holds work or memory of an epoch
   */
  public void register(Quiescable part) {
    parts.add(part); // first: a refit that begins now finds it here
    if (part instanceof RefitStore store) newcomers.accept(store);
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

  /**
   * Makes the caller the only one that runs refits through this gate, for as long as the gate lives.
   *
   * @param opened told of each store that registers from now on, on its opener's thread: one that is closed again before
   *     the next refit has left pages all the same
   * @return what closes, raises and opens the gate from now on; the gate's own methods refuse
   * @throws IllegalStateException if somebody did already
   */
  public synchronized GateControl claim(Consumer<RefitStore> opened) {
    if (control != null) throw new IllegalStateException("the gate has a refit coordinator already; share that one");
    control = new GateControl(this);
    newcomers = opened;
    return control;
  }

  /**
   * Closes a gate that nobody has claimed, see {@link GateControl#close}.
   *
   * @throws IllegalStateException if it is claimed
   */
  public synchronized void close() {
    requireUnclaimed("close");
    closeClaimed();
  }

  synchronized void closeClaimed() {
    door = new Door(State.CLOSED, door.epoch, door.ordinal);
  }

  /**
   * Refuses an epoch that this gate could not be raised to.
   *
   * @param next an epoch that follows the one in force, and every earlier one of its run
   * @throws IllegalArgumentException if {@code next} does not follow
   */
  public synchronized void checkNext(WeightEpoch next) {
    Door now = door;
    if (!next.follows(now.epoch)) throw new IllegalArgumentException("epoch must follow " + now.epoch + ": " + next);
    Long seen = highest.get(next.run());
    if (seen != null && next.version() <= seen) {
      throw new IllegalArgumentException(
          "epoch must follow " + new WeightEpoch(next.run(), seen) + ", which was in force before: " + next);
    }
  }

  /**
   * Raises the epoch of a gate that nobody has claimed, see {@link GateControl#raise}.
   *
   * @param next an epoch that {@link #checkNext} accepts
   * @throws IllegalStateException if it is claimed, or as said there
   * @throws IllegalArgumentException as said there
   */
  public synchronized void raise(WeightEpoch next) {
    requireUnclaimed("raise");
    raiseClaimed(next);
  }

  synchronized void raiseClaimed(WeightEpoch next) {
    Door now = door;
    if (now.state != State.CLOSED) {
      throw new IllegalStateException("raise to " + next + " refused: the gate is " + now.state + "; close it first");
    }
    if (now.ordinal == ORDINAL_MAX) throw new IllegalStateException("the gate was raised " + ORDINAL_MAX + " times");
    checkNext(next);
    highest.put(next.run(), next.version());
    door = new Door(State.CLOSED, next, now.ordinal + 1);
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
   * Opens a gate that nobody has claimed, see {@link GateControl#open}.
   *
   * @param to {@link State#OPEN} or {@link State#DISABLED}
   * @throws IllegalArgumentException for {@link State#CLOSED}
   * @throws IllegalStateException if it is claimed
   */
  public synchronized void open(State to) {
    requireUnclaimed("open");
    openClaimed(to);
  }

  private void requireUnclaimed(String operation) {
    if (control != null) {
      throw new IllegalStateException(
          operation
              + " refused: the gate has a refit coordinator, which alone closes and opens it; begin a refit there");
    }
  }

  synchronized void openClaimed(State to) {
    if (to == State.CLOSED) throw new IllegalArgumentException("to must be OPEN or DISABLED: " + to);
    door = new Door(to, door.epoch, door.ordinal);
  }

  /**
   * Drains every part, each to the same deadline, the last registered first: it may stand on an earlier one, whose work
   * does not end before its own. A part that throws counts as pending and does not keep the others from being drained.
   *
   * @param deadline when to give up
   * @return what is still pending, one line each; empty when quiet
   */
  public List<String> drainParts(Deadline deadline) {
    List<String> pending = new ArrayList<>();
    for (Quiescable part : parts().reversed()) {
      try {
        for (String line : part.drain(deadline))
          pending.add(part.name() + ": " + line);
      } catch (RuntimeException e) {
        pending.add(part.name() + " could not drain: " + e.getMessage());
      }
    }
    return pending;
  }

  private static int ticket(int slot, Door entered) {
    return entered.ordinal << TICKET_STRIPE_BITS | slot;
  }
}

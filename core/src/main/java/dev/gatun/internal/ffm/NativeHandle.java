package dev.gatun.internal.ffm;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.StripedCount;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one owner of a native object: calls share it, destroying excludes them.
 *
 * <p>Entering costs an increment and a read, takes no lock and allocates nothing. The count is raised <em>before</em> the
 * state is read, and the closer writes the state <em>before</em> it sums: one of the two always sees the other. Counts
 * are kept for each kind of call, so that a close that runs out of time can say what it waits for.
 *
 * @param <C> the kinds of calls
 */
@SuppressWarnings("EnumOrdinal") // the counts are an array in memory only, nothing stored depends on the order
public final class NativeHandle<C extends Enum<C>> {
  private enum State {
    OPEN, CLOSING, DESTROYED
  }

  // 50 us: far below what destroying costs, well over a context switch; unmeasured default
  private static final long POLL_NANOS = 50_000;

  private final String name;
  private final MemorySegment pointer;
  private final Consumer<MemorySegment> destroy;
  private final C[] calls;
  private final StripedCount running;
  private final ReentrantLock closing = new ReentrantLock();
  private volatile State state = State.OPEN;
  private @Nullable Thread destroyer; // guarded by closing

  /**
   * Takes ownership.
   *
   * @param name for messages and thread names
   * @param pointer the native object, not NULL
   * @param destroy the native function that ends it, called once
   * @param calls kinds of calls
   */
  public NativeHandle(String name, MemorySegment pointer, Consumer<MemorySegment> destroy, Class<C> calls) {
    if (pointer.address() == 0) throw new IllegalArgumentException(name + ": pointer must not be NULL");
    this.name = name;
    this.pointer = pointer;
    this.destroy = destroy;
    this.calls = calls.getEnumConstants();
    this.running = new StripedCount(this.calls.length);
  }

  /**
   * Begins a call; each must be ended by {@link #exit} on the same thread.
   *
   * @param call its kind
   * @return the native object, valid until the exit
   * @throws ClosedException once closing has begun
   */
  public MemorySegment enter(C call) {
    int slot = running.slot(call.ordinal());
    running.add(slot);
    if (state == State.OPEN) return pointer;
    running.subtract(slot);
    throw new ClosedException(call + " refused: " + name + " is closed");
  }

  /**
   * Ends a call.
   *
   * @param call what was given to {@link #enter}
   */
  public void exit(C call) {
    running.subtract(running.slot(call.ordinal()));
  }

  /** {@return whether calls are let in} */
  public boolean isOpen() {
    return state == State.OPEN;
  }

  /**
   * Refuses new calls, waits for running ones, then destroys the object on a thread of its own. An interrupt does not cut
   * the wait short; it is pending again afterwards. After a deadline it may be called again and goes on where it stopped.
   *
   * @param deadline when to give up
   * @return what is still pending, one line each; empty once the object is destroyed
   */
  public List<String> close(Deadline deadline) {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          if (!closing.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) return pending();
          break;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      try {
        if (state == State.OPEN) state = State.CLOSING;
        interrupted |= awaitCalls(deadline);
        if (runningCalls() == 0) interrupted |= awaitDestroyed(deadline);
        return pending();
      } finally {
        closing.unlock();
      }
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  /** {@return what keeps the object from being destroyed now, one line each} */
  private List<String> pending() {
    if (state == State.DESTROYED) return List.of();
    List<String> lines = new ArrayList<>();
    for (C call : calls) {
      long count = running.sum(call.ordinal());
      if (count != 0) lines.add(count + " " + call);
    }
    if (lines.isEmpty()) lines.add("destroying " + name + " has not returned");
    return lines;
  }

  private boolean awaitCalls(Deadline deadline) {
    boolean interrupted = false;
    while (runningCalls() != 0 && !deadline.reached()) {
      LockSupport.parkNanos(this, Math.min(POLL_NANOS, deadline.remainingNanos()));
      interrupted |= Thread.interrupted();
    }
    return interrupted;
  }

  private boolean awaitDestroyed(Deadline deadline) {
    Thread thread = destroyer;
    if (thread == null) {
      thread = Thread.ofPlatform().daemon().name("gatun-destroy " + name).start(() -> {
        destroy.accept(pointer);
        state = State.DESTROYED;
      });
      destroyer = thread;
    }
    boolean interrupted = false;
    while (thread.isAlive() && !deadline.reached()) {
      try {
        thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos())));
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    return interrupted;
  }

  private long runningCalls() {
    long sum = 0;
    for (C call : calls)
      sum += running.sum(call.ordinal());
    return sum;
  }
}

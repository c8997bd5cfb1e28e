package dev.gatun.device;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.InUseException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Something of a {@link Device} that must be closed: memory, a stream, an event, a fragment table, kernels. Usable by any
 * thread, virtual ones too.
 *
 * <p>Once it is closed, every call that uses it throws {@link ClosedException}.
 *
 * <p>Close order: tables, then memory, kernels, events and streams, then the device. A resource that another one is built on
 * refuses to close before that one. Nothing is freed while the GPU may use it.
 */
public abstract sealed class DeviceResource implements AutoCloseable
    permits DeviceMemory, SharedSlab, DeviceStream, DeviceEvent, FragmentTable, PageCopy, DmaCopy, PagePush,
    KnownPages {
  // transfers take milliseconds; a GPU that needs longer than this is stuck, and the caller should know; unmeasured default
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(10);

  private final Device device;
  private final String name;
  private final Lifetime lifetime = new Lifetime();
  private final ReentrantLock closing = new ReentrantLock();
  private boolean closed; // guarded by closing

  DeviceResource(Device device, String name) {
    this.device = device;
    this.name = name;
  }

  /** {@return the GPU it belongs to} */
  public final Device device() {
    return device;
  }

  /** {@return the name given to it} */
  public final String name() {
    return name;
  }

  /** {@return whether it can be used} */
  public final boolean isOpen() {
    return lifetime.isOpen();
  }

  /**
   * Waits up to 10 seconds until nothing uses it, then closes it. Blocks. Idempotent.
   *
   * @throws InUseException if a resource built on it is open, or calls or the GPU still use it after that time; it is as
   *     open as before
   * @throws DeviceException if the driver refuses; it is as open as before
   */
  @Override
  public final void close() {
    close(Deadline.after(CLOSE_WAIT));
  }

  /**
   * Waits until nothing uses it, then closes it. Blocks. Idempotent.
   *
   * @param deadline when to give up
   * @throws InUseException as {@link #close()}
   * @throws DeviceException as {@link #close()}
   */
  public final void close(Deadline deadline) {
    if (!beginExclusive(deadline, this)) return;
    try {
      for (int round = 0; !lifetime.tryClose(this); round++) {
        if (deadline.reached()) throw new InUseException("close " + this + " refused: calls are using it");
        Pause.before(round, deadline.remainingNanos());
      }
      end(deadline);
    } finally {
      endExclusive();
    }
  }

  private void end(Deadline deadline) {
    try {
      awaitWork(deadline);
      destroy();
    } catch (RuntimeException | Error e) {
      lifetime.reopen();
      throw e;
    }
    closed = true;
    device.forget(this);
  }

  /**
   * Keeps others from closing it until {@link #endExclusive}, waiting for one who does. False if it is closed: then there is
   * nothing to end.
   */
  final boolean beginExclusive(Deadline deadline, Object closer) {
    for (int round = 0; !closing.tryLock(); round++) {
      if (deadline.reached()) {
        throw new InUseException("close " + closer + " refused: another thread is closing " + this);
      }
      Pause.before(round, deadline.remainingNanos());
    }
    if (closed) closing.unlock();
    return closing.isHeldByCurrentThread();
  }

  final void endExclusive() {
    closing.unlock();
  }

  /** Waits until the GPU has done all that may use this; throws {@link InUseException} at the deadline. */
  abstract void awaitWork(Deadline deadline);

  /** Frees it. Nothing uses it any more. */
  abstract void destroy();

  /** Refuses calls on what is closed. */
  final void requireOpen() {
    if (!isOpen()) throw closedException();
  }

  private ClosedException closedException() {
    return new ClosedException("refused: " + this + " is closed");
  }

  /** Begins a call on it; pair with {@link #exit}. */
  final void enter() {
    if (!lifetime.enter()) throw closedException();
  }

  final void exit() {
    lifetime.exit();
  }

  /** Keeps it open until the holder lets go. */
  final void hold(Object holder) {
    lifetime.hold(holder, this);
  }

  final void letGo(Object holder) {
    lifetime.letGo(holder);
  }

  /** Refuses what belongs to another GPU. */
  final void requireOn(Device other) {
    if (!device.equals(other)) throw new IllegalArgumentException(this + " is on " + device + ", not on " + other);
  }

  @Override
  public String toString() {
    return name + " of " + device;
  }
}

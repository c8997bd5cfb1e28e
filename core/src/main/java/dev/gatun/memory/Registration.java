package dev.gatun.memory;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.InUseException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** One slab registered with one native library. Usable by any thread. */
public final class Registration implements AutoCloseable {
  // 100 us: far below the time of any transfer worth waiting for; unmeasured default
  private static final long POLL_NANOS = 100_000;

  private final Slab slab;
  private final Registrar registrar;
  private boolean open = true;

  Registration(Slab slab, Registrar registrar) {
    this.slab = slab;
    this.registrar = registrar;
  }

  /** {@return what is registered} */
  public Slab slab() {
    return slab;
  }

  /** {@return with whom} */
  public Registrar registrar() {
    return registrar;
  }

  // one registrar is one native library: identity is meant
  @SuppressWarnings("ReferenceEquality")
  boolean isWith(Registrar other) {
    return registrar == other;
  }

  /** {@return whether it is still registered} */
  public synchronized boolean isOpen() {
    return open;
  }

  /**
   * Unregisters, if no transfer runs. Idempotent.
   *
   * @throws InUseException if transfers run; nothing was unregistered
   */
  @Override
  public void close() {
    close(Deadline.after(Duration.ZERO));
  }

  /**
   * Waits until no transfer of the registrar runs, then unregisters. Blocks. Idempotent.
   *
   * @param deadline when to give up
   * @throws InUseException if transfers still run at the deadline; nothing was unregistered
   */
  public synchronized void close(Deadline deadline) {
    if (!open) return;
    int running = registrar.transfersInFlight();
    while (running > 0 && !deadline.reached()) {
      LockSupport.parkNanos(this, POLL_NANOS);
      running = registrar.transfersInFlight();
    }
    if (running > 0) {
      throw new InUseException("unregister " + slab + " from " + registrar.name() + " refused: " + running
          + " transfers in flight; wait for them");
    }
    registrar.unregister(slab);
    open = false;
    slab.forget(this);
  }
}

package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.RegistrationAdvice;
import dev.gatun.memory.Registrar;
import dev.gatun.memory.Slab;
import java.util.concurrent.atomic.AtomicInteger;

/** The engine's side of one slab's registration, and the count of what uses it. */
final class RegisteredMemory implements Registrar {
  private final EngineBackend backend;
  private final AtomicInteger users = new AtomicInteger();
  private final AtomicInteger peerUses = new AtomicInteger();
  private volatile boolean open;
  private volatile boolean backendGone;

  RegisteredMemory(EngineBackend backend) {
    this.backend = backend;
  }

  @Override
  public String name() {
    return "engine " + backend.name();
  }

  @Override
  public boolean takesDeviceMemory() {
    return backend.takesDeviceMemory();
  }

  @Override
  public void register(Slab slab) {
    RegistrationAdvice advice = backend.registrationAdvice();
    slab.requireRegistrable(advice, name());
    try {
      slab.run(() -> backend.register(slab.segment(), slab.place()));
    } catch (EngineException e) {
      if (!slab.isHost()) throw e; // limits of locked memory are the host's
      throw new EngineException(e.operation(), e.code(), e.rawCode(),
          slab + slab.registrationHint(advice, e.rawCode()));
    }
    open = true;
  }

  /** Refuses while something uses it: what begins after this finds the registration closed. */
  @Override
  public void unregister(Slab slab) {
    open = false;
    if (backendGone) return;
    int running = users.get() + peerUses.get();
    try {
      if (running > 0) {
        throw new InUseException("unregister " + slab + " from " + name() + " refused: " + running + " transfers");
      }
      unregisterIdle(slab);
    } catch (RuntimeException e) {
      open = true;
      throw e;
    }
  }

  private void unregisterIdle(Slab slab) {
    try {
      slab.run(() -> backend.unregister(slab.segment()));
    } catch (EngineException e) {
      if (e.code() != EngineCode.BATCH_BUSY) throw e;
      InUseException inUse = new InUseException(
          "unregister " + slab + " from " + name() + " refused: a peer is in the middle of a transfer");
      inUse.initCause(e);
      throw inUse;
    }
  }

  @Override
  public int transfersInFlight() {
    return backendGone ? 0 : users.get() + peerUses.get();
  }

  boolean isOpen() {
    return open;
  }

  /** Begins a use; to be ended once. The count is raised before the state is read, see {@link #unregister}. */
  void begin(String operation) {
    begin(users, operation);
  }

  /** Begins to let a peer read or write it; as {@link #begin}, to be ended by {@link #endPeerUse}. */
  void beginPeerUse(String operation) {
    begin(peerUses, operation);
  }

  private void begin(AtomicInteger count, String operation) {
    count.getAndIncrement();
    if (open) return;
    count.getAndDecrement();
    throw new ClosedException(operation + " refused: the slab of the pool was unregistered from " + name());
  }

  void end() {
    users.getAndDecrement();
  }

  void endPeerUse() {
    peerUses.getAndDecrement();
  }

  /** {@return whether a peer may be reading or writing it, which ends with the engine if not before} */
  boolean isUsedByPeers() {
    return peerUses.get() > 0;
  }

  /** The native engine was destroyed, and with it whatever it had registered and whatever it was doing. */
  void backendGone() {
    backendGone = true;
  }
}

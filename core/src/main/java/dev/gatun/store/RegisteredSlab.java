package dev.gatun.store;

import dev.gatun.backend.InUseException;
import dev.gatun.backend.RegistrationAdvice;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreException;
import dev.gatun.memory.Registrar;
import dev.gatun.memory.Slab;
import java.util.concurrent.atomic.AtomicInteger;

/** The store's side of one slab's registration. */
final class RegisteredSlab implements Registrar {
  private final StoreBackend backend;
  private final Activities activities;
  private final AtomicInteger quarantined = new AtomicInteger();
  private volatile boolean open;
  private volatile boolean backendGone;

  RegisteredSlab(StoreBackend backend, Activities activities) {
    this.backend = backend;
    this.activities = activities;
  }

  @Override
  public String name() {
    return "store " + backend.name();
  }

  @Override
  public void register(Slab slab) {
    RegistrationAdvice advice = backend.registrationAdvice();
    slab.requireRegistrable(advice, name());
    int code = backend.register(slab.segment());
    if (code != 0) throw new StoreException("register", code, slab + slab.registrationHint(advice, code));
    open = true;
  }

  /** Refuses while transfers run: a transfer that begins after this finds the registration closed. */
  @Override
  public void unregister(Slab slab) {
    open = false;
    if (backendGone) return;
    int running = transfersInFlight();
    if (running > 0) {
      open = true;
      throw new InUseException("unregister " + slab + " from " + name() + " refused: " + running + " transfers");
    }
    int code = backend.unregister(slab.segment());
    if (code != 0) {
      open = true;
      throw new StoreException("unregister", code, slab.toString());
    }
  }

  @Override
  public int transfersInFlight() {
    return backendGone ? 0 : activities.runningOn(this) + quarantined.get();
  }

  boolean isOpen() {
    return open;
  }

  /** A transfer is in doubt until the store is destroyed. */
  void addQuarantined() {
    quarantined.incrementAndGet();
  }

  boolean hasQuarantined() {
    return quarantined.get() > 0;
  }

  /** The native store was destroyed, and with it whatever it had registered and whatever it was doing. */
  void backendGone() {
    backendGone = true;
  }
}

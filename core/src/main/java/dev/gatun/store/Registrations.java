package dev.gatun.store;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.memory.Registration;
import dev.gatun.memory.Slab;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The slabs that are registered with one store. Usable by any thread. */
final class Registrations {
  private static final Logger LOG = LoggerFactory.getLogger(Registrations.class);

  private final StoreCore core;
  private final Map<Slab, Entry> entries = new HashMap<>();

  private record Entry(RegisteredSlab registered, Registration registration) {}

  Registrations(StoreCore core) {
    this.core = core;
  }

  synchronized void register(Slab slab) {
    if (core.activities.closing()) throw new ClosedException("register refused: the store is closed");
    Entry known = entries.get(slab);
    if (known != null && known.registration.isOpen()) {
      throw new IllegalStateException(slab + " is already registered with " + known.registered.name());
    }
    RegisteredSlab registered = new RegisteredSlab(core.backend, core.activities);
    entries.put(slab, new Entry(registered, slab.register(registered)));
  }

  void unregister(Slab slab, Deadline deadline) {
    Registration registration;
    synchronized (this) {
      Entry known = entries.get(slab);
      if (known == null) throw notRegistered(slab);
      registration = known.registration;
    }
    registration.close(deadline);
    synchronized (this) {
      entries.remove(slab);
    }
  }

  synchronized boolean isOpen(Slab slab) {
    Entry known = entries.get(slab);
    return known != null && known.registered.isOpen();
  }

  synchronized RegisteredSlab require(Slab slab) {
    Entry known = entries.get(slab);
    if (known == null || !known.registered.isOpen()) throw notRegistered(slab);
    return known.registered;
  }

  /** Unregisters what no transfer is in doubt about; destroying the native store does the rest. */
  synchronized void closeBeforeBackend(Deadline deadline) {
    for (Entry entry : entries.values()) {
      if (entry.registered.hasQuarantined()) continue;
      try {
        entry.registration.close(deadline);
      } catch (GatunException e) {
        LOG.warn("closing the store goes on without it: {}", e.getMessage());
      }
    }
  }

  /** To be called when the native store is gone. */
  synchronized void closeAfterBackend() {
    for (Entry entry : entries.values()) {
      entry.registered.backendGone();
      entry.registration.close();
    }
    entries.clear();
  }

  private IllegalArgumentException notRegistered(Slab slab) {
    return new IllegalArgumentException(slab + " must be registered with store " + core.backend.name() + " first");
  }
}

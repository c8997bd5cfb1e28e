package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.MemoryRange;
import dev.gatun.memory.Registration;
import dev.gatun.memory.Slab;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The slabs that are registered with one engine. Usable by any thread. */
final class EngineMemory {
  private static final Logger LOG = LoggerFactory.getLogger(EngineMemory.class);

  private final EngineCore core;
  private final Map<Slab, Entry> entries = new LinkedHashMap<>();

  private record Entry(RegisteredMemory memory, Registration registration) {}

  EngineMemory(EngineCore core) {
    this.core = core;
  }

  synchronized void register(Slab slab) {
    if (core.closing) throw new ClosedException("register refused: " + core.backend.name() + " is closed");
    Entry known = entries.get(slab);
    if (known != null && known.registration.isOpen()) {
      throw new IllegalStateException(slab + " is already registered with " + known.memory.name());
    }
    RegisteredMemory memory = new RegisteredMemory(core.backend);
    entries.put(slab, new Entry(memory, slab.register(memory)));
  }

  void unregister(Slab slab, Deadline deadline) {
    Entry known;
    synchronized (this) {
      known = entry(slab).orElseThrow(() -> notRegistered(slab));
    }
    known.registration.close(deadline);
    synchronized (this) {
      entries.remove(slab, known); // another thread may have registered it anew
    }
  }

  synchronized RegisteredMemory require(Slab slab) {
    return entry(slab).filter(entry -> entry.memory.isOpen()).orElseThrow(() -> notRegistered(slab)).memory;
  }

  /** {@return what is registered now, as peers see it} */
  synchronized List<MemoryRange> ranges() {
    List<MemoryRange> ranges = new ArrayList<>();
    entries.forEach((slab, entry) -> {
      if (entry.memory.isOpen()) {
        ranges.add(new MemoryRange(slab.segment().address(), slab.byteSize(), slab.place()));
      }
    });
    return ranges;
  }

  /**
   * Makes a call that concerns a peer's memory, which may be a GPU's as ours is: as a registered slab that Java cannot touch wants
   * it, if there is one. {@return what the call does}
   */
  int call(IntSupplier call) {
    Optional<Slab> device;
    synchronized (this) {
      device = entries.keySet().stream().filter(slab -> !slab.isHost()).findFirst();
    }
    if (device.isEmpty()) return call.getAsInt();
    int[] result = new int[1];
    device.get().run(() -> result[0] = call.getAsInt());
    return result[0];
  }

  /** {@return registrations that are open} */
  synchronized int count() {
    return (int) entries.values().stream().filter(entry -> entry.memory.isOpen()).count();
  }

  /** Unregisters all but what a peer may be using and what the library holds on to: that goes with the engine. */
  synchronized void close(Deadline deadline) {
    for (Iterator<Entry> left = entries.values().iterator(); left.hasNext();) {
      Entry entry = left.next();
      if (entry.memory.isUsedByPeers()) continue;
      try {
        entry.registration.close(deadline);
        left.remove();
      } catch (EngineException | InUseException refused) {
        if (entry.memory.transfersInFlight() > 0) throw refused; // of this engine, or a grant that was just made
        LOG.debug("{} goes with the engine: {}", entry.registration.slab(), refused.getMessage());
      }
    }
  }

  /** To be called when the native engine is gone. */
  synchronized void closeAfterBackend() {
    for (Entry entry : entries.values()) {
      entry.memory.backendGone();
      entry.registration.close();
    }
    entries.clear();
  }

  private Optional<Entry> entry(Slab slab) {
    return Optional.ofNullable(entries.get(slab));
  }

  private IllegalArgumentException notRegistered(Slab slab) {
    return new IllegalArgumentException(slab + " must be registered with engine " + core.backend.name() + " first");
  }
}

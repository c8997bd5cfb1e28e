package dev.gatun.device;

import dev.gatun.backend.InUseException;
import dev.gatun.memory.Registrar;
import dev.gatun.memory.Registration;
import dev.gatun.memory.Slab;
import org.jspecify.annotations.Nullable;

/**
 * A host slab pinned in place for a GPU, which then copies at link speed. A registration of the slab like a store's: the
 * slab does not close before it.
 */
public final class PinnedSlab extends DeviceMemory {
  private final Slab slab;
  private final Pin pin = new Pin();
  private @Nullable Registration registration;

  PinnedSlab(Device device, Slab slab) {
    super(device, "pinned " + slab.name(), slab.segment().address(), slab.byteSize());
    this.slab = slab;
  }

  /** {@return the host slab} */
  public Slab slab() {
    return slab;
  }

  void register() {
    registration = slab.register(pin);
  }

  @Override
  void destroy() {
    pin.ending = true;
    try {
      if (registration != null) registration.close();
    } finally {
      pin.ending = false;
    }
  }

  /** The registrar behind the slab's registration. Only closing the pinned slab ends it, since that waits for the GPU. */
  private final class Pin implements Registrar {
    private volatile boolean ending;

    @Override
    public String name() {
      return device().toString();
    }

    @Override
    public void register(Slab registered) {
      device().bind();
      try {
        device().driver().pin(address(), byteSize());
      } finally {
        device().unbind();
      }
    }

    @Override
    public void unregister(Slab registered) {
      if (!ending) {
        throw new InUseException("unregister " + slab + " refused: close its PinnedSlab, which waits for " + device());
      }
      device().bind();
      try {
        device().driver().unpin(address());
      } finally {
        device().unbind();
      }
    }

    @Override
    public int transfersInFlight() {
      return 0; // the pinned slab has waited for them before it ends the registration
    }
  }
}

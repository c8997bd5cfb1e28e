package dev.gatun.device;

import dev.gatun.backend.Deadline;

/**
 * A {@link DeviceSlab} that other processes may reach by its {@link #share()}. The slab does not close before this does,
 * since freeing memory that another process has open is undefined: close this once every process that was given the share
 * has closed its {@link PeerSlab} or is dead.
 */
public final class SharedSlab extends DeviceResource {
  private final DeviceSlab slab;
  private final SlabShare share;

  SharedSlab(DeviceSlab slab, SlabShare share) {
    super(slab.device(), "shared " + slab.name());
    this.slab = slab;
    this.share = share;
  }

  /** {@return the memory} */
  public DeviceSlab slab() {
    return slab;
  }

  /** {@return what another process gives to {@link Device#attach}} */
  public SlabShare share() {
    return share;
  }

  @Override
  void awaitWork(Deadline deadline) {
    // this process's work is the slab's to wait for, and another's is its own
  }

  @Override
  void destroy() {
    slab.letGo(this);
  }
}

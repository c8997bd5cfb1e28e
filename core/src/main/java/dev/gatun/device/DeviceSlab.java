package dev.gatun.device;

import dev.gatun.memory.Slab;

/** Contiguous memory of a GPU: allocated by {@link Device#allocate}, or adopted from the inference engine. */
public final class DeviceSlab extends DeviceMemory {
  private final boolean ours;

  DeviceSlab(Device device, String name, long address, long bytes, boolean ours) {
    super(device, name, address, bytes);
    this.ours = ours;
  }

  /** {@return whether closing it frees the memory; false if it was adopted} */
  public boolean isOwned() {
    return ours;
  }

  /**
   * Makes a slab of it, for block pools that a transfer engine moves between processes without a copy in host memory: an
   * engine of NIXL takes it. Engines know nothing of streams: what makes a page must be done ({@link DeviceEvent#await}) before
   * it is sent, and a kernel that uses one must be queued after the transfer was awaited.
   *
   * @param name for reports
   * @return the slab, which Java cannot touch; the caller closes it, and this memory does not close before
   * @throws dev.gatun.backend.ClosedException if it is closed
   */
  public Slab asSlab(String name) {
    GpuOwner owner = new GpuOwner(this);
    hold(owner);
    try {
      return Slab.ofOwner(name, address(), byteSize(), owner);
    } catch (RuntimeException | Error e) {
      letGo(owner);
      throw e;
    }
  }

  @Override
  void destroy() {
    if (!ours) return;
    device().bind();
    try {
      device().driver().free(address());
    } finally {
      device().unbind();
    }
  }
}

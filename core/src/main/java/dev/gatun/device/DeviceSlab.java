package dev.gatun.device;

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

package dev.gatun.device;

/**
 * Memory of a GPU that another process of this host owns, opened with {@link Device#attach}. It may be another GPU's than the
 * one that it was opened on: kernels and copies of the latter reach it over the link between the two.
 */
public final class PeerSlab extends DeviceMemory {
  private final SlabShare share;

  PeerSlab(Device device, String name, long base, SlabShare share) {
    super(device, name, base + share.offset(), share.bytes());
    this.share = share;
  }

  /** {@return what it was opened with} */
  public SlabShare share() {
    return share;
  }

  @Override
  void destroy() {
    device().bind();
    try {
      device().driver().closeImported(address() - share.offset());
    } finally {
      device().unbind();
    }
  }
}

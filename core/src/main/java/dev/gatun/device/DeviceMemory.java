package dev.gatun.device;

import dev.gatun.backend.Deadline;

/** A range of memory that a GPU copies from and to: its own, another process's, or a host slab pinned for it. */
public abstract sealed class DeviceMemory extends DeviceResource permits DeviceSlab, PeerSlab, PinnedSlab {
  private final long address;
  private final long bytes;

  DeviceMemory(Device device, String name, long address, long bytes) {
    super(device, name);
    this.address = address;
    this.bytes = bytes;
  }

  /** {@return where it starts, as native code sees it; of no use to Java} */
  public final long address() {
    return address;
  }

  /** {@return its size in bytes} */
  public final long byteSize() {
    return bytes;
  }

  /**
   * {@return how far an address lies from the start}
   *
   * @param inner address within this memory, such as {@code BlockPool.blockAddress(block)} of a pool on the pinned slab
   * @throws IllegalArgumentException if it lies outside
   */
  public final long offsetOf(long inner) {
    long offset = inner - address;
    if (offset < 0 || offset >= bytes) {
      throw new IllegalArgumentException(
          "address must lie in " + this + ", which starts at 0x" + Long.toHexString(address) + ": 0x"
              + Long.toHexString(inner));
    }
    return offset;
  }

  /** Refuses a range that does not lie within this memory. */
  final void requireRange(String field, long offset, long length) {
    if (offset < 0 || length < 0 || offset > bytes - length) {
      throw new IllegalArgumentException(
          field + " must lie within 0 to " + bytes + " of " + this + ": " + length + " bytes at " + offset);
    }
  }

  @Override
  final void awaitWork(Deadline deadline) {
    device().awaitQueued(deadline, this);
  }

  @Override
  public final String toString() {
    return name() + " (" + bytes + " bytes) of " + device();
  }
}

package dev.gatun.device;

import java.util.List;

/**
 * A paged KV cache in GPU memory, as one side of a {@link PagePush}.
 *
 * @param layout where its blocks lie, in addresses of this process
 * @param memory the memories that hold it: {@link DeviceSlab} or {@link PeerSlab}
 * @param heads heads that take part
 */
public record PagedCache(PagedKvLayout layout, List<DeviceMemory> memory, HeadRange heads) {
  /**
   * Checks.
   *
   * @throws IllegalArgumentException if there is no memory, or it is host memory
   */
  public PagedCache {
    memory = List.copyOf(memory);
    if (memory.isEmpty()) throw new IllegalArgumentException("memory must name at least one slab: []");
    for (DeviceMemory slab : memory)
      if (slab instanceof PinnedSlab) throw new IllegalArgumentException("memory must be of a GPU: " + slab);
  }

  /**
   * A cache of which all heads take part.
   *
   * @param layout as above
   * @param memory as above
   */
  public PagedCache(PagedKvLayout layout, List<DeviceMemory> memory) {
    this(layout, memory, HeadRange.all(layout.shape()));
  }

  /** Refuses a fragment of which some block lies outside the memory. */
  void requireInside(String side, long place, long bytes) {
    long last = place + layout.blockBytes() * (layout.blocks() - 1L);
    for (DeviceMemory slab : memory) {
      long room = slab.byteSize() - bytes;
      if (place >= slab.address() && place - slab.address() <= room && last - slab.address() <= room) return;
    }
    throw new IllegalArgumentException(side + " must lie in its memory " + memory + ": " + bytes + " bytes from 0x"
        + Long.toHexString(place) + " to 0x" + Long.toHexString(last) + " do not");
  }
}

package dev.gatun.device;

import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.MemorySegment;

/** A column that kernels write on the device, and its copy in pinned host memory. */
final class ResultColumn {
  private final DeviceSlab results;
  private final Slab slab;
  private final PinnedSlab pinned;

  private ResultColumn(DeviceSlab results, Slab slab, PinnedSlab pinned) {
    this.results = results;
    this.slab = slab;
    this.pinned = pinned;
  }

  static ResultColumn allocate(Device device, String name, long bytes) {
    DeviceSlab results = device.allocate(name + " column", bytes);
    Slab slab = null;
    try {
      slab = Slab.allocate(SlabOptions.of(name, bytes));
      return new ResultColumn(results, slab, device.pin(slab));
    } catch (RuntimeException | Error e) {
      if (slab != null) slab.close();
      results.close();
      throw e;
    }
  }

  MemorySegment host() {
    return slab.segment();
  }

  long deviceAddress() {
    return results.address();
  }

  /** Queues zeros. */
  void clear(DeviceStream stream, long bytes) {
    stream.fill(results, 0, bytes, (byte) 0);
  }

  /** Queues the copy to the host. */
  void download(DeviceStream stream, long bytes) {
    stream.copy(pinned, 0, results, 0, bytes);
  }

  /** Frees all of it. Goes on where it stopped if it was refused before. */
  void close() {
    pinned.close();
    slab.close();
    results.close();
  }
}

package dev.gatun.device;

import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.MemorySegment;

/** A column in pinned host memory, its copy on the device, and the event that says that an upload has read the former. */
final class UploadColumn {
  private final Slab slab;
  private final PinnedSlab pinned;
  private final DeviceSlab copy;
  private final DeviceEvent uploaded;

  private UploadColumn(Slab slab, PinnedSlab pinned, DeviceSlab copy, DeviceEvent uploaded) {
    this.slab = slab;
    this.pinned = pinned;
    this.copy = copy;
    this.uploaded = uploaded;
  }

  static UploadColumn allocate(Device device, String name, long bytes) {
    Slab slab = Slab.allocate(SlabOptions.of(name, bytes));
    PinnedSlab pinned = null;
    DeviceSlab copy = null;
    try {
      pinned = device.pin(slab);
      copy = device.allocate(name + " column", bytes);
      return new UploadColumn(slab, pinned, copy, device.newEvent(name + " uploaded"));
    } catch (RuntimeException | Error e) {
      if (copy != null) copy.close();
      if (pinned != null) pinned.close();
      slab.close();
      throw e;
    }
  }

  MemorySegment host() {
    return slab.segment();
  }

  long deviceAddress() {
    return copy.address();
  }

  DeviceEvent uploaded() {
    return uploaded;
  }

  /** Queues the upload of a part. */
  void upload(DeviceStream stream, long offset, long bytes) {
    stream.copy(copy, offset, pinned, offset, bytes).record(uploaded);
  }

  /** As {@link #upload}, admitted and with the context bound; the caller knows by other means when it is done. */
  void uploadBound(CudaDriver driver, long stream, long offset, long bytes) {
    driver.copyToDevice(copy.address() + offset, pinned.address() + offset, bytes, stream);
  }

  /** Frees all of it. Goes on where it stopped if it was refused before. */
  void close() {
    uploaded.close();
    copy.close();
    pinned.close();
    slab.close();
  }
}

package dev.gatun.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.device.StagedBatch.Direction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Copies between the device and pinned host memory that are queued together: by one call of the driver where it can, since
 * each call of its own leaves the link idle for some microseconds. One thread at a time, with the context bound.
 */
final class CopyList implements AutoCloseable {
  // With thousands of smaller ones queued by cuMemcpyBatchAsync the driver 580.159.04 loses the context or ends the process
  // (copies of 10 and 20 KiB, now and then; none of 30 KiB and more did): those go by calls of their own (decision 0006).
  static final long BATCHED_BYTES_MIN = 64 << 10;
  private static final int SMALL_MAX = 2; // a chunk begins and ends within a page

  private final CudaDriver driver;
  private final Arena arena = Arena.ofShared(); // ring
  private final MemorySegment onHost;
  private final MemorySegment onDevice;
  private final MemorySegment sizes;
  private int count;
  private int small; // of those that were added

  CopyList(CudaDriver driver, int capacity) {
    this.driver = driver;
    onHost = arena.allocate(JAVA_LONG, capacity);
    onDevice = arena.allocate(JAVA_LONG, capacity);
    sizes = arena.allocate(JAVA_LONG, capacity);
  }

  void add(long host, long device, long length) {
    onHost.setAtIndex(JAVA_LONG, count, host);
    onDevice.setAtIndex(JAVA_LONG, count, device);
    sizes.setAtIndex(JAVA_LONG, count, length);
    count++;
    if (length < BATCHED_BYTES_MIN) small++;
  }

  /** Queues all that was added, and forgets it, also if the driver refuses. */
  void queue(Direction direction, long stream) {
    try {
      queueAll(direction, stream);
    } finally {
      count = 0;
      small = 0;
    }
  }

  private void queueAll(Direction direction, long stream) {
    boolean save = direction == Direction.SAVE;
    if (count > 1 && driver.copiesBatches() && small <= SMALL_MAX) {
      driver.copyBatch((save ? onHost : onDevice).address(), (save ? onDevice : onHost).address(), sizes.address(),
          count,
          stream);
    } else {
      for (int i = 0; i < count; i++)
        copy(save, i, stream);
    }
  }

  private void copy(boolean save, int index, long stream) {
    long host = onHost.getAtIndex(JAVA_LONG, index);
    long device = onDevice.getAtIndex(JAVA_LONG, index);
    long length = sizes.getAtIndex(JAVA_LONG, index);
    if (save) driver.copyToHost(host, device, length, stream);
    else
      driver.copyToDevice(device, host, length, stream);
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) arena.close();
  }
}

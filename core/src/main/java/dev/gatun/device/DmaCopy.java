package dev.gatun.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.backend.Deadline;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Moves fragments by the copy engine, one copy a fragment: for fragments so large that a copy's own cost does not show, some
 * 256 KiB and more. Where the driver has it, copies of 64 KiB or more are queued many by one call; smaller ones are not, since some
 * drivers fail on them (decision 0006). A table need not be uploaded for it.
 */
public final class DmaCopy extends DeviceResource implements FragmentCopy {
  // the driver's share of a call is small from some tens on, and calls with hundreds fail (decision 0006)
  private static final int BATCH = 128;
  private static final int EACH_AT_A_TIME = 64; // a small part of what may be queued, so that room is found early

  private final boolean batches;
  @SuppressWarnings("MustBeClosedChecker") // closed with this
  private final Arena arena = Arena.ofShared();
  private final MemorySegment places = arena.allocate(JAVA_LONG, BATCH);
  private final MemorySegment sizes = arena.allocate(JAVA_LONG, BATCH);
  private final ReentrantLock filling = new ReentrantLock();

  private DmaCopy(Device device, boolean batches) {
    super(device, "copy engine");
    this.batches = batches;
  }

  /**
   * Opens the copy engine's way.
   *
   * @param device the GPU
   * @param batches whether to queue many copies by one call where the driver can
   * @return the way; the caller closes it
   */
  public static DmaCopy open(Device device, boolean batches) {
    return device.make("open the copy engine",
        () -> new DmaCopy(device, batches && device.driver().copiesBatches()));
  }

  /** {@return whether many copies are queued by one call} */
  public boolean isBatched() {
    return batches;
  }

  @Override
  public void gather(FragmentTable table, int first, int count, DeviceMemory target, long targetOffset) {
    copy("targetOffset", table, first, count, target, targetOffset, true);
  }

  @Override
  public void scatter(DeviceMemory source, long sourceOffset, FragmentTable table, int first, int count) {
    copy("sourceOffset", table, first, count, source, sourceOffset, false);
  }

  private void copy(String field, FragmentTable table, int first, int count, DeviceMemory range, long offset,
      boolean gather) {
    table.requireOn(device());
    table.requireAdded(first, count);
    range.requireOn(device());
    range.requireRange(field, offset, Math.multiplyExact(count, table.fragmentBytes()));
    enter();
    try {
      table.enter();
      try {
        range.enter();
        try {
          if (batches && table.fragmentBytes() >= CopyList.BATCHED_BYTES_MIN)
            queueBatches(table, first, count, range.address() + offset, gather);
          else
            queueEach(table, first, count, range, range.address() + offset, gather);
        } finally {
          range.exit();
        }
      } finally {
        table.exit();
      }
    } finally {
      exit();
    }
  }

  private void queueEach(FragmentTable table, int first, int count, DeviceMemory range, long place, boolean gather) {
    CudaDriver driver = device().driver();
    long stream = table.stream().handle();
    long bytes = table.fragmentBytes();
    boolean host = range instanceof PinnedSlab;
    for (int done = 0; done < count; done += EACH_AT_A_TIME) {
      int end = Math.min(count, done + EACH_AT_A_TIME);
      table.stream().admit(end - done);
      device().bind();
      try {
        for (int i = done; i < end; i++) {
          long fragment = table.address(first + i);
          long contiguous = place + i * bytes;
          if (!host) driver.copyOnDevice(gather ? contiguous : fragment, gather ? fragment : contiguous, bytes, stream);
          else if (gather) driver.copyToHost(contiguous, fragment, bytes, stream);
          else
            driver.copyToDevice(fragment, contiguous, bytes, stream);
        }
      } finally {
        device().unbind();
      }
    }
  }

  private void queueBatches(FragmentTable table, int first, int count, long place, boolean gather) {
    for (int done = 0; done < count; done += BATCH) {
      int batch = Math.min(BATCH, count - done);
      table.stream().admit(batch);
      queueBatch(table, first + done, batch, place + done * table.fragmentBytes(), gather);
    }
  }

  private void queueBatch(FragmentTable table, int first, int count, long place, boolean gather) {
    long bytes = table.fragmentBytes();
    filling.lock(); // before the context is bound: nothing may wait after that
    try {
      for (int i = 0; i < count; i++) {
        places.setAtIndex(JAVA_LONG, i, place + i * bytes);
        sizes.setAtIndex(JAVA_LONG, i, bytes);
      }
      long fragments = table.hostAddress(first);
      device().bind();
      try {
        device().driver().copyBatch(gather ? places.address() : fragments, gather ? fragments : places.address(),
            sizes.address(), count, table.stream().handle());
      } finally {
        device().unbind();
      }
    } finally {
      filling.unlock();
    }
  }

  @Override
  void awaitWork(Deadline deadline) {} // the driver has read the columns when a call returns

  @Override
  void destroy() {
    arena.close();
  }
}

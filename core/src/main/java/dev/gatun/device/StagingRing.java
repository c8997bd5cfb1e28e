package dev.gatun.device;

import dev.gatun.backend.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Device memory through which the pages of one direction pass, in equal chunks used in turn, with the streams of the kernels
 * and of the copies. A chunk's events keep the one from overtaking the other. Chunks take turns on two copy streams, so that
 * the link does not rest between two copies.
 */
final class StagingRing implements AutoCloseable {
  private static final int COPY_STREAMS = 2;
  // pages of a chunk, each a copy: what may be queued on a stream holds several such chunks
  private static final int PAGES_MAX = 128;
  private static final int CHUNKS_MAX = 512; // each has two events; only pages smaller than 1.5 KiB would need more

  private final List<DeviceResource> resources = new ArrayList<>();
  private final long base;
  private final DeviceStream kernels;
  private final DeviceStream[] copies = new DeviceStream[COPY_STREAMS];
  private final DeviceEvent[] filled;
  private final DeviceEvent[] emptied;
  private final CopyList list;
  private final long chunkBytes;
  private final AtomicLongArray turns; // of each chunk, whose it is; 0 if what used it is known to have ended
  private final ReentrantLock sending = new ReentrantLock();
  private long turn; // under sending
  private int next;

  /** Chunks hold whole fragments of at most so many pages; without chunks only the streams are there. */
  StagingRing(Device device, String name, StagingOptions options, PagedKvLayout layout, boolean hasChunks) {
    long fragmentBytes = layout.fragmentBytes();
    long most = Math.min(options.chunkBytes(), PAGES_MAX * layout.valueBytes());
    chunkBytes = Math.max(1, most / fragmentBytes) * fragmentBytes;
    // an even number, so that the last and the first are neighbours on different streams
    int chunks = hasChunks
        ? Math.clamp(options.ringBytes() / chunkBytes / COPY_STREAMS * COPY_STREAMS, 2, CHUNKS_MAX)
        : 0;
    turns = new AtomicLongArray(chunks);
    // a chunk holds at most one part of a page for each of its fragments
    list = new CopyList(device.driver(), Math.toIntExact(chunkBytes / fragmentBytes));
    filled = new DeviceEvent[chunks];
    emptied = new DeviceEvent[chunks];
    try {
      base = hasChunks ? opened(device.allocate(name + " ring", chunkBytes * chunks)).address() : 0;
      kernels = opened(device.newStream(name + " kernels", StreamPriority.LOW));
      for (int i = 0; i < COPY_STREAMS; i++)
        copies[i] = opened(device.newStream(name + " copies " + i, StreamPriority.LOW));
      for (int i = 0; i < chunks; i++) {
        filled[i] = opened(device.newEvent(name + " filled " + i));
        emptied[i] = opened(device.newEvent(name + " emptied " + i));
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private <R extends DeviceResource> R opened(R resource) {
    resources.add(resource);
    return resource;
  }

  /** Waits until nothing is queued. */
  void await(Deadline deadline) {
    kernels.await(deadline);
    for (DeviceStream stream : copies)
      stream.await(deadline);
    // copies may have let kernels go on
    kernels.await(deadline);
  }

  /** {@return where kernels and the tables they read are queued} */
  DeviceStream kernels() {
    return kernels;
  }

  /** {@return the stream of a chunk's copies} Neighbouring chunks have different ones. */
  DeviceStream copies(int chunk) {
    return copies[chunk % COPY_STREAMS];
  }

  /** Begins to queue a batch, the only one until {@link #end}. {@return its turn} */
  long begin() {
    sending.lock();
    return ++turn;
  }

  void end() {
    sending.unlock();
  }

  /** Takes a chunk for the batch that is being queued; true if what used it last may still run. */
  boolean claim(int chunk) {
    return turns.getAndSet(chunk, turn) != 0;
  }

  /** All that was queued in a turn has ended: its chunks need not be waited for. */
  void ended(long over) {
    for (int chunk = 0; chunk < turns.length(); chunk++)
      turns.compareAndSet(chunk, over, 0);
  }

  /** {@return where a chunk begins on the device} */
  long address(int chunk) {
    return base + chunk * chunkBytes;
  }

  /** {@return for the copies of the chunk at hand} */
  CopyList list() {
    return list;
  }

  long chunkBytes() {
    return chunkBytes;
  }

  /** {@return the chunk whose turn it is} */
  int take() {
    int chunk = next;
    next = chunk + 1 == filled.length ? 0 : chunk + 1;
    return chunk;
  }

  /** {@return the handle of the event that says that a chunk is full} */
  long filled(int chunk) {
    return filled[chunk].handle();
  }

  /** {@return the handle of the event that says that a chunk may be used again} */
  long emptied(int chunk) {
    return emptied[chunk].handle();
  }

  /** Goes on where it stopped if it was refused before. */
  @Override
  public void close() {
    while (!resources.isEmpty()) {
      resources.getLast().close();
      resources.removeLast();
    }
    list.close();
  }
}

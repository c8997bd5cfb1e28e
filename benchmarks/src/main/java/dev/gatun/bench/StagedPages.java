package dev.gatun.bench;

import dev.gatun.backend.Deadline;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceEvent;
import dev.gatun.device.DeviceSlab;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.FragmentTable;
import dev.gatun.device.PageCopy;
import dev.gatun.device.PinnedSlab;
import dev.gatun.device.StreamPriority;
import dev.gatun.memory.MemoryBudget;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * Scattered fragments in GPU memory, moved to one contiguous pinned range and back as {@code page_probe.cpp} does it: gather
 * kernel and copy engine overlapped chunk by chunk through a ring on the device.
 */
final class StagedPages implements AutoCloseable {
  private static final long CHUNK_BYTES = 8L << 20; // as page_probe.cpp
  private static final long RING_BYTES = 96L << 20; // ceilings: link x longest kernel beside it

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final int fragmentBytes;
  private final int fragments;
  private final int perChunk;
  private final int slots;
  private final long[] offsets;
  private final Slab slab;
  private final PinnedSlab host;
  private final DeviceStream kernels;
  private final DeviceStream copies;
  private final DeviceSlab cache;
  private final DeviceSlab ring;
  private final DeviceSlab whole;
  private final FragmentTable table;
  private final PageCopy pages;
  private final DeviceEvent[] filled;
  private final DeviceEvent[] emptied;
  private final Deadline patience = Deadline.after(Duration.ofHours(1)); // one for all, so that none is made in a batch

  StagedPages(String driver, int fragmentBytes, int fragments) {
    this(driver, fragmentBytes, fragments, CHUNK_BYTES, RING_BYTES);
  }

  StagedPages(String driver, int fragmentBytes, int fragments, long chunkBytes, long ringBytes) {
    this.fragmentBytes = fragmentBytes;
    this.fragments = fragments;
    long bytes = bytes();
    perChunk = Math.clamp(chunkBytes / fragmentBytes, 1, fragments);
    slots = Math.clamp(ringBytes / ((long) perChunk * fragmentBytes), 2, Math.ceilDiv(fragments, perChunk) + 1);
    Device gpu = keep(Device.open(driver, 0));
    slab = keep(Slab.allocate(SlabOptions.of("pages", 2 * bytes).within(MemoryBudget.capped("pages", 4 * bytes))));
    host = keep(gpu.pin(slab));
    kernels = keep(gpu.newStream("kernels", StreamPriority.LOW));
    copies = keep(gpu.newStream("copies", StreamPriority.LOW));
    cache = keep(gpu.allocate("cache", 2 * bytes));
    ring = keep(gpu.allocate("ring", (long) slots * perChunk * fragmentBytes));
    whole = keep(gpu.allocate("whole", bytes));
    pages = keep(PageCopy.load(gpu));
    filled = events(gpu, "filled");
    emptied = events(gpu, "emptied");
    table = keep(FragmentTable.allocate("fragments", kernels, List.of(cache), fragmentBytes, fragments));
    offsets = new Random(fragmentBytes).ints(0, fragments).distinct().limit(fragments)
        .mapToLong(slot -> 2L * slot * fragmentBytes).toArray(); // every second slot is somebody else's
    fill();
  }

  private DeviceEvent[] events(Device gpu, String name) {
    DeviceEvent[] events = new DeviceEvent[slots];
    for (int i = 0; i < slots; i++)
      events[i] = keep(gpu.newEvent(name + ' ' + i));
    return events;
  }

  private <T extends AutoCloseable> T keep(T resource) {
    open.push(resource);
    return resource;
  }

  long bytes() {
    return (long) fragmentBytes * fragments;
  }

  private void fill() {
    Random random = new Random(fragments);
    MemorySegment image = slab.segment();
    for (long at = 0; at < 2 * bytes(); at += Long.BYTES)
      image.set(ValueLayout.JAVA_LONG, at, random.nextLong());
    copies.copy(cache, 0, host, 0, 2 * bytes());
    await();
  }

  /** Queues one batch out, its table included. */
  void queueOut() {
    table.clear(patience);
    for (long offset : offsets)
      table.add(0, offset);
    table.upload();
    int chunk = 0;
    for (int first = 0; first < fragments; first += perChunk, chunk++) {
      int slot = chunk % slots;
      int count = Math.min(perChunk, fragments - first);
      long place = (long) slot * perChunk * fragmentBytes;
      if (chunk >= slots) kernels.waitFor(emptied[slot]);
      pages.gather(table, first, count, ring, place);
      kernels.record(filled[slot]);
      copies.waitFor(filled[slot]);
      copies.copy(host, (long) first * fragmentBytes, ring, place, (long) count * fragmentBytes);
      copies.record(emptied[slot]);
    }
  }

  /** Queues one batch back, of the table that is there. */
  void queueBack() {
    int chunk = 0;
    for (int first = 0; first < fragments; first += perChunk, chunk++) {
      int slot = chunk % slots;
      int count = Math.min(perChunk, fragments - first);
      long place = (long) slot * perChunk * fragmentBytes;
      if (chunk >= slots) copies.waitFor(filled[slot]);
      copies.copy(ring, place, host, (long) first * fragmentBytes, (long) count * fragmentBytes);
      copies.record(emptied[slot]);
      kernels.waitFor(emptied[slot]);
      pages.scatter(ring, place, table, first, count);
      kernels.record(filled[slot]);
    }
  }

  /** The link: as many contiguous bytes by one copy. */
  void queueLink(boolean out) {
    if (out) copies.copy(host, 0, whole, 0, bytes());
    else
      copies.copy(whole, 0, host, 0, bytes());
  }

  void await() {
    kernels.await(patience);
    copies.await(patience);
  }

  /** Moves pages out, changes them, moves them back, and compares the whole cache, the fragments between ours included. */
  void verify() {
    fill();
    byte[] image = slab.segment().toArray(ValueLayout.JAVA_BYTE);
    queueOut();
    await();
    for (int i = 0; i < fragments; i++) {
      MemorySegment page = slab.segment().asSlice((long) i * fragmentBytes, fragmentBytes);
      MemorySegment own = MemorySegment.ofArray(image).asSlice(offsets[i], fragmentBytes);
      if (page.mismatch(own) != -1) throw new IllegalStateException("fragment " + i + " came out wrong");
      page.set(ValueLayout.JAVA_INT_UNALIGNED, 0, i);
      own.copyFrom(page);
    }
    queueBack();
    await();
    copies.copy(host, 0, cache, 0, 2 * bytes());
    await();
    long wrong = slab.segment().asSlice(0, 2 * bytes()).mismatch(MemorySegment.ofArray(image));
    if (wrong != -1) throw new IllegalStateException("the cache is wrong at byte " + wrong);
  }

  @Override
  public void close() {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}

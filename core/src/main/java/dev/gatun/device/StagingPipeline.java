package dev.gatun.device;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.Quiescable;
import dev.gatun.device.StagedBatch.Direction;
import dev.gatun.memory.BlockPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Moves pages between an engine's paged cache on a GPU and a pool's blocks in pinned host memory, at the speed of the link
 * however small the fragments are: a kernel gathers them into a ring on the device while the copy engine empties it, and the
 * other way round. Kernels run at low priority, and none of them touches host memory, which would stall the model.
 *
 * <p>Batches may be sent by any thread; those of one direction move in the order in which they were sent. Takes part in
 * refits: a drain waits for everything that was sent.
 */
public final class StagingPipeline implements Quiescable, AutoCloseable {
  private static final int NONE = -1;
  // most that are queued for a batch, and for a chunk on the kernels' stream and, besides pages, on that of copies
  private static final int START_OPERATIONS = 4;
  private static final int KERNEL_OPERATIONS = 4;
  private static final int COPY_OPERATIONS = 4;

  private final Device device;
  private final CudaDriver driver;
  private final PagedKvLayout layout;
  private final List<DeviceSlab> cache;
  private final BlockPool pool;
  private final PinnedSlab pinned;
  private final StagingOptions options;
  private final PageCopy kernels;
  private final DmaCopy copyEngine;
  private final Set<StagedBatch> batches = ConcurrentHashMap.newKeySet();
  private final ReentrantLock queueing = new ReentrantLock();
  private @Nullable StagingRing saving;
  private @Nullable StagingRing loading;
  private boolean closed; // under queueing

  private StagingPipeline(PagedKvLayout layout, List<DeviceSlab> cache, BlockPool pool, PinnedSlab pinned,
      StagingOptions options, PageCopy kernels, DmaCopy copyEngine) {
    device = pinned.device();
    driver = device.driver();
    this.layout = layout;
    this.cache = List.copyOf(cache);
    this.pool = pool;
    this.pinned = pinned;
    this.options = options;
    this.kernels = kernels;
    this.copyEngine = copyEngine;
  }

  /**
   * Opens a pipeline. Blocks while the driver translates the kernels. Device memory for a direction is taken with its first
   * batch.
   *
   * @param layout of the engine's cache
   * @param cache the memory it lies in
   * @param pool pages of the layout's {@link PagedKvLayout#valueBytes()}
   * @param pinned the pool's slab, pinned for the GPU
   * @param options sizes
   * @return the pipeline; the caller closes it before slabs, pool and device
   * @throws IllegalArgumentException if pool, slab and layout do not fit together
   */
  public static StagingPipeline open(PagedKvLayout layout, List<DeviceSlab> cache, BlockPool pool, PinnedSlab pinned,
      StagingOptions options) {
    if (!pinned.slab().equals(pool.slab())) {
      throw new IllegalArgumentException("pinned must be the slab of " + pool.name() + ": " + pinned);
    }
    if (pool.layout().pageBytes() != layout.valueBytes()) {
      throw new IllegalArgumentException("pages must have the layout's " + layout.valueBytes() + " bytes: "
          + pool.layout().pageBytes());
    }
    if ((options.saveStraight() || options.loadStraight()) && !pinned.device().info().reachesHostAddresses()) {
      throw new IllegalArgumentException("options must not be straight, " + pinned.device()
          + " does not reach host memory from kernels: " + options);
    }
    DmaCopy copyEngine = DmaCopy.open(pinned.device(), false); // large copies gain nothing from going together
    PageCopy kernels = null;
    StagingPipeline pipeline;
    try {
      kernels = PageCopy.load(pinned.device());
      pipeline = new StagingPipeline(layout, cache, pool, pinned, options, kernels, copyEngine);
    } catch (RuntimeException | Error e) {
      if (kernels != null) kernels.close();
      copyEngine.close();
      throw e;
    }
    try {
      pinned.hold(pipeline);
      pool.gate().register(pipeline);
      return pipeline;
    } catch (RuntimeException | Error e) {
      pipeline.close();
      throw e;
    }
  }

  /**
   * Makes a batch.
   *
   * @param direction which way its pages move
   * @param capacity most pages, above 0
   * @return an empty batch; the caller closes it
   * @throws IllegalArgumentException if the pages would have more than 2,147,483,647 fragments
   * @throws DeviceException if there is not enough device memory
   */
  public StagedBatch batch(Direction direction, int capacity) {
    int fragments = FragmentTable.fragments(layout, capacity);
    queueing.lock();
    try {
      if (closed) throw new ClosedException("batch refused: " + name() + " is closed");
      StagingRing ring = ring(direction);
      String name = (direction == Direction.SAVE ? "save " : "load ") + batches.size();
      FragmentTable table = FragmentTable.allocate(name, ring.kernels(), cache, layout.fragmentBytes(), fragments);
      DeviceEvent done = null;
      try {
        done = device.newEvent(name + " done");
        StagedBatch batch = new StagedBatch(this, direction, table, done, capacity);
        batches.add(batch);
        return batch;
      } catch (RuntimeException | Error e) {
        if (done != null) done.close();
        table.close();
        throw e;
      }
    } finally {
      queueing.unlock();
    }
  }

  private StagingRing ring(Direction direction) {
    StagingRing open = direction == Direction.SAVE ? saving : loading;
    if (open != null) return open;
    String name = direction == Direction.SAVE ? "save" : "load";
    StagingRing ring = new StagingRing(device, name, options, layout,
        !options.isDirect(direction, layout.fragmentBytes()) && !options.isStraight(direction, layout.fragmentBytes()));
    if (direction == Direction.SAVE) saving = ring;
    else
      loading = ring;
    return ring;
  }

  /** Waits until the streams of a direction are at rest. */
  void awaitStreams(Direction direction, Deadline deadline) {
    opened(direction).await(deadline);
  }

  /** All that was queued in a turn of a direction has moved. */
  void ended(Direction direction, long turn) {
    opened(direction).ended(turn);
  }

  private StagingRing opened(Direction direction) {
    queueing.lock();
    try {
      return ring(direction);
    } finally {
      queueing.unlock();
    }
  }

  /** Queues a batch whose blocks are marked. What it waits for is open and on this GPU, and it does not close meanwhile. */
  void queue(StagedBatch batch, DeviceEvent after) {
    StagingRing ring = opened(batch.direction());
    batch.turn(ring.begin()); // one direction does not wait for room in the other's queue
    try {
      if (options.isDirect(batch.direction(), layout.fragmentBytes())) {
        movePages(copyEngine, ring.kernels(), batch, after);
        return;
      }
      if (options.isStraight(batch.direction(), layout.fragmentBytes())) {
        batch.table().upload();
        movePages(kernels, ring.kernels(), batch, after);
        return;
      }
      start(ring.kernels(), batch, after.handle());
      if (batch.direction() == Direction.SAVE) save(ring, batch);
      else
        load(ring, batch);
    } finally {
      ring.end();
    }
  }

  /** The list of fragments, and what must be done before. */
  private void start(DeviceStream kernelStream, StagedBatch batch, long after) {
    kernelStream.admit(START_OPERATIONS);
    device.bind();
    try {
      batch.table().uploadBound(driver);
      driver.waitFor(kernelStream.handle(), after);
      if (batch.table().count() == 0) driver.record(batch.doneEvent().handle(), kernelStream.handle());
    } finally {
      device.unbind();
    }
  }

  private void save(StagingRing ring, StagedBatch batch) {
    int all = batch.table().count();
    int perChunk = fragmentsPerChunk(ring);
    int before = NONE;
    for (int first = 0; first < all; first += perChunk) {
      int chunk = ring.take();
      int count = Math.min(perChunk, all - first);
      admit(ring, chunk, count);
      kernels.beginBound();
      try {
        saveChunk(ring, batch, first, count, chunk);
        if (first + count == all) finishSave(ring, batch, chunk, before);
      } finally {
        kernels.endBound();
      }
      before = chunk;
    }
  }

  private void saveChunk(StagingRing ring, StagedBatch batch, int first, int count, int chunk) {
    long gathers = ring.kernels().handle();
    long copies = ring.copies(chunk).handle();
    if (ring.claim(chunk)) driver.waitFor(gathers, ring.emptied(chunk));
    kernels.gatherBound(batch.table(), first, count, ring.address(chunk));
    driver.record(ring.filled(chunk), gathers);
    driver.waitFor(copies, ring.filled(chunk));
    copyPages(ring, batch, first, count, chunk);
    driver.record(ring.emptied(chunk), copies);
  }

  private void finishSave(StagingRing ring, StagedBatch batch, int chunk, int before) {
    long copies = ring.copies(chunk).handle();
    // the other copy stream ends with the chunk before
    if (before != NONE) driver.waitFor(copies, ring.emptied(before));
    driver.record(batch.doneEvent().handle(), copies);
  }

  private void load(StagingRing ring, StagedBatch batch) {
    int all = batch.table().count();
    int perChunk = fragmentsPerChunk(ring);
    for (int first = 0; first < all; first += perChunk) {
      int chunk = ring.take();
      int count = Math.min(perChunk, all - first);
      admit(ring, chunk, count);
      kernels.beginBound();
      try {
        loadChunk(ring, batch, first, count, chunk);
        if (first + count == all) driver.record(batch.doneEvent().handle(), ring.kernels().handle());
      } finally {
        kernels.endBound();
      }
    }
  }

  private void loadChunk(StagingRing ring, StagedBatch batch, int first, int count, int chunk) {
    long scatters = ring.kernels().handle();
    long copies = ring.copies(chunk).handle();
    if (ring.claim(chunk)) driver.waitFor(copies, ring.emptied(chunk));
    copyPages(ring, batch, first, count, chunk);
    driver.record(ring.filled(chunk), copies);
    driver.waitFor(scatters, ring.filled(chunk));
    kernels.scatterBound(ring.address(chunk), batch.table(), first, count);
    driver.record(ring.emptied(chunk), scatters);
  }

  /** Waits for room on both streams of a chunk; each page that it holds a part of is a copy. */
  private void admit(StagingRing ring, int chunk, int count) {
    ring.kernels().admit(KERNEL_OPERATIONS);
    ring.copies(chunk).admit(COPY_OPERATIONS + 1 + Math.ceilDiv(count, layout.fragments()));
  }

  /** Copies a chunk to or from the pages it holds parts of; pages that lie side by side go together. */
  private void copyPages(StagingRing ring, StagedBatch batch, int first, int count, int chunk) {
    long fragmentBytes = layout.fragmentBytes();
    int perPage = layout.fragments();
    long inRing = ring.address(chunk);
    int at = first;
    while (at < first + count) {
      long from = hostAddress(batch, at);
      int end = at;
      do {
        end = Math.min(first + count, (end / perPage + 1) * perPage);
      } while (end < first + count && hostAddress(batch, end) == from + (end - at) * fragmentBytes);
      long bytes = (end - at) * fragmentBytes;
      ring.list().add(from, inRing, bytes);
      inRing += bytes;
      at = end;
    }
    ring.list().queue(batch.direction(), ring.copies(chunk).handle());
  }

  private long hostAddress(StagedBatch batch, int fragment) {
    int perPage = layout.fragments();
    return pinned.address() + batch.offset(fragment / perPage) + fragment % perPage * layout.fragmentBytes();
  }

  /** With no ring, on the stream of the batch's table: large fragments by a copy each, others by kernels at host memory. */
  private void movePages(FragmentCopy way, DeviceStream stream, StagedBatch batch, DeviceEvent after) {
    int perPage = layout.fragments();
    stream.waitFor(after);
    for (int page = 0; page < batch.size(); page++) {
      if (batch.direction() == Direction.SAVE) {
        way.gather(batch.table(), page * perPage, perPage, pinned, batch.offset(page));
      } else {
        way.scatter(pinned, batch.offset(page), batch.table(), page * perPage, perPage);
      }
    }
    stream.record(batch.doneEvent());
  }

  private int fragmentsPerChunk(StagingRing ring) {
    return (int) (ring.chunkBytes() / layout.fragmentBytes());
  }

  PagedKvLayout layout() {
    return layout;
  }

  BlockPool pool() {
    return pool;
  }

  long pageOffset(long block) {
    return pinned.offsetOf(pool.blockAddress(block)) + pool.layout().headerBytes();
  }

  void forget(StagedBatch batch) {
    batches.remove(batch);
  }

  @Override
  public String toString() {
    return name();
  }

  @Override
  public String name() {
    return "staging of " + pool.name() + " on " + device;
  }

  /** Nothing is queued in Java. */
  @Override
  public int failQueued() {
    return 0;
  }

  @Override
  public List<String> drain(Deadline deadline) {
    List<String> pending = new ArrayList<>();
    for (StagedBatch batch : batches) {
      try {
        batch.await(deadline);
      } catch (DeadlineException late) {
        pending.add(batch.direction() + " of " + batch.size() + " pages");
      }
    }
    return pending;
  }

  /** Nothing of an epoch is kept here. */
  @Override
  public void clearLocal() {}

  /**
   * Frees rings and kernels. Blocks until what runs has ended. Idempotent; goes on where it stopped if it was refused before.
   *
   * @throws IllegalStateException if batches are open
   */
  @Override
  public void close() {
    queueing.lock();
    try {
      if (!batches.isEmpty()) throw new IllegalStateException("close refused: " + batches.size() + " batches are open");
      closed = true;
      if (saving != null) saving.close();
      if (loading != null) loading.close();
      kernels.close();
      copyEngine.close();
      pinned.letGo(this);
      pool.gate().unregister(this);
    } finally {
      queueing.unlock();
    }
  }
}

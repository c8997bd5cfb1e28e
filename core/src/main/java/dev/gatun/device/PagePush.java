package dev.gatun.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Pages that move together from one paged cache straight into another one, by one kernel, with nothing in between: between
 * two caches of this process, or into the cache of another process that shares it ({@link Device#attach}), on this GPU or
 * over the link to another of the host. Made once, filled and sent many times: clear, add, send, await. Sending allocates
 * nothing and does not wait for the GPU.
 *
 * <p>Layouts, strides and tensor-parallel degrees of the two may differ; padding is not copied. One thread at a time. Whether
 * the target's blocks may be written is for the two processes to settle before.
 */
public final class PagePush extends DeviceResource {
  private static final int OPERATIONS = 5; // of a send: upload, mark, wait, kernel, mark

  private final PageCopy kernels;
  private final DeviceStream stream;
  private final PagedCache source;
  private final PagedCache target;
  private final FragmentPlan plan;
  private final int capacity;
  private final int blocksMax;
  private final UploadColumn places;
  private final UploadColumn pairs;
  private final WorkDone done;
  private final long addressBits;
  private int size;

  private PagePush(PageCopy kernels, DeviceStream stream, PagedCache source, PagedCache target, FragmentPlan plan,
      int capacity, int blocksMax) {
    super(stream.device(), "push");
    this.kernels = kernels;
    this.stream = stream;
    this.source = source;
    this.target = target;
    this.plan = plan;
    this.capacity = capacity;
    this.blocksMax = blocksMax;
    addressBits = plan.addressBits() | source.layout().blockBytes() | target.layout().blockBytes();
    places = UploadColumn.allocate(device(), "places", 2L * plan.places() * Long.BYTES);
    UploadColumn made = null;
    try {
      made = UploadColumn.allocate(device(), "pairs", 2L * capacity * Long.BYTES);
      done = new WorkDone(device().newEvent("pushed"));
    } catch (RuntimeException | Error e) {
      if (made != null) made.close();
      places.close();
      throw e;
    }
    pairs = made;
  }

  /**
   * As {@link #open(PageCopy, DeviceStream, PagedCache, PagedCache, int, int)}, with as many blocks as there is work. Each then
   * lives for microseconds and leaves its place to the model's kernels, whose stream has a higher priority: beside a matrix
   * product on the GPU that pushes, two H200s moved 39 GB/s and the product was 4 % slower; with one block a multiprocessor it
   * was 68 % slower, with 2 blocks in all 15 %. Alone, all from one a multiprocessor on reach the link (decision 0010,
   * benchmarks/results/h200x2-push-probe.json).
   *
   * @param kernels as there
   * @param stream as there, of {@link StreamPriority#LOW}
   * @param source as there
   * @param target as there
   * @param capacity as there
   * @return as there
   */
  public static PagePush open(PageCopy kernels, DeviceStream stream, PagedCache source, PagedCache target,
      int capacity) {
    return open(kernels, stream, source, target, capacity, Integer.MAX_VALUE);
  }

  /**
   * Plans the move between two caches and uploads it. Blocks.
   *
   * @param kernels of the GPU that pushes, the source's; held open, as all that follows
   * @param stream of {@link Device#newStream}, where the kernels are queued
   * @param source where pages come from
   * @param target where they go
   * @param capacity most pages of a send, above 0
   * @param blocksMax most blocks of 256 threads a kernel takes, above 0; few live long and hold up the model's kernels
   * @return an empty push; the caller closes it
   * @throws IllegalArgumentException if the two do not hold the same kind of page, a layout lies outside its memory, or a
   *     memory is another {@link Device}'s: what other GPUs have is reached as a {@link PeerSlab}
   * @throws DeviceException if there is not enough device memory
   */
  public static PagePush open(PageCopy kernels, DeviceStream stream, PagedCache source, PagedCache target, int capacity,
      int blocksMax) {
    stream.requireOurs();
    kernels.requireOn(stream.device());
    source.memory().forEach(slab -> slab.requireOn(stream.device()));
    target.memory().forEach(slab -> slab.requireOn(stream.device()));
    if (capacity <= 0) throw new IllegalArgumentException("capacity must be positive: " + capacity);
    if (blocksMax <= 0) throw new IllegalArgumentException("blocksMax must be positive: " + blocksMax);
    FragmentPlan plan = FragmentPlan.of(source.layout(), source.heads(), target.layout(), target.heads());
    requirePlaces(source, target, plan);
    PagePush push = new PagePush(kernels, stream, source, target, plan, capacity, blocksMax);
    try {
      for (DeviceResource used : push.uses())
        used.hold(push);
      push.uploadPlaces();
      return stream.device().known(push);
    } catch (RuntimeException | Error e) {
      push.close();
      throw e;
    }
  }

  private static void requirePlaces(PagedCache source, PagedCache target, FragmentPlan plan) {
    if (plan.fragmentBytes() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("fragments must be less than 2 GiB: " + plan.fragmentBytes());
    }
    for (int place = 0; place < plan.places(); place++) {
      source.requireInside("source", plan.source(place), plan.fragmentBytes());
      target.requireInside("target", plan.target(place), plan.fragmentBytes());
    }
  }

  private void uploadPlaces() {
    for (int place = 0; place < plan.places(); place++) {
      places.host().setAtIndex(JAVA_LONG, place, plan.source(place));
      places.host().setAtIndex(JAVA_LONG, (long) plan.places() + place, plan.target(place));
    }
    places.upload(stream, 0, 2L * plan.places() * Long.BYTES);
  }

  private List<DeviceResource> uses() {
    List<DeviceResource> uses = new ArrayList<>(List.of(kernels, stream));
    uses.addAll(source.memory());
    target.memory().stream().filter(slab -> !uses.contains(slab)).forEach(uses::add);
    return uses;
  }

  /** {@return bytes of each piece that the kernel moves} */
  public long fragmentBytes() {
    return plan.fragmentBytes();
  }

  /** {@return pieces of each block} */
  public int fragments() {
    return plan.places();
  }

  /** {@return pages added} */
  public int size() {
    return size;
  }

  /**
   * Empties it. Blocks until the GPU has read the list that was sent last.
   *
   * @param deadline when to give up
   * @return this
   * @throws DeadlineException if the GPU has not by then
   */
  public PagePush clear(Deadline deadline) {
    requireOpen();
    pairs.uploaded().await(deadline);
    size = 0;
    return this;
  }

  /**
   * Adds a page.
   *
   * @param sourceBlock block of the source, not its null block
   * @param targetBlock block of the target, not its null block
   * @return this
   * @throws IllegalStateException if it is full
   * @throws IllegalArgumentException if either is the null block of its cache
   * @throws IndexOutOfBoundsException if a cache has no such block
   */
  public PagePush add(int sourceBlock, int targetBlock) {
    requireOpen();
    if (size == capacity) throw new IllegalStateException(this + " is full: " + capacity + " pages");
    source.layout().requireBlock(sourceBlock);
    target.layout().requireBlock(targetBlock);
    pairs.host().setAtIndex(JAVA_LONG, 2L * size, sourceBlock * source.layout().blockBytes());
    pairs.host().setAtIndex(JAVA_LONG, 2L * size + 1, targetBlock * target.layout().blockBytes());
    size++;
    return this;
  }

  /**
   * Queues the move of all pages and returns.
   *
   * @param after what made the source's pages, recorded on the engine's stream
   * @return this
   */
  public PagePush send(Completion after) {
    DeviceEvent start = DeviceEvent.of(after);
    start.requireOn(device());
    enter();
    try {
      start.enter();
      try {
        stream.admit(OPERATIONS);
        kernels.beginBound(); // once for all of it: each binding takes as long as a call that queues
        try {
          queueBound(start);
        } finally {
          kernels.endBound();
        }
      } finally {
        start.exit();
      }
    } finally {
      exit();
    }
    return this;
  }

  private void queueBound(DeviceEvent start) {
    CudaDriver driver = device().driver();
    if (size > 0) {
      pairs.uploadBound(driver, stream.handle(), 0, 2L * size * Long.BYTES);
      driver.record(pairs.uploaded().handle(), stream.handle());
    }
    driver.waitFor(stream.handle(), start.handle());
    if (size > 0) {
      long table = places.deviceAddress();
      kernels.pushBound(stream, table, table + (long) plan.places() * Long.BYTES, pairs.deviceAddress(), plan.places(),
          size, plan.fragmentBytes(), addressBits, blocksMax);
    }
    driver.record(done.event().handle(), stream.handle());
  }

  /** {@return done once all pages sent last have arrived} */
  public Completion done() {
    return done;
  }

  /**
   * Waits until all pages sent last have arrived. Blocks.
   *
   * @param deadline when to give up
   * @return this
   * @throws DeadlineException if they have not by then; they move on
   * @throws DeviceException if the GPU failed; the target's content is invalid
   */
  public PagePush await(Deadline deadline) {
    done.await(deadline);
    return this;
  }

  @Override
  void awaitWork(Deadline deadline) {
    stream.awaitQueued(deadline, this);
  }

  @Override
  void destroy() {
    done.event().close();
    pairs.close();
    places.close();
    for (DeviceResource used : uses())
      used.letGo(this);
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "push of %d fragments of %d bytes a page on %s", plan.places(),
        plan.fragmentBytes(), device());
  }
}

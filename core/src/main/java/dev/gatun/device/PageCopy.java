package dev.gatun.device;

import dev.gatun.backend.Deadline;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Kernels that move the fragments of pages: together, apart, and from place to place. Each call queues one kernel on the
 * table's stream and returns; it allocates nothing. Usable by any thread.
 *
 * <p>The widest vector (16, 8, 4 or 1 bytes) that the fragments' length and all addresses allow is used. What a call writes
 * must not overlap what it reads.
 */
public final class PageCopy extends DeviceResource implements FragmentCopy {
  private static final int[] WIDTHS = {16, 8, 4, 1};
  private static final int THREADS = 256; // h200-page-probe.json
  private static final int LOADS_IN_FLIGHT = 8; // IN_FLIGHT of native/kernels/pages.cu

  private final long module;
  private final long[] gather;
  private final long[] scatter;
  private final long[] move;
  private final long[] push;
  private final int blocksMax;
  private final KernelArguments arguments = new KernelArguments();
  private final ReentrantLock launching = new ReentrantLock();

  private PageCopy(Device device, long module, int blocksMax) {
    super(device, "page kernels");
    this.module = module;
    this.blocksMax = blocksMax;
    gather = functions("gatun_gather_");
    scatter = functions("gatun_scatter_");
    move = functions("gatun_move_");
    push = functions("gatun_push_");
  }

  /**
   * Loads the kernels, with a grid of one block a multiprocessor. Blocks while the driver translates them.
   *
   * @param device the GPU
   * @return the kernels; the caller closes them
   * @throws DeviceException if the driver or the GPU is too old for them
   */
  public static PageCopy load(Device device) {
    return load(device, device.info().multiprocessors());
  }

  /**
   * Loads the kernels.
   *
   * @param device the GPU
   * @param blocksMax most blocks of 256 threads a kernel takes, above 0; fewer leave more of the GPU to others
   * @return the kernels; the caller closes them
   * @throws DeviceException as {@link #load(Device)}
   */
  public static PageCopy load(Device device, int blocksMax) {
    if (blocksMax <= 0) throw new IllegalArgumentException("blocksMax must be positive: " + blocksMax);
    return Ptx.load(device, "pages.ptx", module -> new PageCopy(device, module, blocksMax));
  }

  /** {@inheritDoc} The entries must be uploaded; a pinned slab needs {@link DeviceInfo#reachesHostAddresses}. */
  @Override
  public void gather(FragmentTable table, int first, int count, DeviceMemory target, long targetOffset) {
    requireContiguous("targetOffset", table, first, count, target, targetOffset);
    long to = target.address() + targetOffset;
    launch(gather, table, table, target, table.entryAddress(first), to, count, table.addressBits() | to);
  }

  /** {@inheritDoc} The entries must be uploaded; a pinned slab needs {@link DeviceInfo#reachesHostAddresses}. */
  @Override
  public void scatter(DeviceMemory source, long sourceOffset, FragmentTable table, int first, int count) {
    requireContiguous("sourceOffset", table, first, count, source, sourceOffset);
    long from = source.address() + sourceOffset;
    launch(scatter, table, table, source, from, table.entryAddress(first), count, table.addressBits() | from);
  }

  /**
   * Queues: fragments of one table to the places of another's.
   *
   * @param sources where they lie
   * @param firstSource entry to begin with
   * @param targets where they go; on the same stream, of the same fragment length
   * @param firstTarget entry to begin with
   * @param count entries
   * @throws IllegalArgumentException if entries are not uploaded, or the tables do not fit together
   */
  public void move(FragmentTable sources, int firstSource, FragmentTable targets, int firstTarget, int count) {
    sources.requireOn(device());
    sources.requireUploaded(firstSource, count);
    targets.requireUploaded(firstTarget, count);
    if (!sources.stream().equals(targets.stream()) || sources.fragmentBytes() != targets.fragmentBytes()) {
      throw new IllegalArgumentException("tables must be of one stream and one fragment length: " + sources + ", of "
          + sources.fragmentBytes() + ", and " + targets + ", of " + targets.fragmentBytes());
    }
    launch(move, sources, targets, targets, sources.entryAddress(firstSource), targets.entryAddress(firstTarget), count,
        sources.addressBits() | targets.addressBits());
  }

  private void requireContiguous(String field, FragmentTable table, int first, int count, DeviceMemory range,
      long offset) {
    table.requireOn(device());
    table.requireUploaded(first, count);
    range.requireOn(device());
    range.requireRange(field, offset, Math.multiplyExact(count, table.fragmentBytes()));
    if (range instanceof PinnedSlab && !device().info().reachesHostAddresses()) {
      throw new IllegalArgumentException(device() + " does not reach host memory from kernels: " + range);
    }
  }

  private void launch(long[] kernels, FragmentTable table, DeviceResource second, DeviceResource third, long from,
      long to, long count, long bits) {
    if (count == 0) return;
    enter();
    try {
      table.enter();
      try {
        second.enter();
        try {
          third.enter();
          try {
            queue(kernels, table, from, to, count, bits);
          } finally {
            third.exit();
          }
        } finally {
          second.exit();
        }
      } finally {
        table.exit();
      }
    } finally {
      exit();
    }
  }

  private void queue(long[] kernels, FragmentTable table, long from, long to, long count, long bits) {
    table.stream().admit(1);
    launching.lock(); // before the context is bound: nothing may wait after that
    try {
      device().bind();
      try {
        launchBound(kernels, table, from, to, count, bits);
      } finally {
        device().unbind();
      }
    } finally {
      launching.unlock();
    }
  }

  /** Binds the context for the calls that end in Bound; nothing may wait until {@link #endBound}. */
  void beginBound() {
    launching.lock();
    try {
      device().bind();
    } catch (RuntimeException | Error e) {
      launching.unlock();
      throw e;
    }
  }

  void endBound() {
    try {
      device().unbind();
    } finally {
      launching.unlock();
    }
  }

  /** As {@link #gather}, within {@link #beginBound} and {@link #endBound}, admitted and with everything checked. */
  void gatherBound(FragmentTable table, int first, int count, long to) {
    launchBound(gather, table, table.entryAddress(first), to, count, table.addressBits() | to);
  }

  /** As {@link #scatter}, likewise. */
  void scatterBound(long from, FragmentTable table, int first, int count) {
    launchBound(scatter, table, from, table.entryAddress(first), count, table.addressBits() | from);
  }

  /** Queues the kernel of {@link PagePush}, which has checked everything and holds the rest, likewise. */
  void pushBound(DeviceStream stream, long sources, long targets, long pairs, long places, long blocks,
      long fragmentBytes, long bits, int gridMax) {
    int width = width(bits | fragmentBytes);
    int grid = grid(places * blocks * (fragmentBytes / WIDTHS[width]), gridMax);
    long parameters = arguments.set(sources, targets, pairs, places, blocks, fragmentBytes);
    device().driver().launch(push[width], grid, THREADS, stream.handle(), parameters);
  }

  private static int grid(long vectors, int most) {
    return Math.clamp(Math.ceilDiv(vectors, (long) THREADS * LOADS_IN_FLIGHT), 1, most);
  }

  private void launchBound(long[] kernels, FragmentTable table, long from, long to, long count, long bits) {
    int width = width(bits | table.fragmentBytes());
    long vectors = count * (table.fragmentBytes() / WIDTHS[width]);
    int blocks = grid(vectors, blocksMax);
    long parameters = arguments.set(from, to, count, table.fragmentBytes());
    device().driver().launch(kernels[width], blocks, THREADS, table.stream().handle(), parameters);
  }

  /** Index of the widest vector that divides everything whose bits these are. */
  private static int width(long bits) {
    for (int i = 0; i < WIDTHS.length; i++)
      if ((bits & (WIDTHS[i] - 1)) == 0) return i;
    throw new AssertionError("every number is a multiple of 1");
  }

  private long[] functions(String prefix) {
    long[] functions = new long[WIDTHS.length];
    for (int i = 0; i < WIDTHS.length; i++)
      functions[i] = device().driver().function(module, prefix + WIDTHS[i]);
    return functions;
  }

  @Override
  void awaitWork(Deadline deadline) {
    device().awaitQueued(deadline, this);
  }

  @Override
  void destroy() {
    device().bind();
    try {
      device().driver().unloadModule(module);
    } finally {
      device().unbind();
    }
    arguments.close();
  }
}

package dev.gatun.device;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.StagedBatch.Direction;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * How fast pages of one layout's fragments move on a GPU, each way through the ring, by copies alone, and by kernels straight at
 * host memory, in GB/s. A host measures at start, before the model runs, opens its pipeline with {@link #options()}, and logs
 * this: it says what was chosen and why. Figures beside a running model differ; there, copies alone and the ring both yield to
 * it. Kernels at host memory do not, so they are never chosen here: see {@link StagingOptions#withStraight}.
 *
 * @param used what was measured with; its ring and chunks
 * @param fragmentBytes bytes of a fragment
 * @param ringSave saves through the ring
 * @param directSave saves of each fragment alone
 * @param ringLoad loads through the ring
 * @param directLoad loads of each fragment alone
 * @param straightSave saves by kernels at host memory; 0 where they do not reach it
 * @param straightLoad loads by them
 */
public record StagingMeasurement(StagingOptions used, long fragmentBytes, double ringSave, double directSave,
    double ringLoad, double directLoad, double straightSave, double straightLoad) {
  private static final int ROUNDS = 5; // the best counts: what disturbs only slows
  // a copy alone takes some microseconds whatever its size: 4,096 of them are 10 ms
  private static final long FRAGMENTS_MAX = 4_096;
  private static final long BYTES_MAX = 64L << 20;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /**
   * Measures in memory of its own, freed again. Blocks, some 100 ms; the GPU should do nothing else.
   *
   * @param gpu where
   * @param layout of the engine's cache; only its sizes are used
   * @param options ring and chunks
   * @return the figures
   * @throws IllegalArgumentException if fragments have 2 GiB or more
   * @throws DeviceException if there is not enough device memory: about 64 MiB or two pages, and the rings
   */
  public static StagingMeasurement of(Device gpu, PagedKvLayout layout, StagingOptions options) {
    if (layout.fragmentBytes() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("fragments must be less than 2 GiB to be measured: " + layout.fragmentBytes());
    }
    try (Scratch scratch = new Scratch(gpu, layout)) {
      StagingOptions ring = new StagingOptions(options.ringBytes(), options.chunkBytes(), Long.MAX_VALUE);
      StagingOptions direct = new StagingOptions(options.ringBytes(), options.chunkBytes(), 1);
      StagingOptions straight = ring.withStraight(true, true);
      boolean reaches = gpu.info().reachesHostAddresses();
      return new StagingMeasurement(options, layout.fragmentBytes(), scratch.rate(Direction.SAVE, ring),
          scratch.rate(Direction.SAVE, direct), scratch.rate(Direction.LOAD, ring),
          scratch.rate(Direction.LOAD, direct), reaches ? scratch.rate(Direction.SAVE, straight) : 0,
          reaches ? scratch.rate(Direction.LOAD, straight) : 0);
    }
  }

  /** {@return ring and chunks as measured, and for each direction the faster way for these fragments} */
  public StagingOptions options() {
    return new StagingOptions(used.ringBytes(), used.chunkBytes(), directFrom(directSave > ringSave),
        directFrom(directLoad > ringLoad));
  }

  private long directFrom(boolean alone) {
    return alone ? fragmentBytes : fragmentBytes + 1;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT,
        "fragments of %d bytes: saves %s (ring %.1f GB/s, alone %.1f, straight %.1f), loads %s (ring %.1f GB/s, alone %.1f, "
            + "straight %.1f)",
        fragmentBytes, way(directSave > ringSave), ringSave, directSave, straightSave, way(directLoad > ringLoad),
        ringLoad, directLoad, straightLoad);
  }

  private static String way(boolean alone) {
    return alone ? "alone" : "through the ring";
  }

  /** A cache of as many and as large fragments, and a pool. */
  private static final class Scratch implements AutoCloseable {
    private final List<Runnable> open = new ArrayList<>();
    private final int pages;
    private final PagedKvLayout layout;
    private final DeviceSlab cache;
    private final BlockPool pool;
    private final PinnedSlab pinned;
    private final DeviceEvent ready;
    private final long[] leases;

    Scratch(Device gpu, PagedKvLayout like) {
      long fragments = Math.min(FRAGMENTS_MAX, BYTES_MAX / like.fragmentBytes());
      pages = Math.toIntExact(Math.max(1, fragments / like.fragments()));
      int blocks = pages + 1; // so that no two fragments of a page lie side by side
      KvShape shape = new KvShape(like.fragments(), 1, 1, Math.toIntExact(like.fragmentBytes()), 1, 1);
      try {
        cache = opened(gpu.allocate("measured cache", blocks * shape.valueBytes()), DeviceSlab::close);
        List<Long> parts = new ArrayList<>();
        for (int i = 0; i < like.fragments(); i++)
          parts.add(cache.address() + (long) i * blocks * shape.partBytes());
        layout = new PagedKvLayout(shape, KvStrides.tokensFirst(shape), parts, blocks, PagedKvLayout.NO_NULL_BLOCK);
        PoolLayout places = new PoolLayout(shape.valueBytes(), pages);
        Slab slab = opened(
            Slab.allocate(SlabOptions.of("measured pages", places.strideBytes() * pages).prefaulted()), Slab::close);
        pinned = opened(gpu.pin(slab), PinnedSlab::close);
        pool = opened(BlockPool.over(slab, places, new EpochGate(new WeightEpoch("measurement", 0))),
            BlockPool::close);
        ready = opened(gpu.newEvent("measured ready"), DeviceEvent::close);
        leases = new long[pages];
        for (int i = 0; i < pages; i++)
          leases[i] = pool.lease();
        open.addFirst(this::release);
      } catch (RuntimeException | Error e) {
        close();
        throw e;
      }
    }

    private <R> R opened(R resource, Consumer<R> closer) {
      open.addFirst(() -> closer.accept(resource));
      return resource;
    }

    private void release() {
      for (long lease : leases)
        pool.release(lease);
    }

    double rate(Direction direction, StagingOptions options) {
      try (StagingPipeline pipeline = StagingPipeline.open(layout, List.of(cache), pool, pinned, options);
          StagedBatch batch = pipeline.batch(direction, pages)) {
        for (int i = 0; i < pages; i++)
          batch.add(i, leases[i]);
        long best = Long.MAX_VALUE;
        for (int round = 0; round <= ROUNDS; round++) {
          long start = System.nanoTime();
          batch.send(ready).await(Deadline.after(PATIENCE));
          if (round > 0) best = Math.min(best, System.nanoTime() - start); // in the first one kernels are loaded
        }
        return (double) pages * layout.valueBytes() / best;
      }
    }

    /** Goes on where it stopped if it was refused before. */
    @Override
    public void close() {
      while (!open.isEmpty()) {
        open.getFirst().run();
        open.removeFirst();
      }
    }
  }
}

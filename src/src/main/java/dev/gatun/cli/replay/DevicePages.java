package dev.gatun.cli.replay;

import dev.gatun.backend.Deadline;
import dev.gatun.cli.replay.PageContent.Verdict;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceEvent;
import dev.gatun.device.DeviceSlab;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.KnownPages;
import dev.gatun.device.KvShape;
import dev.gatun.device.KvStrides;
import dev.gatun.device.PagedKvLayout;
import dev.gatun.device.PinnedSlab;
import dev.gatun.device.StagedBatch;
import dev.gatun.device.StagedBatch.Direction;
import dev.gatun.device.StagingOptions;
import dev.gatun.device.StagingPipeline;
import dev.gatun.device.StreamPriority;
import dev.gatun.memory.BlockPool;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/**
 * Pages in a paged cache on a GPU: kernels make them there, and check there what came back from the store; between cache and
 * pool they go through the staging pipeline, as an engine's do. The host sees a page's header only.
 */
final class DevicePages implements ReplicaPages {
  private static final Duration PATIENCE = Duration.ofMinutes(1); // milliseconds of work; more is a GPU that is stuck
  // fragments of a page, at most; as many as a model of that many layers leaves
  private static final int LAYERS_MAX = 64;
  private static final int CHUNKS = 6;

  private final Deque<Runnable> closers = new ArrayDeque<>();
  private final StagedBatch saves;
  private final StagedBatch loads;
  private final DeviceEvent idle;
  private final KnownPages known;
  private final KnownPages suspects;
  private final Verdict[] verdicts;
  private final long[] carried;

  /**
   * Opens the GPU and takes its memory.
   *
   * @param device where
   * @param pool the replica's, of pages of a multiple of 8 bytes
   * @param batchPages pages at a time
   */
  DevicePages(ReplayDevice device, BlockPool pool, int batchPages) {
    verdicts = new Verdict[batchPages];
    carried = new long[batchPages];
    long pageBytes = pool.layout().pageBytes();
    try {
      Device gpu = opened(device.open(), Device::close);
      DeviceSlab cache = opened(gpu.allocate("replay cache", pageBytes * batchPages), DeviceSlab::close);
      PinnedSlab pinned = opened(gpu.pin(pool.slab()), PinnedSlab::close);
      PagedKvLayout layout = layout(cache.address(), pageBytes, batchPages);
      StagingPipeline pipeline = opened(StagingPipeline.open(layout, List.of(cache), pool, pinned,
          options(pageBytes * batchPages)), StagingPipeline::close);
      saves = opened(pipeline.batch(Direction.SAVE, batchPages), StagedBatch::close);
      loads = opened(pipeline.batch(Direction.LOAD, batchPages), StagedBatch::close);
      DeviceStream stream = opened(gpu.newStream("replay", StreamPriority.HIGH), DeviceStream::close);
      idle = opened(gpu.newEvent("replay idle"), DeviceEvent::close);
      known = opened(KnownPages.open(stream, layout, List.of(cache), batchPages), KnownPages::close);
      suspects = opened(KnownPages.open(stream, layout, List.of(cache), batchPages), KnownPages::close);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private <T> T opened(T resource, Consumer<T> closer) {
    closers.push(() -> closer.accept(resource));
    return resource;
  }

  /** The cache of a model with as many layers as divide the page: layer after layer, each with all blocks. */
  private static PagedKvLayout layout(long address, long pageBytes, int blocks) {
    long words = pageBytes / Long.BYTES;
    int layers = LAYERS_MAX;
    while (words % layers != 0)
      layers--;
    KvShape shape = new KvShape(layers, 1, 1, Math.toIntExact(words / layers), 1, Long.BYTES);
    List<Long> parts = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++)
      parts.add(address + layer * shape.partBytes() * blocks);
    return new PagedKvLayout(shape, KvStrides.tokensFirst(shape), parts, blocks, PagedKvLayout.NO_NULL_BLOCK);
  }

  /** The usual ring, smaller where a whole batch is. */
  private static StagingOptions options(long batchBytes) {
    StagingOptions usual = StagingOptions.DEFAULT;
    long chunkBytes = Math.min(usual.chunkBytes(), batchBytes);
    return new StagingOptions(Math.min(usual.ringBytes(), CHUNKS * chunkBytes), chunkBytes,
        usual.saveDirectBytes(), usual.loadDirectBytes());
  }

  @Override
  public void make(PageList pages) {
    known.clear(soon());
    saves.clear(soon());
    for (int i = 0; i < pages.size(); i++) {
      add(known, i, pages.digest(i), pages.version(), pages.hashId(i));
      saves.add(i, pages.block(i));
    }
    known.fill(idle);
    saves.send(known.done()).await(soon());
  }

  @Override
  public void check(PageList pages) {
    known.clear(soon());
    loads.clear(soon());
    for (int i = 0; i < pages.size(); i++) {
      add(known, i, pages.digest(i), pages.version(), pages.hashId(i));
      loads.add(i, pages.block(i));
    }
    loads.send(idle);
    known.check(loads.done());
    loads.await(soon());
    known.await(soon());
    judge(pages);
  }

  private void judge(PageList pages) {
    suspects.clear(soon());
    for (int i = 0; i < pages.size(); i++) {
      carried[i] = known.foundHeader(i, 0);
      verdicts[i] = known.isRight(i) ? Verdict.RIGHT : Verdict.WRONG;
      if (verdicts[i] == Verdict.WRONG && isOlder(known.foundHeader(i, 1), pages.version())) {
        add(suspects, i, carried[i], known.foundHeader(i, 1), pages.hashId(i));
      }
    }
    if (suspects.size() == 0) return;
    suspects.check(idle).await(soon());
    int suspect = 0;
    for (int i = 0; i < pages.size(); i++) {
      if (verdicts[i] == Verdict.WRONG && isOlder(known.foundHeader(i, 1), pages.version())
          && suspects.isRight(suspect++))
        verdicts[i] = Verdict.STALE;
    }
  }

  private static boolean isOlder(long carriedVersion, long version) {
    return carriedVersion >= 0 && carriedVersion < version;
  }

  private static void add(KnownPages to, int block, long digest, long version, long hashId) {
    to.add(block, digest, version, hashId, PageContent.digest(digest, version, hashId));
  }

  @Override
  public Verdict verdict(int index) {
    return verdicts[index];
  }

  @Override
  public long carriedDigest(int index) {
    return carried[index];
  }

  private static Deadline soon() {
    return Deadline.after(PATIENCE);
  }

  /** Gives everything back. The pool closes after it. */
  @Override
  public void close() {
    while (!closers.isEmpty()) {
      closers.peek().run();
      closers.pop();
    }
  }
}

package dev.gatun.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.StagedBatch.Direction;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("in steady state a staged batch makes no Java objects")
class SteadyStateTest {
  private static final int FRAGMENTS = 64;
  private static final int WARM_ROUNDS = 2_000; // until call sites are linked and the paths compiled
  private static final int ROUNDS = 500;
  private static final int WINDOWS = 10;

  @BeforeAll
  static void select() throws Exception {
    StandInLibrary.select();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ffm", "lwjgl"})
  @DisplayName("filling and uploading a table, gather, copy, record, wait, query, scatter")
  void allocatesNothing(String driver) {
    long bytes = FRAGMENTS * 128L;
    try (Device gpu = Device.open(driver, 0);
        Slab slab = Slab.allocate(SlabOptions.of("host", bytes));
        PinnedSlab host = gpu.pin(slab);
        DeviceStream stream = gpu.newStream("stream", StreamPriority.LOW);
        DeviceStream copies = gpu.newStream("copies", StreamPriority.LOW);
        DeviceSlab cache = gpu.allocate("cache", 2 * bytes);
        DeviceSlab ring = gpu.allocate("ring", bytes);
        DeviceEvent gathered = gpu.newEvent("gathered");
        DeviceEvent copied = gpu.newEvent("copied");
        PageCopy pages = PageCopy.load(gpu);
        FragmentTable table = FragmentTable.allocate("table", stream, List.of(cache), 128, FRAGMENTS)) {
      Deadline deadline = Deadline.after(Duration.ofMinutes(2));
      Runnable batch = () -> {
        table.clear(deadline);
        for (int i = 0; i < FRAGMENTS; i++)
          table.add(0, i * 256L);
        table.upload();
        pages.gather(table, 0, FRAGMENTS, ring, 0);
        stream.record(gathered);
        copies.waitFor(gathered).copy(host, 0, ring, 0, bytes).record(copied);
        copied.await(deadline);
        pages.scatter(ring, 0, table, 0, FRAGMENTS);
        stream.await(deadline);
      };
      requireNoObjects(batch);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"ffm", "lwjgl"})
  @DisplayName("sending pages through the pipeline both ways, several to a chunk, and pushing them")
  void sendingAllocatesNothing(String driver) {
    KvShape shape = new KvShape(2, 2, 1, 16, 4, 2);
    int count = 6;
    EpochGate gate = new EpochGate(new WeightEpoch("run", 1));
    PoolLayout pages = new PoolLayout(shape.valueBytes(), count, 64); // stamps between pages: a copy each
    Deadline deadline = Deadline.after(Duration.ofMinutes(2));
    try (Device gpu = Device.open(driver, 0);
        DeviceStream stream = gpu.newStream("stream", StreamPriority.LOW);
        DeviceEvent ready = gpu.newEvent("ready");
        DeviceSlab memory = gpu.allocate("cache", shape.valueBytes() * count);
        Slab slab = Slab.allocate(SlabOptions.of("pages", pages.strideBytes() * count));
        PinnedSlab pinned = gpu.pin(slab);
        BlockPool pool = BlockPool.over(slab, pages, gate);
        StagingPipeline pipeline = StagingPipeline.open(layout(shape, memory, count), List.of(memory), pool, pinned,
            new StagingOptions(4 * shape.valueBytes(), 2 * shape.valueBytes(), 1 << 20));
        StagedBatch save = pipeline.batch(Direction.SAVE, count);
        StagedBatch load = pipeline.batch(Direction.LOAD, count);
        PageCopy kernels = PageCopy.load(gpu);
        PagePush push = PagePush.open(kernels, stream, new PagedCache(layout(shape, memory, count), List.of(memory)),
            new PagedCache(layout(shape, memory, count), List.of(memory)), count)) {
      stream.record(ready);
      long[] blocks = new long[count];
      for (int i = 0; i < count; i++)
        blocks[i] = pool.lease();
      requireNoObjects(() -> {
        save.clear(deadline);
        load.clear(deadline);
        push.clear(deadline);
        for (int i = 0; i < blocks.length; i++) {
          save.add(i, blocks[i]);
          load.add(i, blocks[i]);
          push.add(i, i);
        }
        save.send(ready).await(deadline);
        load.send(ready).await(deadline);
        push.send(ready).await(deadline);
      });
      for (long block : blocks)
        pool.release(block);
    }
  }

  private static PagedKvLayout layout(KvShape shape, DeviceSlab memory, int blocks) {
    List<Long> parts = LongStream.range(0, (long) shape.layers() * shape.parts())
        .map(part -> memory.address() + part * shape.partBytes() * blocks).boxed().toList();
    return new PagedKvLayout(shape, KvStrides.tokensFirst(shape), parts, blocks, PagedKvLayout.NO_NULL_BLOCK);
  }

  private static void requireNoObjects(Runnable batch) {
    for (int round = 0; round < WARM_ROUNDS; round++)
      batch.run();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    threads.getCurrentThreadAllocatedBytes();
    // what a batch allocates is in every window; a path that is compiled late is in one
    long least = Long.MAX_VALUE;
    for (int window = 0; window < WINDOWS && least > 0; window++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int round = 0; round < ROUNDS; round++)
        batch.run();
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertEquals(0, least, "bytes of " + ROUNDS + " batches");
  }
}

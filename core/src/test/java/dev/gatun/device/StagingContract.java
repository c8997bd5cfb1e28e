package dev.gatun.device;

import static dev.gatun.testing.Thrown.message;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.StagedBatch.Direction;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What staging pages between an engine's cache and a pool must do, compared with copies in Java. */
@SuppressWarnings("NullAway.Init")
abstract class StagingContract {
  private static final KvShape SHAPE = new KvShape(3, 2, 2, 16, 4, 2);
  private static final int CACHE_BLOCKS = 9;
  private static final int POOL_BLOCKS = 8;
  private static final int NULL_BLOCK = 0;
  private static final int GUARD = 96;

  private final Random random = new Random(20_261_129);
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final EpochGate gate = new EpochGate(new WeightEpoch("run", 1));
  private Device gpu;
  private DeviceStream engine;
  private DeviceEvent ready;
  private DeviceSlab cache;
  private PagedKvLayout layout;
  private PinnedSlab scratch;
  private BlockPool pool;
  private PinnedSlab pinned;

  abstract String driver();

  @BeforeEach
  void open() {
    gpu = opened(Device.open(driver(), 0));
    engine = opened(gpu.newStream("engine", StreamPriority.HIGH));
    ready = opened(gpu.newEvent("ready"));
    // keys and values apart, a gap behind every block
    KvStrides strides = KvStrides.tokensFirst(SHAPE).withBlockBytes(SHAPE.partBytes() + GUARD);
    long partBytes = strides.blockBytes() * CACHE_BLOCKS;
    int parts = SHAPE.layers() * SHAPE.parts();
    cache = opened(gpu.allocate("cache", partBytes * parts));
    List<Long> addresses = new ArrayList<>();
    for (int part = 0; part < parts; part++)
      addresses.add(cache.address() + part * partBytes);
    layout = new PagedKvLayout(SHAPE, strides, addresses, CACHE_BLOCKS, NULL_BLOCK);
    scratch = pinned("scratch", cache.byteSize());
    PoolLayout pages = new PoolLayout(layout.valueBytes(), POOL_BLOCKS, 64);
    pinned = pinned("pages", pages.strideBytes() * POOL_BLOCKS);
    pool = opened(BlockPool.over(pinned.slab(), pages, gate));
    fillCache();
    pool.slab().segment().fill((byte) 0x55);
  }

  private PinnedSlab pinned(String name, long bytes) {
    return opened(gpu.pin(opened(Slab.allocate(SlabOptions.of(name, bytes)))));
  }

  private <R extends AutoCloseable> R opened(R resource) {
    open.push(resource);
    return resource;
  }

  @AfterEach
  void closeAll() throws Exception {
    while (!open.isEmpty())
      open.pop().close();
  }

  private byte[] fillCache() {
    byte[] bytes = new byte[(int) cache.byteSize()];
    random.nextBytes(bytes);
    scratch.slab().segment().copyFrom(MemorySegment.ofArray(bytes));
    engine.copy(cache, 0, scratch, 0, cache.byteSize()).await(longEnough());
    return bytes;
  }

  private byte[] cacheBytes() {
    engine.copy(scratch, 0, cache, 0, cache.byteSize()).await(longEnough());
    return scratch.slab().segment().asSlice(0, cache.byteSize()).toArray(JAVA_BYTE);
  }

  /** Where the bytes of a page lie in the cache, part after part. */
  private int place(int block, int part) {
    long blockBytes = SHAPE.partBytes() + GUARD;
    return (int) ((part * (long) CACHE_BLOCKS + block) * blockBytes);
  }

  private byte[] page(byte[] cacheBytes, int block) {
    byte[] page = new byte[(int) layout.valueBytes()];
    int bytes = (int) SHAPE.partBytes();
    for (int part = 0; part * bytes < page.length; part++)
      System.arraycopy(cacheBytes, place(block, part), page, part * bytes, bytes);
    return page;
  }

  private StagingPipeline pipeline(StagingOptions options) {
    return opened(StagingPipeline.open(layout, List.of(cache), pool, pinned, options));
  }

  private static Deadline longEnough() {
    return Deadline.after(Duration.ofSeconds(60));
  }

  private static Deadline now() {
    return Deadline.after(Duration.ZERO);
  }

  private long[] lease(int count) {
    long[] blocks = new long[count];
    for (int i = 0; i < count; i++)
      blocks[i] = pool.lease();
    return blocks;
  }

  // a page has 6 fragments of 256 bytes: chunks of one, of a page and a third, of everything; without a kernel; without a ring
  @ParameterizedTest(name = "ring {0}, chunk {1}, direct from {2}, straight {3}")
  @CsvSource({"512,256,1000000,false", "1000,300,1000000,false", "4096,2048,1000000,false",
      "1000000,100000,1000000,false",
      "512,256,256,false", "512,256,1000000,true"})
  @DisplayName("K5.07 pages arrive whole in both directions, in any order, and nothing beside them changes")
  void bothWays(long ringBytes, long chunkBytes, long directBytes, boolean straight) {
    StagingPipeline pipeline = pipeline(
        new StagingOptions(ringBytes, chunkBytes, directBytes).withStraight(straight, straight));
    long[] blocks = lease(POOL_BLOCKS);
    int[] from = {3, 1, 8, 2, 5};
    int[] into = {7, 4, 6, 3, 1};
    int[] leases = {0, 1, 2, 6, 4}; // three side by side, two not
    try (StagedBatch save = pipeline.batch(Direction.SAVE, 5); StagedBatch load = pipeline.batch(Direction.LOAD, 5)) {
      for (int round = 0; round < 3; round++) {
        byte[] before = fillCache();
        engine.record(ready);
        save.clear(longEnough());
        load.clear(longEnough());
        for (int i = 0; i < 5; i++) {
          save.add(from[i], blocks[leases[i]]);
          load.add(into[i], blocks[leases[i]]);
        }
        save.send(ready).await(longEnough());
        for (int i = 0; i < 5; i++)
          assertArrayEquals(page(before, from[i]), pool.page(blocks[leases[i]]).toArray(JAVA_BYTE), "page " + i);
        assertEquals(0x55, pool.page(blocks[3]).get(JAVA_BYTE, 0), "a block between");
        assertEquals(0x55, pool.blockSegment(blocks[0]).get(JAVA_BYTE, 63), "a header");
        load.send(ready).await(longEnough());
        byte[] expected = before.clone();
        for (int i = 0; i < 5; i++) {
          byte[] page = page(before, from[i]);
          int bytes = (int) SHAPE.partBytes();
          for (int part = 0; part * bytes < page.length; part++)
            System.arraycopy(page, part * bytes, expected, place(into[i], part), bytes);
        }
        assertArrayEquals(expected, cacheBytes());
      }
    }
    for (long block : blocks)
      pool.release(block);
  }

  @Test
  @DisplayName("K11.06 a save of more than may be queued waits in Java; a load, an await and a drain beside it keep their times")
  void sendingWaitsForRoom() throws Exception {
    int pages = 400;
    PoolLayout places = new PoolLayout(layout.valueBytes(), pages + 1, 64);
    PinnedSlab memory = pinned("many pages", places.strideBytes() * (pages + 1));
    BlockPool many = opened(BlockPool.over(memory.slab(), places, gate));
    // a chunk a fragment: some 10,000 operations
    StagingPipeline pipeline = opened(StagingPipeline.open(layout, List.of(cache), many, memory,
        new StagingOptions(512, 256, 1_000_000)));
    DeviceEvent idle = opened(gpu.newEvent("idle"));
    engine.record(idle);
    long[] blocks = new long[pages + 1];
    for (int i = 0; i <= pages; i++)
      blocks[i] = many.lease();
    try (StagedBatch save = pipeline.batch(Direction.SAVE, pages);
        StagedBatch load = pipeline.batch(Direction.LOAD, 1)) {
      save.add(1, blocks[pages]).send(idle).await(longEnough());
      load.add(2, blocks[pages]).send(idle).await(longEnough()); // kernels are loaded when first used, on an idle GPU
      save.clear(longEnough());
      for (int i = 0; i < pages; i++)
        save.add(1 + i % (CACHE_BLOCKS - 1), blocks[i]);
      Thread sender = Thread.ofVirtual().unstarted(() -> save.send(ready));
      try (Hold running = new Hold(engine)) {
        engine.record(ready);
        sender.start();
        DeviceContract.awaitWaiting(sender);
        assertTrue(sender.isAlive(), "all of it was queued");
        load.send(idle).await(longEnough());
        assertThrows(DeadlineException.class, () -> save.await(now()));
        assertEquals(1, pipeline.drain(now()).size());
        running.release();
        sender.join();
      }
      save.await(longEnough());
      byte[] image = cacheBytes();
      for (int i = 0; i < pages; i++) {
        assertArrayEquals(page(image, 1 + i % (CACHE_BLOCKS - 1)), many.page(blocks[i]).toArray(JAVA_BYTE),
            "page " + i);
      }
    }
    for (long block : blocks)
      many.release(block);
  }

  @Test
  @DisplayName("pages wait for nothing that is known to have ended, and for all that is not, whichever batch was awaited first")
  void chunksAreReused() {
    StagingPipeline pipeline = pipeline(new StagingOptions(2 * layout.valueBytes(), layout.valueBytes(), 1_000_000));
    long[] blocks = lease(4);
    try (StagedBatch first = pipeline.batch(Direction.SAVE, 1);
        StagedBatch second = pipeline.batch(Direction.SAVE, 1);
        StagedBatch third = pipeline.batch(Direction.SAVE, 2)) {
      for (int round = 0; round < 20; round++) {
        byte[] image = fillCache();
        engine.record(ready);
        first.clear(longEnough()).add(1, blocks[0]).send(ready);
        second.clear(longEnough()).add(2, blocks[1]).send(ready).await(longEnough());
        third.clear(longEnough()).add(3, blocks[2]).add(4, blocks[3]).send(ready).await(longEnough());
        first.await(longEnough());
        for (int i = 0; i < 4; i++)
          assertArrayEquals(page(image, 1 + i), pool.page(blocks[i]).toArray(JAVA_BYTE), "page " + i);
      }
    }
    for (long block : blocks)
      pool.release(block);
  }

  @Test
  @DisplayName("K11.01 a save sent while the kernel that makes the pages still runs moves what that kernel makes")
  void afterTheProducer() throws IOException {
    StagingPipeline pipeline = pipeline(StagingOptions.DEFAULT);
    long[] blocks = lease(2);
    try (StagedBatch save = pipeline.batch(Direction.SAVE, 2)) {
      for (int round = 0; round < 10; round++) {
        byte made = (byte) (round + 1);
        try (Hold running = new Hold(engine)) {
          engine.fill(cache, 0, cache.byteSize(), made).record(ready);
          save.clear(longEnough()).add(1, blocks[0]).add(2, blocks[1]).send(ready);
          assertFalse(save.done().isDone());
          assertThrows(DeadlineException.class, () -> save.await(now()));
          running.release();
          save.await(longEnough());
        }
        for (long block : blocks) {
          for (byte each : pool.page(block).toArray(JAVA_BYTE))
            assertEquals(made, each);
        }
      }
    }
    for (long block : blocks)
      pool.release(block);
  }

  @Test
  @DisplayName("the engine's stream waits for a load by its event, and no thread does")
  void consumerWaits() throws IOException {
    StagingPipeline pipeline = pipeline(StagingOptions.DEFAULT);
    long block = pool.lease();
    pool.rewrite(block).fill((byte) 9);
    try (StagedBatch load = pipeline.batch(Direction.LOAD, 1);
        DeviceStream busy = gpu.newStream("busy", StreamPriority.LOW)) {
      try (Hold holding = new Hold(busy)) {
        busy.record(ready);
        load.add(1, block).send(ready);
        engine.waitFor(load.done()).copy(scratch, 0, cache, place(1, 0), SHAPE.partBytes());
        assertFalse(engine.isIdle());
        holding.release();
        engine.await(longEnough());
      }
      assertEquals(9, scratch.slab().segment().get(JAVA_BYTE, SHAPE.partBytes() - 1));
      load.await(longEnough());
    }
    pool.release(block);
  }

  @Test
  @DisplayName("blocks on their way cannot be put, rewritten or freed; a refit waits for them and names them")
  void marked() throws IOException {
    StagingPipeline pipeline = pipeline(StagingOptions.DEFAULT);
    long block = pool.lease();
    try (StagedBatch save = pipeline.batch(Direction.SAVE, 1); Hold running = new Hold(engine)) {
      engine.record(ready);
      save.add(1, block).send(ready);
      assertTrue(save.isRunning());
      assertThrows(IllegalStateException.class, () -> pool.beginRead(block));
      assertThrows(IllegalStateException.class, () -> save.add(2, block));
      assertThrows(IllegalStateException.class, () -> save.send(ready));
      assertThrows(IllegalStateException.class, () -> save.clear(now()));
      assertThrows(IllegalStateException.class, save::close);
      assertThrows(IllegalStateException.class, pipeline::close);
      pool.release(block);
      assertEquals(POOL_BLOCKS - 1, pool.available());
      gate.close();
      gate.raise(new WeightEpoch("run", 2));
      assertEquals(List.of("SAVE of 1 pages"), pipeline.drain(now()));
      running.release();
      assertEquals(List.of(), gate.drainParts(longEnough()));
      assertFalse(save.isRunning());
      assertEquals(POOL_BLOCKS, pool.available());
      gate.open(EpochGate.State.OPEN);
    }
  }

  @Test
  @DisplayName("pages computed before a refit are not saved after it, and no block stays marked")
  void earlierEpoch() {
    StagingPipeline pipeline = pipeline(StagingOptions.DEFAULT);
    long fresh;
    long old = pool.lease();
    gate.close();
    gate.raise(new WeightEpoch("run", 2));
    gate.open(EpochGate.State.OPEN);
    fresh = pool.lease();
    engine.record(ready);
    try (StagedBatch save = pipeline.batch(Direction.SAVE, 2)) {
      save.add(1, fresh).add(2, old);
      assertThrows(EpochChangedException.class, () -> save.send(ready));
      assertFalse(save.isRunning());
    }
    assertEquals(List.of(), pool.pending());
    pool.release(fresh);
    pool.release(old);
  }

  @Test
  @DisplayName("the end of a batch is there to wait for: whoever has it can neither record nor close it")
  void doneIsToWaitFor() {
    StagingPipeline pipeline = pipeline(StagingOptions.DEFAULT);
    long block = pool.lease();
    try (StagedBatch save = pipeline.batch(Direction.SAVE, 1)) {
      Completion done = save.done();
      assertFalse(done instanceof DeviceEvent);
      assertEquals(gpu, done.device());
      assertTrue(done.isDone(), "nothing was sent");
      engine.record(ready);
      save.add(1, block).send(ready);
      done.await(longEnough());
      save.await(longEnough());
      save.send(done).await(longEnough()); // after what was sent before
    }
    pool.release(block);
  }

  @Test
  @DisplayName("a batch that is closed refuses every call and marks no block; whoever waits for its end is told")
  void closedBatch() {
    StagingPipeline pipeline = pipeline(StagingOptions.DEFAULT);
    long block = pool.lease();
    StagedBatch save = pipeline.batch(Direction.SAVE, 2);
    engine.record(ready);
    save.add(1, block).send(ready).await(longEnough());
    Completion done = save.done();
    save.close();
    save.close();
    assertThrows(ClosedException.class, () -> save.send(ready));
    assertTrue(message(ClosedException.class, () -> save.add(2, block)).contains("the batch is closed"));
    assertThrows(ClosedException.class, () -> save.clear(longEnough()));
    assertThrows(ClosedException.class, () -> done.await(longEnough()));
    assertThrows(ClosedException.class, () -> engine.waitFor(done));
    assertFalse(save.await(longEnough()).isRunning());
    assertEquals(List.of(), pipeline.drain(now()));
    pipeline.close();
    assertThrows(ClosedException.class, () -> save.send(ready));
    assertThrows(ClosedException.class, () -> pipeline.batch(Direction.SAVE, 1));
    pool.release(block);
    assertEquals(POOL_BLOCKS, pool.available());
  }

  @Test
  @DisplayName("while a refit runs nothing is saved or loaded, whenever its block was leased, and no block is marked")
  void refusedDuringRefit() {
    StagingPipeline pipeline = pipeline(StagingOptions.DEFAULT);
    engine.record(ready);
    try (StagedBatch save = pipeline.batch(Direction.SAVE, 1); StagedBatch load = pipeline.batch(Direction.LOAD, 1)) {
      gate.close();
      gate.raise(new WeightEpoch("run", 2));
      long block = pool.lease();
      save.add(1, block);
      load.add(1, block);
      assertThrows(GateClosedException.class, () -> save.send(ready));
      assertThrows(GateClosedException.class, () -> load.send(ready));
      assertFalse(save.isRunning() || load.isRunning());
      assertEquals(List.of(), pool.pending());
      gate.open(EpochGate.State.OPEN);
      save.send(ready).await(longEnough());
      load.send(ready).await(longEnough());
      pool.release(block);
    }
  }

  @Test
  @DisplayName("a batch that is refused for one of its blocks leaves the pages of the others as they were")
  void refusedLeavesPages() {
    StagingPipeline pipeline = pipeline(StagingOptions.DEFAULT);
    engine.record(ready);
    long good = pool.lease();
    pool.rewrite(good).fill((byte) 7);
    long ended = pool.lease();
    try (StagedBatch save = pipeline.batch(Direction.SAVE, 2)) {
      save.add(1, good).add(2, ended);
      pool.release(ended);
      assertThrows(IllegalStateException.class, () -> save.send(ready));
      assertEquals(7, pool.page(good).get(JAVA_BYTE, 0));
    }
    pool.release(good);
  }

  @Test
  @DisplayName("a pipeline that could not be opened leaves nothing open")
  void failedOpen() {
    try (Device other = Device.open(driver(), 0);
        Slab slab = Slab.allocate(SlabOptions.of("other pages", pool.layout().strideBytes() * POOL_BLOCKS));
        BlockPool pages = BlockPool.over(slab, pool.layout(), gate);
        DeviceSlab memory = other.allocate("other cache", 1)) {
      PinnedSlab closed = other.pin(slab);
      closed.close();
      assertThrows(ClosedException.class,
          () -> StagingPipeline.open(layout, List.of(memory), pages, closed, StagingOptions.DEFAULT));
    }
  }

  @Test
  @DisplayName("what does not fit is refused by name, and nothing is queued")
  void refused() {
    StagingPipeline pipeline = pipeline(StagingOptions.DEFAULT);
    long block = pool.lease();
    try (StagedBatch save = pipeline.batch(Direction.SAVE, 1)) {
      assertTrue(message(IllegalArgumentException.class, () -> save.add(NULL_BLOCK, block)).contains("null block"));
      assertThrows(IndexOutOfBoundsException.class, () -> save.add(CACHE_BLOCKS, block));
      assertThrows(RuntimeException.class, () -> save.add(1, 0));
      assertEquals(0, save.size());
      save.add(1, block);
      assertTrue(message(IllegalStateException.class, () -> save.add(2, block)).contains("capacity 1"));
    }
    pool.release(block);
    assertThrows(IllegalArgumentException.class, () -> pipeline.batch(Direction.LOAD, 0));
    assertTrue(message(IllegalArgumentException.class, () -> pipeline.batch(Direction.LOAD, Integer.MAX_VALUE))
        .contains("capacity must be 1 to 357913941 pages of 6 fragments: 2147483647"));
    assertTrue(message(IllegalArgumentException.class, () -> StagingPipeline.open(layout, List.of(cache), pool, scratch,
        StagingOptions.DEFAULT)).contains("pinned must be the slab of"));
    try (BlockPool small = BlockPool.over(scratch.slab(), new PoolLayout(64, 2), gate)) {
      assertTrue(message(IllegalArgumentException.class, () -> StagingPipeline.open(layout, List.of(cache), small,
          scratch, StagingOptions.DEFAULT)).contains("the layout's " + layout.valueBytes() + " bytes: 64"));
    }
    assertTrue(message(IllegalArgumentException.class, () -> new StagingOptions(100, 60, 1)).contains("two chunks"));
    KvShape large = new KvShape(1, 1, 1, 3 << 28, 1, 4);
    PagedKvLayout huge = new PagedKvLayout(large, KvStrides.tokensFirst(large), List.of(cache.address()), 1, -1);
    assertTrue(message(IllegalArgumentException.class, () -> StagingMeasurement.of(gpu, huge, StagingOptions.DEFAULT))
        .contains("less than 2 GiB"));
    assertThrows(IllegalArgumentException.class, () -> new StagingOptions(100, 0, 1));
    assertThrows(IllegalArgumentException.class, () -> new StagingOptions(100, 10, 0));
    assertThrows(IllegalArgumentException.class, () -> new StagingOptions(100, 10, 1, 0));
  }

  @Test
  @DisplayName("where fragments are copied alone no memory is taken for a ring")
  void noRingForDirectCopies() {
    long ringBytes = 64L << 20;
    StagingPipeline pipeline = pipeline(new StagingOptions(ringBytes, ringBytes / 4, 1, Long.MAX_VALUE));
    long before = gpu.freeBytes();
    try (StagedBatch save = pipeline.batch(Direction.SAVE, 1)) {
      assertEquals(Direction.SAVE, save.direction());
      assertTrue(before - gpu.freeBytes() < ringBytes / 2, "saves: " + (before - gpu.freeBytes()));
      try (StagedBatch load = pipeline.batch(Direction.LOAD, 1)) {
        assertEquals(Direction.LOAD, load.direction());
        // whole chunks of at most 128 pages
        assertTrue(before - gpu.freeBytes() >= ringBytes * 9 / 10, "loads: " + (before - gpu.freeBytes()));
      }
    }
  }

  @Test
  @DisplayName("both ways are measured in both directions, the faster one is chosen, and nothing stays behind")
  void measures() {
    StagingOptions small = new StagingOptions(1 << 20, 1 << 18, 1);
    StagingMeasurement.of(gpu, layout, small); // a driver keeps some memory when it is first used so
    long before = gpu.freeBytes();
    StagingMeasurement measured = StagingMeasurement.of(gpu, layout, small);
    assertEquals(before, gpu.freeBytes());
    assertTrue(measured.ringSave() > 0 && measured.directSave() > 0 && measured.ringLoad() > 0
        && measured.directLoad() > 0 && measured.straightSave() > 0 && measured.straightLoad() > 0,
        measured.toString());
    assertFalse(known().options().saveStraight() || known().options().loadStraight(), "they stall the model");
    assertEquals(layout.fragmentBytes(), measured.fragmentBytes());
    assertEquals(measured.directSave() > measured.ringSave(),
        measured.options().isDirect(Direction.SAVE, layout.fragmentBytes()));
    StagingMeasurement known = known();
    assertFalse(known.options().isDirect(Direction.SAVE, 256));
    assertTrue(known.options().isDirect(Direction.LOAD, 256));
    assertEquals(
        "fragments of 256 bytes: saves through the ring (ring 50.0 GB/s, alone 3.0, straight 60.0), loads alone "
            + "(ring 20.0 GB/s, alone 21.0, straight 22.0)",
        known.toString());
    assertEquals(StagingOptions.DEFAULT.ringBytes(), known.options().ringBytes());
  }

  private static StagingMeasurement known() {
    return new StagingMeasurement(StagingOptions.DEFAULT, 256, 50, 3, 20, 21, 60, 22);
  }

  @Test
  @DisplayName("a pipeline with open batches does not close, and its memory does not close before it")
  void closeOrder() {
    StagingPipeline pipeline = pipeline(StagingOptions.DEFAULT);
    StagedBatch save = pipeline.batch(Direction.SAVE, 1);
    assertTrue(message(IllegalStateException.class, pipeline::close).contains("1 batches are open"));
    assertThrows(InUseException.class, () -> cache.close(now()));
    save.close();
    save.close();
    pipeline.close();
    pipeline.close();
    assertEquals(List.of(pool), gate.parts());
  }
}

package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceEvent;
import dev.gatun.device.DeviceSlab;
import dev.gatun.device.DeviceStream;
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
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;

/**
 * A paged cache on a GPU with fragments of one length, and a pool in pinned memory: pages move both ways through the staging
 * pipeline, beside one copy of as many contiguous bytes. A block has 160 fragments (80 layers, keys and values apart), or
 * fewer where they would not fit.
 */
final class StagingCell implements AutoCloseable {
  private static final int LAYERS = 80;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final EpochGate gate = new EpochGate(new WeightEpoch("bench", 1));
  private final Device gpu;
  private final int pages;
  private final DeviceSlab cache;
  private final PagedKvLayout layout;
  private final PinnedSlab pinned;
  private final BlockPool pool;
  private final DeviceStream engine;
  private final DeviceStream out;
  private final DeviceStream in;
  private final DeviceEvent ready;
  private final StagingPipeline pipeline;
  private final StagedBatch save;
  private final StagedBatch load;
  private final Map<Direction, List<StagedBatch>> halves = new EnumMap<>(Direction.class);
  private final List<DeviceEvent> turns;
  private final ExecutorService loads;
  private final List<Integer> cacheBlocks = new ArrayList<>();
  private final long[] leases;

  StagingCell(Device gpu, long fragmentBytes, long bytes, StagingOptions options) {
    this(gpu, fragmentBytes, LAYERS, bytes, options);
  }

  /** With blocks of two fragments a layer. */
  StagingCell(Device gpu, long fragmentBytes, int layersMax, long bytes, StagingOptions options) {
    this.gpu = gpu;
    int layers = Math.clamp(bytes / fragmentBytes / 2, 1, layersMax);
    KvShape shape = new KvShape(layers, 2, 1, Math.toIntExact(fragmentBytes / 32), 16, 2);
    pages = Math.toIntExact(Math.max(1, bytes / shape.valueBytes()));
    int blocks = 2 * pages;
    cache = opened(gpu.allocate("cache", (long) blocks * shape.valueBytes()));
    List<Long> parts = new ArrayList<>();
    for (int part = 0; part < 2 * layers; part++)
      parts.add(cache.address() + (long) part * blocks * fragmentBytes);
    layout = new PagedKvLayout(shape, KvStrides.tokensFirst(shape), parts, blocks, PagedKvLayout.NO_NULL_BLOCK);
    pinned = pinned("pages", 2L * pages * shape.valueBytes());
    // both directions at once need blocks of their own
    pool = opened(BlockPool.over(pinned.slab(), new PoolLayout(shape.valueBytes(), 2 * pages), gate));
    leases = new long[2 * pages];
    for (int i = 0; i < leases.length; i++)
      leases[i] = pool.lease();
    for (int block = 0; block < blocks; block++)
      cacheBlocks.add(block);
    Random random = new Random(fragmentBytes);
    Collections.shuffle(cacheBlocks, random);
    shuffle(leases, random); // pages that lie side by side would go by one copy
    engine = opened(gpu.newStream("engine", StreamPriority.HIGH));
    out = opened(gpu.newStream("out", StreamPriority.LOW));
    in = opened(gpu.newStream("in", StreamPriority.LOW));
    ready = opened(gpu.newEvent("ready"));
    turns = List.of(opened(gpu.newEvent("even")), opened(gpu.newEvent("odd")));
    loads = opened(Executors.newSingleThreadExecutor());
    pipeline = opened(StagingPipeline.open(layout, List.of(cache), pool, pinned, options));
    save = opened(pipeline.batch(Direction.SAVE, pages));
    load = opened(pipeline.batch(Direction.LOAD, pages));
    engine.record(ready);
    // loads go to the first half of the shuffled blocks of the cache, saves come from it
    for (int i = 0; i < pages; i++) {
      load.add(cacheBlocks.get(i), leases[i]);
      save.add(cacheBlocks.get(i), leases[pages + i]);
    }
  }

  private static void shuffle(long[] blocks, Random random) {
    for (int i = blocks.length - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      long block = blocks[i];
      blocks[i] = blocks[other];
      blocks[other] = block;
    }
  }

  private <R extends AutoCloseable> R opened(R resource) {
    open.push(resource);
    return resource;
  }

  private PinnedSlab pinned(String name, long bytes) {
    return opened(gpu.pin(opened(Slab.allocate(SlabOptions.of(name, bytes)))));
  }

  static Deadline soon() {
    return Deadline.after(Duration.ofMinutes(2));
  }

  PagedKvLayout layout() {
    return layout;
  }

  long bytes() {
    return pages * layout.valueBytes();
  }

  /** Bytes first: loads known pages into the cache, saves them into other blocks, compares every byte. */
  boolean movesEveryByte() {
    for (int i = 0; i < pages; i++) {
      MemorySegment page = pool.rewrite(leases[i]);
      for (long at = 0; at < page.byteSize(); at += Long.BYTES)
        page.set(ValueLayout.JAVA_LONG, at, (i * page.byteSize() + at) * GOLDEN);
      pool.rewrite(leases[pages + i]).fill((byte) 0);
    }
    load.send(ready).await(soon());
    engine.record(ready);
    save.send(ready).await(soon());
    for (int i = 0; i < pages; i++)
      if (pool.page(leases[i]).mismatch(pool.page(leases[pages + i])) >= 0) return false;
    return true;
  }

  /** Queues all pages one way; {@link #await} before the next. */
  void send(Direction direction) {
    (direction == Direction.SAVE ? save : load).send(ready);
  }

  /** Queues a copy of as many contiguous bytes, which the pages of that way do not touch. */
  void copy(Direction direction) {
    if (direction == Direction.SAVE) out.copy(pinned, bytes(), cache, bytes(), bytes());
    else
      in.copy(cache, 0, pinned, 0, bytes());
  }

  /** Waits for all that was queued. */
  void await() {
    save.await(soon());
    load.await(soon());
    out.await(soon());
    in.await(soon());
  }

  /** {@return GB/s of pages, of a half of them after the other, while something runs} */
  double sendWhile(Direction direction, BooleanSupplier running) {
    List<StagedBatch> batches = halves.computeIfAbsent(direction, this::split);
    double gbps = Turns.gbpsWhile(pages / 2 * layout.valueBytes(), running, half -> batches.get(half).send(ready),
        half -> batches.get(half).done().isDone(), half -> batches.get(half).await(soon()));
    batches.forEach(batch -> batch.await(soon()));
    return gbps;
  }

  private List<StagedBatch> split(Direction direction) {
    List<StagedBatch> made = new ArrayList<>();
    for (int half = 0; half < 2; half++) {
      StagedBatch batch = opened(pipeline.batch(direction, pages / 2));
      for (int i = half * (pages / 2); i < (half + 1) * (pages / 2); i++)
        batch.add(cacheBlocks.get(i), direction == Direction.SAVE ? leases[pages + i] : leases[i]);
      made.add(batch);
    }
    return made;
  }

  /** {@return GB/s of large copies of half of the bytes while something runs} */
  double copyWhile(Direction direction, BooleanSupplier running) {
    DeviceStream stream = direction == Direction.SAVE ? out : in;
    long half = bytes() / 2;
    double gbps = Turns.gbpsWhile(half, running, turn -> {
      if (direction == Direction.SAVE) stream.copy(pinned, bytes(), cache, bytes(), half);
      else
        stream.copy(cache, 0, pinned, 0, half);
      stream.record(turns.get(turn));
    }, turn -> turns.get(turn).isDone(), turn -> turns.get(turn).await(soon()));
    stream.await(soon());
    return gbps;
  }

  /** Measures in turns, and adds medians in GB/s. */
  void measure(int repeats, ObjectNode into) {
    Map<String, Runnable> ways = new LinkedHashMap<>();
    ways.put("copyOut", () -> copy(Direction.SAVE));
    ways.put("save", () -> send(Direction.SAVE));
    ways.put("copyIn", () -> copy(Direction.LOAD));
    ways.put("load", () -> send(Direction.LOAD));
    ways.put("copyBoth", () -> {
      copy(Direction.SAVE);
      copy(Direction.LOAD);
    });
    // a thread a direction, as hosts have: what one takes to queue its pages would delay the other direction
    ways.put("stageBoth", () -> {
      CompletableFuture<Void> loading = CompletableFuture.runAsync(() -> send(Direction.LOAD), loads);
      try {
        send(Direction.SAVE);
      } finally {
        loading.join();
      }
    });
    Map<String, long[]> nanos = new LinkedHashMap<>();
    for (int round = -2 * repeats; round < repeats; round++) { // so that HotSpot has compiled what queues
      for (Map.Entry<String, Runnable> way : ways.entrySet()) {
        long start = System.nanoTime();
        way.getValue().run();
        await();
        long end = System.nanoTime();
        if (round >= 0) nanos.computeIfAbsent(way.getKey(), name -> new long[repeats])[round] = end - start;
      }
    }
    nanos.forEach((way, times) -> {
      long moved = way.endsWith("Both") ? 2 * bytes() : bytes();
      into.put(way + "GBps", moved / (double) DeviceStaging.median(times));
    });
  }

  /**
   * Adds what a batch takes of the calling thread's time and of the heap: filling it with all pages, and sending it, with its
   * list of fragments.
   */
  void measureSending(int repeats, ObjectNode into) {
    long[] fillNanos = new long[repeats];
    long[] sendNanos = new long[repeats];
    long allocated = 0;
    Deadline deadline = Deadline.after(Duration.ofMinutes(10)); // of all rounds: none of its own is allocated
    for (int round = -repeats; round < repeats; round++) {
      long bytesBefore = DeviceStaging.allocatedBytes();
      long start = System.nanoTime();
      save.clear(deadline);
      for (int i = 0; i < pages; i++)
        save.add(cacheBlocks.get(i), leases[pages + i]);
      long filled = System.nanoTime();
      save.send(ready);
      long end = System.nanoTime();
      long bytesAfter = DeviceStaging.allocatedBytes();
      save.await(soon());
      if (round < 0) continue;
      fillNanos[round] = filled - start;
      sendNanos[round] = end - filled;
      allocated += bytesAfter - bytesBefore;
    }
    into.put("fragments", pages * layout.fragments()).put("fillMedianNanos", DeviceStaging.median(fillNanos))
        .put("sendMedianNanos", DeviceStaging.median(sendNanos))
        .put("allocatedBytes", allocated / (double) repeats);
  }

  /**
   * Saves what a producer is still writing when the batch is sent, many times over; adds how often bytes were right. Rounds
   * whose producer had ended by then count as well, and are no rounds: others take their place.
   */
  void producerStillRunning(int rounds, ObjectNode into) {
    int right = 0;
    int stillRunning = 0;
    int round = 0;
    for (; stillRunning < rounds && round < 2 * rounds; round++) {
      byte made = (byte) (round * 7 + 1);
      for (int write = 0; write < 64; write++)
        engine.fill(cache, 0, cache.byteSize(), (byte) ~made);
      engine.fill(cache, 0, cache.byteSize(), made).record(ready);
      save.send(ready);
      if (!ready.isDone()) stillRunning++;
      save.await(soon());
      boolean all = true;
      for (int i = 0; i < pages && all; i++)
        all = isFilled(pool.page(leases[pages + i]), made);
      if (all) right++;
    }
    into.put("rounds", round).put("producerStillRunning", stillRunning).put("byteExact", right);
  }

  private static boolean isFilled(MemorySegment page, byte value) {
    return page.get(ValueLayout.JAVA_BYTE, 0) == value
        && page.asSlice(1).mismatch(page.asSlice(0, page.byteSize() - 1)) < 0;
  }

  ObjectNode describe(ObjectNode into) {
    return into.put("fragmentBytes", layout.fragmentBytes()).put("fragmentsPerBlock", layout.fragments())
        .put("blocks", pages).put("bytes", bytes());
  }

  @Override
  public void close() {
    for (long lease : leases)
      pool.release(lease);
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}

package dev.gatun.bench;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.HugePages;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Batch get and put on the embedded library: the product, the raw downcall with reused arrays, and the loop in C called
 * once for many iterations. Bytes are compared before anything is timed.
 *
 * <p>Puts need keys that are not there. So a put is followed by a removal of everything; each put is timed by itself into
 * {@code nanos} and counted in {@code calls}, and {@code nanos / calls} is the figure, not the score, which contains the
 * removal. {@link StoreComparison} prints medians of the same loops side by side.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = "-Xmx512m")
public class StoreBatchBenchmark {
  // 1,000 iterations of the loop in C a downcall make its own cost vanish; large batches are long enough with fewer
  private static final int LOOP_ITERATIONS_MAX = 1_000;
  private static final long LOOP_BYTES_MAX = 64L << 20;

  /** An open store and the peers of one cell. */
  @State(Scope.Benchmark)
  @SuppressWarnings({"NullAway.Init", "MustBeClosedChecker"}) // by @Setup, by @TearDown
  public static class Cell {
    /** Bytes a page. */
    @Param({"4096", "65536", "262144", "1048576", "16777216"})
    public long pageBytes;

    /** Pages a call. */
    @Param({"1", "16", "128"})
    public int batch;

    Slab slab;
    PeerSet peers;
    CellMemory memory;
    BatchPeer product;
    RawPeer raw;
    CLoopPeer loop;
    Arena arena;
    MemorySegment nanos;
    int loopIterations;

    /** Opens, and refuses peers that move other bytes than they should. */
    @Setup
    public void open() {
      StoreCell cell = new StoreCell(pageBytes, batch);
      StoreOptions store = StoreOptions
          .of(Map.of("library", StoreOptions.LOOPBACK, "master", "loopback:bench"))
          .segmentBytes(LaunchOptions.segmentBytes(List.of(cell))).build();
      slab = Slab.allocate(
          SlabOptions.of("bench", cell.bytes()).withHugePages(HugePages.TRANSPARENT).prefaulted());
      EpochGate gate = new EpochGate(new WeightEpoch("bench", 0));
      peers = PeerSet.open(store, LaunchOptions.PEERS, slab, gate);
      memory = new CellMemory(cell, slab, gate);
      List<StorePeer> all = peers.of(memory);
      all.forEach(memory::verify);
      product = (BatchPeer) all.get(0);
      raw = (RawPeer) all.get(1);
      loop = (CLoopPeer) all.get(2);
      arena = Arena.ofShared(); // cell
      loopIterations = Math.clamp(LOOP_BYTES_MAX / cell.bytes(), 1, LOOP_ITERATIONS_MAX);
      nanos = arena.allocate(ValueLayout.JAVA_LONG, loopIterations);
    }

    /** Gives everything back. */
    @TearDown
    public void close() {
      product.close();
      raw.close();
      loop.close();
      memory.close();
      peers.close();
      slab.close();
      arena.close();
    }
  }

  /** The cell with its keys in the store. */
  @State(Scope.Benchmark)
  public static class Stored {
    /**
     * Puts the keys once.
     *
     * @param cell open
     */
    @Setup(Level.Iteration)
    public void store(Cell cell) {
      cell.raw.store(); // keys that are there already keep their bytes
    }
  }

  /** The time of puts without the removals between them. */
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class Puts {
    /** Sum of the times of all puts. */
    public long nanos;
    /** Puts. */
    public long calls;

    /** Starts an iteration. */
    @Setup(Level.Iteration)
    public void clear() {
      nanos = 0;
      calls = 0;
    }
  }

  @Benchmark
  public void getStoreBatch(Cell cell, Stored stored) {
    cell.product.get();
  }

  @Benchmark
  public void getRawDowncall(Cell cell, Stored stored) {
    cell.raw.get();
  }

  /** The score is that of {@code loopIterations} gets; use {@code nanos / calls}. */
  @Benchmark
  public void getLoopInC(Cell cell, Stored stored, Puts gets) {
    loop(cell, StoreOperation.GET, gets);
  }

  @Benchmark
  public void putStoreBatch(Cell cell, Puts puts) {
    long start = System.nanoTime();
    cell.product.put();
    puts.nanos += System.nanoTime() - start;
    puts.calls++;
    cell.raw.removeAll();
  }

  @Benchmark
  public void putRawDowncall(Cell cell, Puts puts) {
    long start = System.nanoTime();
    cell.raw.put();
    puts.nanos += System.nanoTime() - start;
    puts.calls++;
    cell.raw.removeAll();
  }

  @Benchmark
  public void putLoopInC(Cell cell, Puts puts) {
    loop(cell, StoreOperation.PUT, puts);
  }

  private static void loop(Cell cell, StoreOperation operation, Puts counters) {
    cell.loop.run(operation, cell.loopIterations, cell.nanos);
    for (int i = 0; i < cell.loopIterations; i++)
      counters.nanos += cell.nanos.getAtIndex(ValueLayout.JAVA_LONG, i);
    counters.calls += cell.loopIterations;
  }
}

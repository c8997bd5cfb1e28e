package dev.gatun.bench;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Lease and release of one block beside allocation and release of a direct buffer of the same size in Netty's pooled and
 * adaptive allocators, with Netty's leak detection off, which is its fastest setting. {@code pair*} gives each block
 * back at once; {@code batch*} holds 16, as a batch of pages does; {@code floor} is two compare-and-sets on one word,
 * which a lease and a release cannot do without. Times are per block and thread. Threads are set on the command line:
 * {@code -t 1} to {@code -t 16}; with more threads than cores the times include waiting for a core, so compare within
 * one run.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Dio.netty.leakDetection.level=disabled"})
public class PoolBenchmark {
  private static final int BATCH = 16;

  /** The three pools, shared by all threads. */
  @State(Scope.Benchmark)
  @SuppressWarnings("NullAway.Init") // by @Setup
  public static class Pools {
    /** Bytes a page: the smallest in use, an MLA block, a large one. */
    @Param({"4096", "18432", "262144"})
    public int pageBytes;

    BlockPool gatun;
    ByteBufAllocator pooled;
    ByteBufAllocator adaptive;

    /** Allocates. 1,024 blocks: 4 times what 16 threads hold in batches. */
    @Setup
    public void open() {
      gatun = BlockPool.allocate(new PoolLayout(pageBytes, 1024), new EpochGate(new WeightEpoch("bench", 0)));
      pooled = new PooledByteBufAllocator(true);
      adaptive = new AdaptiveByteBufAllocator(true, true);
    }

    /** Frees. */
    @TearDown
    public void close() {
      gatun.close();
    }
  }

  /** What one thread holds. */
  @State(Scope.Thread)
  public static class Held {
    final long[] blocks = new long[BATCH];
    final ByteBuf[] buffers = new ByteBuf[BATCH];
    final AtomicLongArray words = new AtomicLongArray(64); // the word in the middle has its cache line to itself
  }

  @Benchmark
  public boolean floor(Held held) {
    long word = held.words.get(32);
    boolean first = held.words.compareAndSet(32, word, word + 1);
    word = held.words.get(32);
    boolean second = held.words.compareAndSet(32, word, word + 1);
    return first && second;
  }

  @Benchmark
  public long pairGatun(Pools pools) {
    long block = pools.gatun.lease();
    pools.gatun.release(block);
    return block;
  }

  @Benchmark
  public ByteBuf pairNettyPooled(Pools pools) {
    return pair(pools.pooled, pools.pageBytes);
  }

  @Benchmark
  public ByteBuf pairNettyAdaptive(Pools pools) {
    return pair(pools.adaptive, pools.pageBytes);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long[] batchGatun(Pools pools, Held held) {
    for (int i = 0; i < BATCH; i++)
      held.blocks[i] = pools.gatun.lease();
    for (int i = 0; i < BATCH; i++)
      pools.gatun.release(held.blocks[i]);
    return held.blocks;
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public ByteBuf[] batchNettyPooled(Pools pools, Held held) {
    return batch(pools.pooled, pools.pageBytes, held);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public ByteBuf[] batchNettyAdaptive(Pools pools, Held held) {
    return batch(pools.adaptive, pools.pageBytes, held);
  }

  private static ByteBuf pair(ByteBufAllocator allocator, int bytes) {
    ByteBuf buffer = allocator.directBuffer(bytes, bytes);
    buffer.release();
    return buffer;
  }

  private static ByteBuf[] batch(ByteBufAllocator allocator, int bytes, Held held) {
    for (int i = 0; i < BATCH; i++)
      held.buffers[i] = allocator.directBuffer(bytes, bytes);
    for (int i = 0; i < BATCH; i++)
      held.buffers[i].release();
    return held.buffers;
  }
}

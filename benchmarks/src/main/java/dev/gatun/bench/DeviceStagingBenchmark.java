package dev.gatun.bench;

import java.util.concurrent.TimeUnit;
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
 * A batch of scattered fragments from GPU memory to pinned memory and back, through both ways to the driver. {@code queue} is
 * the thread's time until all is queued; {@code out} and {@code back} last until the bytes are there; {@code linkOut} and
 * {@code linkBack} copy as many contiguous bytes, so their quotients are the parts of the link that are reached. Every byte is
 * checked before. Needs a GPU; {@code -prof gc} shows what {@code queue} allocates. The raw figures beside it:
 * {@code benchmarks/cuda/page_probe.cpp}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"})
public class DeviceStagingBenchmark {
  private static final long BATCH_BYTES_MAX = 256L << 20;

  /** The pages of one run. */
  @State(Scope.Benchmark)
  @SuppressWarnings("NullAway.Init") // by @Setup
  public static class Pages {
    /** The way to the driver. */
    @Param({"ffm", "lwjgl"})
    public String driver;

    /** Bytes a fragment: small heads, a 70B model's layer with 16-token blocks, a large one. */
    @Param({"4096", "32768", "262144"})
    public int fragmentBytes;

    /** Most fragments a batch: 32 blocks of 160. */
    @Param("5120")
    public int fragments;

    StagedPages staged;

    /** Allocates, and checks that every byte arrives. */
    @Setup
    public void open() {
      staged = new StagedPages(driver, fragmentBytes, (int) Math.min(fragments, BATCH_BYTES_MAX / fragmentBytes));
      staged.verify();
    }

    /** Lets the GPU finish, so that no invocation waits for the one before. */
    @Setup(Level.Invocation)
    public void idle() {
      staged.await();
    }

    /** Frees. */
    @TearDown
    public void close() {
      staged.await();
      staged.close();
    }
  }

  @Benchmark
  public void queue(Pages pages) {
    pages.staged.queueOut();
  }

  @Benchmark
  public void out(Pages pages) {
    pages.staged.queueOut();
    pages.staged.await();
  }

  @Benchmark
  public void back(Pages pages) {
    pages.staged.queueBack();
    pages.staged.await();
  }

  @Benchmark
  public void linkOut(Pages pages) {
    pages.staged.queueLink(true);
    pages.staged.await();
  }

  @Benchmark
  public void linkBack(Pages pages) {
    pages.staged.queueLink(false);
    pages.staged.await();
  }
}

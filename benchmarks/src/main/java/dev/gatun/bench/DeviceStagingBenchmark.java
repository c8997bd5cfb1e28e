package dev.gatun.bench;

import dev.gatun.device.Device;
import dev.gatun.device.StagedBatch.Direction;
import dev.gatun.device.StagingOptions;
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
 * Pages between GPU memory and pool blocks through the staging pipeline, by both ways to the driver. {@code send} is the
 * thread's time until a batch is queued; {@code save} and {@code load} last until the bytes are there; {@code linkOut} and
 * {@code linkIn} copy as many contiguous bytes, so their quotients are the parts of the link that are reached. Every byte is
 * checked before. Needs a GPU; {@code -prof gc} shows what {@code send} allocates. {@link DeviceStaging} measures the same in
 * turns and writes one report.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"})
public class DeviceStagingBenchmark {
  private static final int FRAGMENTS = 5120; // 32 blocks of 160

  /** The pages of one run. */
  @State(Scope.Benchmark)
  @SuppressWarnings("NullAway.Init") // by @Setup
  public static class Pages {
    /** The way to the driver. */
    @Param({"ffm", "lwjgl"})
    public String driver;

    /** Bytes a fragment: small heads, a 70B model's layer with 16-token blocks. */
    @Param({"4096", "32768"})
    public long fragmentBytes;

    Device gpu;
    StagingCell cell;

    /** Allocates, and checks that every byte arrives. */
    @Setup
    public void open() {
      gpu = Device.open(driver, 0);
      cell = new StagingCell(gpu, fragmentBytes, FRAGMENTS * fragmentBytes, StagingOptions.DEFAULT);
      if (!cell.movesEveryByte()) throw new IllegalStateException("other bytes arrived than were sent");
    }

    /** Lets the GPU finish, so that no invocation waits for the one before. */
    @Setup(Level.Invocation)
    public void idle() {
      cell.await();
    }

    /** Frees. */
    @TearDown
    public void close() {
      cell.await();
      cell.close();
      gpu.close();
    }
  }

  @Benchmark
  public void send(Pages pages) {
    pages.cell.send(Direction.SAVE);
  }

  @Benchmark
  public void save(Pages pages) {
    pages.cell.send(Direction.SAVE);
    pages.cell.await();
  }

  @Benchmark
  public void load(Pages pages) {
    pages.cell.send(Direction.LOAD);
    pages.cell.await();
  }

  @Benchmark
  public void linkOut(Pages pages) {
    pages.cell.copy(Direction.SAVE);
    pages.cell.await();
  }

  @Benchmark
  public void linkIn(Pages pages) {
    pages.cell.copy(Direction.LOAD);
    pages.cell.await();
  }
}

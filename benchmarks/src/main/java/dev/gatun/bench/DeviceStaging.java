package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.ThreadMXBean;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceInfo;
import dev.gatun.device.StagingMeasurement;
import dev.gatun.device.StagingOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;

/**
 * Pages between GPU memory and pinned pool blocks through the staging pipeline, beside one copy of contiguous bytes, in
 * turns, every byte checked first. Prints JSON.
 *
 * <p>Flags: {@code --driver ffm|lwjgl|host}, {@code --device N}, {@code --fragments BYTES,..}, {@code --bytes N} moved at a
 * time, {@code --repeats N}, {@code --sends N} of a batch, {@code --rounds N} with the producer still running,
 * {@code --ring BYTES}, {@code --chunk BYTES}, {@code --output FILE}.
 */
public final class DeviceStaging {
  private static final List<Long> FRAGMENT_BYTES = List.of(4096L, 16384L, 32768L, 65536L, 262144L, 1048576L, 16777216L);
  // blocks of 2, 8, 32 and 80 fragments of 4 KiB, each scattered over the pool: a copy each
  private static final int[] LAYERS_OF_SMALLER = {1, 4, 16, 40};
  private static final long SMALLER_BYTES = 160L << 20;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private DeviceStaging() {}

  /**
   * Measures and prints.
   *
   * @param arguments see above
   * @throws IOException if the file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    String driver = flags.word("--driver", List.of("ffm", "lwjgl", "host"));
    int ordinal = Math.toIntExact(flags.number("--device", 0));
    List<Long> fragments = flags.numbers("--fragments", FRAGMENT_BYTES);
    long bytes = flags.number("--bytes", 640L << 20);
    int repeats = Math.toIntExact(Math.max(1, flags.number("--repeats", 9)));
    int sends = Math.toIntExact(Math.max(1, flags.number("--sends", 2_000)));
    int rounds = Math.toIntExact(flags.number("--rounds", 1000));
    StagingOptions options = new StagingOptions(flags.number("--ring", StagingOptions.DEFAULT.ringBytes()),
        flags.number("--chunk", StagingOptions.DEFAULT.chunkBytes()), StagingOptions.DEFAULT.saveDirectBytes());
    String output = flags.text("--output", "");
    flags.requireKnown();
    ObjectNode report = Machine.describe();
    try (Device gpu = Device.open(driver, ordinal)) {
      DeviceInfo info = gpu.info();
      report.put("card", info.name()).put("driver", driver).put("ringBytes", options.ringBytes())
          .put("chunkBytes", options.chunkBytes()).put("directBytes", options.saveDirectBytes()).put("repeats", repeats)
          .put("statistic", "median of wall-clock times");
      ArrayNode rows = report.putArray("rows");
      for (long fragmentBytes : fragments) {
        try (StagingCell cell = new StagingCell(gpu, fragmentBytes, bytes, options)) {
          ObjectNode row = cell.describe(rows.addObject());
          row.put("measuredAtStart", StagingMeasurement.of(gpu, cell.layout(), options).toString());
          row.put("correct", cell.movesEveryByte());
          cell.measure(repeats, row);
          System.err.println(row);
        }
      }
      ArrayNode smaller = report.putArray("smallerBlocks");
      for (int layers : LAYERS_OF_SMALLER) {
        try (StagingCell cell = new StagingCell(gpu, 4096, layers, Math.min(bytes, SMALLER_BYTES), options)) {
          ObjectNode row = cell.describe(smaller.addObject());
          row.put("correct", cell.movesEveryByte());
          cell.measure(repeats, row);
          System.err.println(row);
        }
      }
      // 5,120 fragments of 4 KiB: 20 MiB, two chunks
      try (StagingCell cell = new StagingCell(gpu, 4096, 5120 * 4096, options)) {
        cell.measureSending(sends, report.putObject("sending"));
      }
      // 5,120 fragments of 32 KiB: 160 MiB, ten chunks
      try (StagingCell cell = new StagingCell(gpu, 32_768, 5120 * 32_768, options)) {
        cell.measureSending(Math.ceilDiv(sends, 6), report.putObject("sendingLarge"));
      }
      try (StagingCell cell = new StagingCell(gpu, 32_768, 16 << 20, options)) {
        cell.producerStillRunning(rounds, report.putObject("producer"));
      }
    }
    Machine.publish(report, output);
  }

  static long median(long[] nanos) {
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  static long allocatedBytes() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }
}

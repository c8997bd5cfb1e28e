package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.device.CudaDrivers;
import dev.gatun.device.Device;
import java.io.IOException;
import java.util.List;

/**
 * Pages from the cache of this process on one GPU straight into the cache of another process, on a second GPU where there is
 * one: GB/s by grid, in turns with the same kernel launched directly, and what a hand-over takes, by a push alone and by grant,
 * transfer and commit. Every byte is checked by the other process. Prints JSON; its peer without Java is
 * {@code benchmarks/cuda/push_probe.cu}. {@link PushBeside} has what pushes cost a model, {@link PushNixl} NIXL's figure.
 *
 * <p>Flags: {@code --driver ffm|lwjgl|host}, {@code --fragments BYTES,..}, {@code --bytes N} pushed at a time at most,
 * {@code --pages N} at most, {@code --grids N,..}, {@code --grid N} and {@code --rounds N} of the hand-over, {@code --pause-millis N} before
 * every other round, {@code --repeats N}, {@code --output FILE}.
 */
public final class DevicePush {
  private DevicePush() {}

  /**
   * Measures and prints.
   *
   * @param arguments see above
   * @throws IOException if the other process ends, or the file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    String driver = flags.word("--driver", List.of("ffm", "lwjgl", "host"));
    List<Long> fragments = flags.numbers("--fragments", List.of(4096L, 32768L, 262144L));
    long bytesMax = flags.number("--bytes", 6L << 30);
    long pagesMax = flags.number("--pages", 1000);
    List<Long> grids = flags.numbers("--grids", List.of(2L, 8L, 32L, 132L, 8448L, (long) Integer.MAX_VALUE));
    int grid = Math.toIntExact(flags.number("--grid", Integer.MAX_VALUE));
    int rounds = Math.toIntExact(Math.max(1, flags.number("--rounds", 200)));
    // 30: by then the threads of either side are asleep
    int pauseMillis = Math.toIntExact(flags.number("--pause-millis", 30));
    int repeats = Math.toIntExact(Math.max(1, flags.number("--repeats", 9)));
    String output = flags.text("--output", "");
    flags.requireKnown();
    int gpus = CudaDrivers.probe(driver).devices().size();
    ObjectNode report = Machine.describe().put("driver", driver).put("gpus", gpus).put("repeats", repeats)
        .put("statistic", "median");
    try (DecodeProcess decode = new DecodeProcess(driver, gpus); Device gpu = Device.open(driver, 0)) {
      report.put("card", gpu.info().name());
      ArrayNode rows = report.putArray("rows");
      ArrayNode handovers = report.putArray("handovers");
      for (long fragmentBytes : fragments) {
        int pages = Math.toIntExact(Math.clamp(bytesMax / (PlacedCache.PLACES * fragmentBytes), 1, pagesMax));
        try (PushCell cell = new PushCell(driver, gpu, decode, fragmentBytes, pages)) {
          cell.measure(grids, repeats, rows);
          cell.measureHandover(grid, rounds, pauseMillis, handovers.addObject());
        }
      }
    }
    Machine.publish(report, output);
  }
}

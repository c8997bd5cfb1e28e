package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.device.CudaDrivers;
import dev.gatun.device.Device;
import dev.gatun.device.PagePush;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * What pushes into another process's cache cost a model beside them, and what the model costs the pushes: matrix products on a
 * high-priority stream alone and beside pushes, in turns, on the GPU that pushes and then on the one that receives, by grid.
 * Says which is the largest grid that slows neither by more than 5 %. With one GPU both are on it, in two processes that the GPU
 * serves by turns. Prints JSON.
 *
 * <p>Flags: {@code --driver ffm|lwjgl|host}, {@code --product FILE} of {@code benchmarks/cuda/product.cu},
 * {@code --fragments BYTES,..}, {@code --bytes N} pushed at a time at most, {@code --grids N,..}, {@code --rounds N} and
 * {@code --seconds N} at most, {@code --products N} of a measurement, {@code --size N} of the matrices, {@code --output FILE}.
 */
public final class PushBeside {
  private static final double SLOWER_MAX_PERCENT = 5; // what a push may cost the model
  private static final int WARMUPS = 2;
  private static final int ROUNDS_MIN = 3;

  private final Product sender;
  private final Product receiver;
  private final int products;
  private final int roundsMax;
  private final long nanosEach;

  private PushBeside(Product sender, Product receiver, int products, int roundsMax, long nanosEach) {
    this.sender = sender;
    this.receiver = receiver;
    this.products = products;
    this.roundsMax = roundsMax;
    this.nanosEach = nanosEach;
  }

  /**
   * Measures and prints.
   *
   * @param arguments see above
   * @throws IOException if the other process ends, or the file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    String driver = flags.word("--driver", List.of("ffm", "lwjgl", "host"));
    String library = Path.of(flags.text("--product", "libproduct.so")).toAbsolutePath().toString();
    List<Long> fragments = flags.numbers("--fragments", List.of(32768L));
    // as push_probe; two blocks take some 50 ms for it beside products, so a measurement is longer
    long bytesMax = flags.number("--bytes", 655_360_000);
    int products = Math.toIntExact(Math.max(1, flags.number("--products", 90)));
    List<Long> grids = flags.numbers("--grids", List.of(2L, 8L, 32L, 64L, 132L, (long) Integer.MAX_VALUE));
    int rounds = Math.toIntExact(Math.max(1, flags.number("--rounds", 15)));
    long seconds = flags.number("--seconds", 40);
    int size = Math.toIntExact(flags.number("--size", driver.equals("host") ? 256 : 8192));
    String output = flags.text("--output", "");
    flags.requireKnown();
    int gpus = CudaDrivers.probe(driver).devices().size();
    ObjectNode report = Machine.describe().put("driver", driver).put("gpus", gpus).put("products", products)
        .put("size", size).put("slowerMaxPercent", SLOWER_MAX_PERCENT).put("statistic", "median");
    try (DecodeProcess decode = new DecodeProcess(driver, gpus); Device gpu = Device.open(driver, 0)) {
      report.put("card", gpu.info().name());
      PushBeside beside = new PushBeside(Product.on(driver, library, 0, size),
          new DecodeProduct(decode, library, size), products, rounds,
          TimeUnit.SECONDS.toNanos(seconds) / (2L * fragments.size() * grids.size()));
      ArrayNode rows = report.putArray("rows");
      ArrayNode largest = report.putArray("largestWithin");
      for (long fragmentBytes : fragments) {
        int pages = Math.toIntExact(Math.max(1, bytesMax / (PlacedCache.PLACES * fragmentBytes)));
        try (PushCell cell = new PushCell(driver, gpu, decode, fragmentBytes, pages)) {
          List<JsonNode> curve = new ArrayList<>();
          for (long grid : grids) {
            curve.add(beside.measure(cell, Math.toIntExact(grid), cell.describe(rows.addObject())));
            System.err.println(curve.getLast());
          }
          conclude(curve, fragmentBytes, largest.addObject());
        }
      }
    }
    Machine.publish(report, output);
  }

  private ObjectNode measure(PushCell cell, int grid, ObjectNode row) throws IOException {
    try (PagePush even = cell.filled(grid); PagePush odd = cell.filled(grid)) {
      cell.clearTarget();
      row.put("blocksMax", grid);
      measure(cell, List.of(even, odd), sender, row.putObject("sender"));
      measure(cell, List.of(even, odd), receiver, row.putObject("receiver"));
      return row.put("wrongBlocks", cell.wrong());
    }
  }

  private void measure(PushCell cell, List<PagePush> turns, Product product, ObjectNode into) {
    double[] alone = new double[roundsMax];
    double[] slower = new double[roundsMax];
    double[] rates = new double[roundsMax];
    long end = System.nanoTime() + nanosEach;
    int rounds = 0;
    for (int round = -WARMUPS; round < roundsMax; round++) {
      if (round >= ROUNDS_MIN && System.nanoTime() - end > 0) break;
      product.queue(products);
      double without = product.millis();
      product.queue(products);
      double rate = cell.pushWhile(turns, product::isRunning);
      double with = product.millis();
      if (round < 0) continue;
      alone[round] = without;
      slower[round] = 100 * (with / without - 1);
      rates[round] = rate;
      rounds = round + 1;
    }
    slower = Arrays.copyOf(slower, rounds);
    into.put("rounds", rounds).put("productMillis", Quantiles.median(Arrays.copyOf(alone, rounds)) / products)
        .put("gbps", Quantiles.median(Arrays.copyOf(rates, rounds))).put("slowerPercent", Quantiles.median(slower));
    into.putArray("slowerQuartiles").add(Quantiles.of(slower, 0.25)).add(Quantiles.of(slower, 0.75));
  }

  /** Adds the largest grid that slows neither side by more than is allowed, with the lower of its two rates; or that none is. */
  static void conclude(List<JsonNode> rows, long fragmentBytes, ObjectNode into) {
    into.put("fragmentBytes", fragmentBytes);
    Optional<JsonNode> largest = rows.stream().filter(row -> slower(row) <= SLOWER_MAX_PERCENT)
        .max(Comparator.comparingLong(row -> row.path("blocksMax").asLong()));
    if (largest.isEmpty()) {
      into.putNull("blocksMax");
      return;
    }
    JsonNode row = largest.get();
    double sending = row.path("sender").path("gbps").asDouble();
    double receiving = row.path("receiver").path("gbps").asDouble();
    into.put("blocksMax", row.path("blocksMax").asLong()).put("slowerPercent", slower(row)).put("gbps",
        Math.min(sending, receiving));
  }

  private static double slower(JsonNode row) {
    return Math.max(row.path("sender").path("slowerPercent").asDouble(),
        row.path("receiver").path("slowerPercent").asDouble());
  }
}

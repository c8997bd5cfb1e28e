package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.device.Device;
import dev.gatun.device.StagedBatch.Direction;
import dev.gatun.device.StagingOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What pages that move cost a model beside them, and what the model costs the pages: matrix products on a high-priority
 * stream alone, beside one large copy after the other, and beside the staging pipeline, in turns. Prints JSON.
 *
 * <p>Flags: {@code --product FILE} of {@code benchmarks/cuda/product.cu}, {@code --fragments BYTES,..}, {@code --bytes N} of
 * each batch, {@code --rounds N}, {@code --products N} of a measurement, {@code --size N} of the matrices,
 * {@code --ring BYTES}, {@code --chunk BYTES}, {@code --output FILE}.
 */
public final class DeviceBeside {
  private DeviceBeside() {}

  /**
   * Measures and prints.
   *
   * @param arguments see above
   * @throws IOException if the file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    Path library = Path.of(flags.text("--product", "libproduct.so")).toAbsolutePath();
    List<Long> fragments = flags.numbers("--fragments", List.of(4096L, 32768L));
    long bytes = flags.number("--bytes", 160L << 20);
    int rounds = Math.toIntExact(Math.max(1, flags.number("--rounds", 15)));
    int products = Math.toIntExact(Math.max(1, flags.number("--products", 60)));
    int size = Math.toIntExact(flags.number("--size", 8192));
    StagingOptions options = new StagingOptions(flags.number("--ring", StagingOptions.DEFAULT.ringBytes()),
        flags.number("--chunk", StagingOptions.DEFAULT.chunkBytes()), StagingOptions.DEFAULT.saveDirectBytes());
    String output = flags.text("--output", "");
    flags.requireKnown();
    ObjectNode report = Machine.describe().put("rounds", rounds).put("products", products).put("size", size)
        .put("ringBytes", options.ringBytes())
        .put("statistic", "median; the differences are of means and of medians, with their 95 % intervals");
    ArrayNode rows = report.putArray("rows");
    try (Device gpu = Device.open(0)) {
      report.put("card", gpu.info().name());
      MatrixProduct product = new MatrixProduct(library, 0, size);
      for (long fragmentBytes : fragments) {
        try (StagingCell cell = new StagingCell(gpu, fragmentBytes, bytes, options)) {
          for (Direction direction : Direction.values()) {
            System.err.println(
                measure(cell, product, products, rounds, direction, cell.describe(rows.addObject())));
          }
        }
      }
    }
    Machine.publish(report, output);
  }

  private static ObjectNode measure(StagingCell cell, MatrixProduct product, int products, int rounds,
      Direction direction, ObjectNode row) {
    double[] alone = new double[rounds];
    double[] besideCopy = new double[rounds];
    double[] besidePages = new double[rounds];
    double[] copyGBps = new double[rounds];
    double[] pagesGBps = new double[rounds];
    List<Double> differences = new ArrayList<>();
    for (int round = -2; round < rounds; round++) {
      product.queue(products);
      double without = product.millis();
      product.queue(products);
      double copied = cell.copyWhile(direction, product::isRunning);
      double withCopy = product.millis();
      product.queue(products);
      double moved = cell.sendWhile(direction, product::isRunning);
      double withPages = product.millis();
      if (round < 0) continue;
      alone[round] = without;
      besideCopy[round] = 100 * (withCopy / without - 1);
      besidePages[round] = 100 * (withPages / without - 1);
      differences.add(besidePages[round] - besideCopy[round]);
      copyGBps[round] = copied;
      pagesGBps[round] = moved;
    }
    row.put("direction", direction.name()).put("productMillis", Quantiles.median(alone) / products)
        .put("copyGBps", Quantiles.median(copyGBps)).put("copySlowsPercent", Quantiles.median(besideCopy))
        .put("pagesGBps", Quantiles.median(pagesGBps)).put("pagesSlowPercent", Quantiles.median(besidePages))
        .put("pagesOfCopy", Quantiles.median(pagesGBps) / Quantiles.median(copyGBps));
    row.set("pagesSlowMorePercent", Interval.ofDifferences(differences).json());
    Interval medians = Interval.ofMedianDifference(besidePages, besideCopy);
    row.putObject("pagesSlowMorePercentByMedians").put("difference", medians.mean()).put("low", medians.low())
        .put("high", medians.high());
    return row;
  }
}

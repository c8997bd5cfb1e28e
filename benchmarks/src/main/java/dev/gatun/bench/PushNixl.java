package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.bench.DecodeSide.Question;
import dev.gatun.device.CudaDrivers;
import dev.gatun.device.Device;
import dev.gatun.device.PagePush;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.transfer.Segment;
import dev.gatun.transfer.TransferBatch;
import dev.gatun.transfer.device.NixlTrial;
import java.io.IOException;
import java.util.List;

/**
 * The same pages into another process's cache by a push and by NIXL, in turns: NIXL writes every scattered fragment to its
 * place, and as many bytes in one piece. Every byte of the fragments is checked. Prints JSON.
 *
 * <p>Flags: {@code --driver ffm|lwjgl|host}, {@code --fragments BYTES,..} of 64 or a multiple, {@code --bytes N} at a time at
 * most, {@code --repeats N}, {@code --output FILE}.
 */
public final class PushNixl implements AutoCloseable {
  private final PushCell cell;
  private final long fragmentBytes;
  private final NixlCache own;
  private final Segment peer;
  private final long peerAddress;
  private final BlockPool pool;
  private final long[] fragments; // leases of all of the cache, by place and block
  private final TransferBatch batch;

  private PushNixl(PushCell cell, DecodeProcess decode) throws IOException {
    this.cell = cell;
    PlacedCache source = cell.source();
    fragmentBytes = source.pageBytes() / PlacedCache.PLACES;
    own = new NixlCache("prefill", source.memory());
    SegmentDescriptor descriptor = SegmentDescriptor
        .parse(decode.answer(Math.toIntExact(decode.ask(Question.NIXL))));
    peer = own.engine().openSegment(descriptor);
    peerAddress = descriptor.ranges().getFirst().address();
    int count = Math.toIntExact(source.memory().byteSize() / fragmentBytes);
    pool = BlockPool.over(own.slab(), new PoolLayout(fragmentBytes, count), own.gate());
    fragments = new long[count];
    for (int i = 0; i < count; i++) {
      long fragment = pool.lease();
      fragments[pool.blockIndex(fragment)] = fragment;
    }
    batch = own.engine().batch(pool, cell.from().size() * PlacedCache.PLACES);
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
    List<Long> sizes = flags.numbers("--fragments", List.of(32768L));
    long bytesMax = flags.number("--bytes", 512L << 20);
    int repeats = Math.toIntExact(Math.max(1, flags.number("--repeats", 5)));
    String output = flags.text("--output", "");
    flags.requireKnown();
    int gpus = CudaDrivers.probe(driver).devices().size();
    ObjectNode report = Machine.describe().put("driver", driver).put("gpus", gpus).put("repeats", repeats)
        .put("statistic", "median of wall-clock times");
    try (DecodeProcess decode = new DecodeProcess(driver, gpus); Device gpu = Device.open(driver, 0)) {
      report.put("card", gpu.info().name());
      String missing = NixlTrial.missing(gpu, NixlCache.options("trial"));
      if (!missing.isEmpty()) report.put("leftOut", missing);
      ArrayNode rows = report.putArray("rows");
      for (long size : missing.isEmpty() ? sizes : List.<Long>of()) {
        // 102: NIXL takes 16,384 fragments at a time
        int pages = Math.clamp(bytesMax / (PlacedCache.PLACES * size), 1, 102);
        try (PushCell cell = new PushCell(driver, gpu, decode, size, pages);
            PushNixl nixl = new PushNixl(cell, decode)) {
          System.err.println(nixl.measure(repeats, cell.describe(rows.addObject())));
        }
      }
    }
    Machine.publish(report, output);
  }

  private ObjectNode measure(int repeats, ObjectNode row) throws IOException {
    cell.clearTarget();
    scattered();
    row.put("wrongBlocks", cell.wrong());
    double[] pushed = new double[repeats];
    double[] written = new double[repeats];
    double[] inOnePiece = new double[repeats];
    try (PagePush push = cell.filled(Integer.MAX_VALUE)) {
      for (int round = -1; round < repeats; round++) {
        double first = cell.pushOnce(push);
        double second = scattered();
        double third = contiguous();
        if (round < 0) continue;
        pushed[round] = first;
        written[round] = second;
        inOnePiece[round] = third;
      }
    }
    return row.put("pushGBps", Quantiles.median(pushed)).put("nixlGBps", Quantiles.median(written))
        .put("nixlOnePieceGBps", Quantiles.median(inOnePiece));
  }

  /** {@return GB/s of every fragment of all pages} */
  private double scattered() {
    int blocks = fragments.length / PlacedCache.PLACES;
    batch.clear();
    for (int i = 0; i < cell.from().size(); i++) {
      for (int place = 0; place < PlacedCache.PLACES; place++)
        write(place * blocks + cell.from().get(i), place * blocks + cell.to().get(i));
    }
    return move();
  }

  /** {@return GB/s of as many bytes in one piece, since what lies side by side on both sides is one piece to NIXL} */
  private double contiguous() {
    batch.clear();
    for (int i = 0; i < cell.from().size() * PlacedCache.PLACES; i++)
      write(i, i);
    return move();
  }

  private void write(int from, int to) {
    batch.write(fragments[from], peer, peerAddress + to * fragmentBytes);
  }

  private double move() {
    long start = System.nanoTime();
    if (!batch.submit().await(StagingCell.soon()) || !batch.allCompleted()) {
      throw new IllegalStateException("NIXL has not written all: " + batch.outcome(0));
    }
    return cell.bytes() / (double) (System.nanoTime() - start);
  }

  @Override
  public void close() {
    batch.close();
    for (long fragment : fragments)
      pool.release(fragment);
    pool.close();
    peer.close();
    own.close();
  }
}

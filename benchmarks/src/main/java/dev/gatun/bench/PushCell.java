package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.bench.DecodeSide.Question;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceEvent;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.PageCopy;
import dev.gatun.device.PagePush;
import dev.gatun.device.PeerSlab;
import dev.gatun.device.SlabShare;
import dev.gatun.device.StreamPriority;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

/**
 * One fragment size: a cache here, one in the other process, and pages that are pushed from shuffled to shuffled blocks. Longer
 * than most classes because it holds what every measurement of pushes shares.
 */
final class PushCell implements AutoCloseable {
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final DecodeProcess decode;
  private final int pages;
  private final PlacedCache source;
  private final PeerSlab target;
  private final DeviceStream stream;
  private final DeviceEvent ready;
  private final DeviceEvent first;
  private final DeviceEvent last;
  private final PageCopy kernels;
  private final List<Integer> from;
  private final List<Integer> to;
  private final RawPush raw;

  PushCell(String driver, Device gpu, DecodeProcess decode, long fragmentBytes, int pages) throws IOException {
    this.decode = decode;
    this.pages = pages;
    int blocks = 2 * pages;
    DataOutputStream questions = decode.questions();
    questions.writeByte(Question.OPEN.code());
    questions.writeLong(fragmentBytes);
    questions.writeInt(blocks);
    questions.flush();
    source = opened(new PlacedCache(gpu, fragmentBytes, blocks));
    source.fill();
    SlabShare share = SlabShare.decode(ByteBuffer.wrap(decode.answer(SlabShare.ENCODED_BYTES)));
    target = opened(gpu.attach("decode", share));
    stream = opened(gpu.newStream("push", StreamPriority.LOW));
    ready = opened(gpu.newEvent("ready"));
    first = opened(gpu.newTimedEvent("first"));
    last = opened(gpu.newTimedEvent("last"));
    kernels = opened(PageCopy.load(gpu));
    from = shuffled(blocks, fragmentBytes);
    to = shuffled(blocks, fragmentBytes + 1);
    raw = opened(
        new RawPush(driver, gpu.info().ordinal(), share, PlacedCache.PLACES, source.tensorBytes(), fragmentBytes,
            from(), to()));
    stream.record(ready);
  }

  private <R extends AutoCloseable> R opened(R resource) {
    open.push(resource);
    return resource;
  }

  private static List<Integer> shuffled(int blocks, long seed) {
    List<Integer> all = new ArrayList<>();
    for (int block = 0; block < blocks; block++)
      all.add(block);
    Collections.shuffle(all, new Random(seed));
    return all;
  }

  private PagePush push(int grid) {
    return PagePush.open(kernels, stream, source.cache(), source.at(target), pages, grid);
  }

  private void add(PagePush push) {
    push.clear(StagingCell.soon());
    for (int i = 0; i < pages; i++)
      push.add(from.get(i), to.get(i));
  }

  /** {@return a push of all pages; the caller closes it} */
  PagePush filled(int grid) {
    PagePush push = push(grid);
    add(push);
    return push;
  }

  /** {@return GB/s of all pages, again and again by two pushes in turn, while something runs} */
  double pushWhile(List<PagePush> turns, BooleanSupplier running) {
    double gbps = Turns.gbpsWhile(bytes(), running, turn -> turns.get(turn).send(ready),
        turn -> turns.get(turn).done().isDone(), turn -> turns.get(turn).await(StagingCell.soon()));
    turns.forEach(push -> push.await(StagingCell.soon()));
    return gbps;
  }

  /** Pushes all pages once. {@return GB/s by the host's clock} */
  double pushOnce(PagePush push) {
    long start = System.nanoTime();
    push.send(ready).await(StagingCell.soon());
    return bytes() / (double) (System.nanoTime() - start);
  }

  /** Makes every byte of the other process's cache zero. */
  void clearTarget() throws IOException {
    decode.ask(Question.CLEAR);
  }

  PlacedCache source() {
    return source;
  }

  /** {@return the blocks that are pushed} */
  List<Integer> from() {
    return from.subList(0, pages);
  }

  /** {@return where they go} */
  List<Integer> to() {
    return to.subList(0, pages);
  }

  /**
   * Adds a row for each grid: bytes first, then GB/s of the GPU's and of the host's clock, in turns with the raw kernel; and once
   * those of one large copy.
   */
  void measure(List<Long> grids, int repeats, ArrayNode rows) throws IOException {
    double copyGBps = copy(repeats);
    for (long grid : grids) {
      try (PagePush push = filled(Math.toIntExact(grid))) {
        clearTarget();
        double[] gpu = new double[repeats];
        double[] wall = new double[repeats];
        double[] alone = new double[repeats];
        for (int round = -2; round < repeats; round++) {
          double rawMillis = raw.millis(Math.toIntExact(grid));
          long start = System.nanoTime();
          stream.record(first);
          push.send(ready);
          stream.record(last);
          last.await(StagingCell.soon());
          long end = System.nanoTime();
          if (round < 0) continue;
          alone[round] = bytes() / (rawMillis * 1e6);
          gpu[round] = bytes() / (first.millisUntil(last) * 1e6);
          wall[round] = bytes() / (double) (end - start);
        }
        ObjectNode row = describe(rows.addObject()).put("blocksMax", grid).put("wrongBlocks", wrong());
        System.err.println(row.put("gpuGBps", Quantiles.median(gpu)).put("wallGBps", Quantiles.median(wall))
            .put("rawGBps", Quantiles.median(alone)).put("ofRaw", Quantiles.median(gpu) / Quantiles.median(alone))
            .put("copyGBps", copyGBps).put("ofCopy", Quantiles.median(gpu) / copyGBps));
      }
    }
  }

  /** {@return GB/s of as many bytes in one piece} */
  private double copy(int repeats) {
    double[] rates = new double[repeats];
    for (int round = -2; round < repeats; round++) {
      stream.record(first).copy(target, 0, source.memory(), 0, bytes()).record(last);
      last.await(StagingCell.soon());
      if (round >= 0) rates[round] = bytes() / (first.millisUntil(last) * 1e6);
    }
    return Quantiles.median(rates);
  }

  /** {@return blocks of the other process's cache that do not hold what was pushed there, or hold something else than zeros} */
  long wrong() throws IOException {
    int[] sources = new int[2 * pages];
    Arrays.fill(sources, -1);
    for (int i = 0; i < pages; i++)
      sources[to.get(i)] = from.get(i);
    decode.questions().writeByte(Question.CHECK.code());
    for (int block : sources)
      decode.questions().writeInt(block);
    decode.questions().flush();
    return decode.answer();
  }

  /**
   * Adds what a hand-over takes until the other process has heard of it, over the time of the kernel alone: by a push and a word
   * through a pipe, and by grant, transfer and commit.
   */
  void measureHandover(int grid, int repeats, int pauseMillis, ObjectNode into) throws IOException {
    try (PagePush push = push(grid)) {
      double[] handover = new double[repeats];
      double[] gpu = new double[repeats];
      double[] over = new double[repeats];
      for (int round = -20; round < repeats; round++) {
        long start = System.nanoTime();
        add(push);
        stream.record(first);
        push.send(ready);
        stream.record(last);
        push.await(StagingCell.soon());
        long heard = decode.ask(Question.ARRIVED);
        last.await(StagingCell.soon());
        if (round < 0) continue;
        handover[round] = (heard - start) / 1e3;
        gpu[round] = first.millisUntil(last) * 1e3;
        over[round] = handover[round] - gpu[round];
      }
      describe(into).put("blocksMax", grid).put("rounds", repeats).put("handoverMicros", Quantiles.median(handover))
          .put("gpuMicros", Quantiles.median(gpu)).put("overGpuMicros", Quantiles.median(over))
          .put("overGpuP99Micros", Quantiles.of(over, 0.99));
    }
    double[] rawMicros = new double[repeats];
    for (int round = 0; round < repeats; round++)
      rawMicros[round] = raw.millis(grid) * 1e3;
    clearTarget();
    GrantedPages.measure(source, ready, from(), to(), repeats, pauseMillis, Quantiles.median(rawMicros), decode, into);
    into.put("wrongBlocks", wrong());
  }

  ObjectNode describe(ObjectNode into) {
    return into.put("fragmentBytes", source.pageBytes() / PlacedCache.PLACES).put("pages", pages).put("bytes", bytes());
  }

  long bytes() {
    return pages * source.pageBytes();
  }

  @Override
  public void close() throws IOException {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
    decode.ask(Question.CLOSE);
  }
}

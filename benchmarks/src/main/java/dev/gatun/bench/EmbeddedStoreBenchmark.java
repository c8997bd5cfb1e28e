package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.HugePages;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ObjIntConsumer;

/**
 * What the embedded library gives through the product's API, in turns with this machine's memcpy by one and by all cores:
 * one page of 4 KiB alone, existence of 128 keys, and batches of large pages.
 *
 * <p>Flags: {@code --cell-millis}, {@code --min-iterations}, {@code --pages} and {@code --batches} (of the large pages),
 * {@code --output FILE}.
 */
public final class EmbeddedStoreBenchmark {
  // the project's targets for the embedded library
  private static final double ALONE_NANOS_MAX = 1_500;
  private static final double EXISTS_KEY_NANOS_MAX = 200;
  private static final double MEMCPY_SHARE_MIN = 0.85;

  private final InterleavedRun run;
  private final Slab slab;
  private final Slab target;
  private final EpochGate gate;
  private final PeerSet peers;
  private final CLoop loop = new CLoop();
  private final ObjectNode report;

  private EmbeddedStoreBenchmark(InterleavedRun run, Slab slab, Slab target, EpochGate gate, PeerSet peers,
      ObjectNode report) {
    this.run = run;
    this.slab = slab;
    this.target = target;
    this.gate = gate;
    this.peers = peers;
    this.report = report;
  }

  /**
   * Measures, prints, and writes JSON if told to.
   *
   * @param arguments see above
   * @throws IOException if the file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    long cellMillis = flags.number("--cell-millis", 1_000);
    int iterationsMin = Math.toIntExact(Math.max(1, flags.number("--min-iterations", 20)));
    List<StoreCell> large = StoreCell.all(flags.sizes("--pages", List.of(262_144L, 1_048_576L, 16_777_216L)),
        flags.numbers("--batches", List.of(16L, 128L)), flags.bytes("--max-batch", 512L << 20));
    String output = flags.text("--output", "");
    flags.requireKnown();
    ObjectNode report = Machine.describe();
    long bytes = large.stream().mapToLong(StoreCell::bytes).max().orElse(1L << 20);
    StoreOptions store = StoreOptions.of(Map.of("library", StoreOptions.LOOPBACK, "master", "loopback:bench"))
        .segmentBytes(LaunchOptions.segmentBytes(large)).build();
    EpochGate gate = new EpochGate(new WeightEpoch("bench", 0));
    try (InterleavedRun run = new InterleavedRun(cellMillis, iterationsMin);
        Slab slab = memory("pages", bytes);
        Slab target = memory("target", bytes);
        PeerSet peers = PeerSet.open(store, List.of(LaunchOptions.STORE_BATCH, LaunchOptions.RAW_DOWNCALL), slab,
            gate)) {
      EmbeddedStoreBenchmark benchmark = new EmbeddedStoreBenchmark(run, slab, target, gate, peers, report);
      benchmark.small(new StoreCell(4_096, 1), List.of(StoreOperation.PUT, StoreOperation.GET), 1, ALONE_NANOS_MAX);
      benchmark.small(new StoreCell(4_096, 128), List.of(StoreOperation.EXISTS), 128, EXISTS_KEY_NANOS_MAX);
      for (StoreCell cell : large)
        benchmark.besideMemcpy(cell);
    }
    report.put("loadAfter", Machine.load());
    if (!output.isEmpty()) Files.writeString(Path.of(output), report.toPrettyString() + "\n");
  }

  private static Slab memory(String name, long bytes) {
    return Slab.allocate(SlabOptions.of(name, bytes).withHugePages(HugePages.TRANSPARENT).prefaulted());
  }

  /** Operations measured against a limit of nanoseconds a key. */
  private void small(StoreCell cell, List<StoreOperation> operations, int keys, double nanosMax) {
    try (CellMemory memory = new CellMemory(cell, slab, gate); StorePeer peer = product(memory)) {
      memory.verify(peer);
      for (StoreOperation operation : operations) {
        Samples samples = measure(peer, operation, List.of()).getFirst();
        double nanos = (double) samples.medianNanos() / keys;
        say("%s x %d %s: %.0f ns a key (target below %.0f): %s", cell.pageText(), cell.batch(), operation.text(), nanos,
            nanosMax, nanos < nanosMax);
        report.withArray("perKey").addObject().put("pageBytes", cell.pageBytes()).put("batch", cell.batch())
            .put("operation", operation.text()).put("medianNanosPerKey", nanos).put("targetNanosPerKey", nanosMax);
      }
    }
  }

  private void besideMemcpy(StoreCell cell) {
    int cores = Runtime.getRuntime().availableProcessors();
    List<ObjIntConsumer<MemorySegment>> copies = List.of(
        (nanos, iterations) -> loop.memcpy(target.segment(), slab.segment(), cell, 1, iterations, nanos),
        (nanos, iterations) -> loop.memcpy(target.segment(), slab.segment(), cell, cores, iterations, nanos));
    try (CellMemory memory = new CellMemory(cell, slab, gate); StorePeer peer = product(memory)) {
      memory.verify(peer);
      for (StoreOperation operation : List.of(StoreOperation.PUT, StoreOperation.GET)) {
        List<Samples> samples = measure(peer, operation, copies);
        double own = gigabytesPerSecond(cell, samples.get(0));
        double one = gigabytesPerSecond(cell, samples.get(1));
        double all = gigabytesPerSecond(cell, samples.get(2));
        double share = own / Math.max(one, all);
        say("%s x %d %s: %.1f GB/s; memcpy %.1f by one core, %.1f by %d: %.0f %% (target %.0f): %s", cell.pageText(),
            cell.batch(), operation.text(), own, one, all, cores, 100 * share, 100 * MEMCPY_SHARE_MIN,
            share >= MEMCPY_SHARE_MIN);
        report.withArray("besideMemcpy").addObject().put("pageBytes", cell.pageBytes()).put("batch", cell.batch())
            .put("operation", operation.text()).put("gigabytesPerSecond", own).put("memcpyOneCore", one)
            .put("memcpyAllCores", all).put("share", share).put("targetShare", MEMCPY_SHARE_MIN);
      }
    }
  }

  private StorePeer product(CellMemory memory) {
    List<StorePeer> all = peers.of(memory);
    all.subList(1, all.size()).forEach(StorePeer::close);
    return all.getFirst();
  }

  private List<Samples> measure(StorePeer peer, StoreOperation operation, List<ObjIntConsumer<MemorySegment>> beside) {
    List<ObjIntConsumer<MemorySegment>> ways = new ArrayList<>();
    ways.add((nanos, iterations) -> peer.run(operation, iterations, nanos));
    ways.addAll(beside);
    if (!operation.isPut()) peer.store();
    List<Samples> samples = run.measure(ways);
    if (!operation.isPut()) peer.removeAll();
    return samples;
  }

  private static double gigabytesPerSecond(StoreCell cell, Samples samples) {
    return (double) cell.bytes() / samples.medianNanos();
  }

  @SuppressWarnings("AnnotateFormatMethod") // the last value is the verdict
  private static void say(String format, Object... values) {
    values[values.length - 1] = values[values.length - 1].equals(true) ? "met" : "MISSED";
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}

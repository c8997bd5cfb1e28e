package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.HugePages;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjIntConsumer;

/**
 * The Java side of one launch: measures cells through one or several peers and prints JSON of the C program's form.
 * {@link StoreComparison} starts it; it can be run alone.
 */
public final class StoreLaunch implements AutoCloseable {
  // over so many a byte each would show; of several passes the least, since a method that is compiled anew on the way
  // allocates once
  private static final int ALLOCATION_ITERATIONS = 1_000;
  private static final int ALLOCATION_PASSES = 3;
  private static final long ALLOCATION_NANOS_MAX = 100_000_000;
  // 128 pages of 4 KiB exercise every loop of the hot path at the least cost in copied bytes
  private static final StoreCell WARM_CELL = new StoreCell(4_096, 128);

  private final LaunchOptions options;
  private final EpochGate gate = new EpochGate(new WeightEpoch("bench", 0));
  private final InterleavedRun run;

  private StoreLaunch(LaunchOptions options) {
    this.options = options;
    run = new InterleavedRun(options.cellMillis(), options.iterationsMin());
  }

  /**
   * Measures and prints.
   *
   * @param arguments see {@link LaunchOptions}
   */
  public static void main(String[] arguments) {
    LaunchOptions options = LaunchOptions.parse(new Flags(arguments));
    try (StoreLaunch launch = new StoreLaunch(options)) {
      System.out.println(launch.measure().toPrettyString());
    }
  }

  private ObjectNode measure() {
    ObjectNode report = JsonNodeFactory.instance.objectNode();
    ArrayNode cells = report.putArray("cells");
    long bytes = Math.max(WARM_CELL.bytes(), options.cells().stream().mapToLong(StoreCell::bytes).max().orElse(0));
    // as the C program: pages touched and merged before anything is timed
    SlabOptions memory = SlabOptions.of("bench", bytes).withHugePages(HugePages.TRANSPARENT).prefaulted();
    try (Slab slab = Slab.allocate(memory);
        PeerSet peers = PeerSet.open(options.store(), options.peers(), slab, gate)) {
      try (CellMemory cell = new CellMemory(WARM_CELL, slab, gate)) {
        for (StorePeer peer : peers.of(cell)) {
          try (peer) {
            warm(peer);
          }
        }
      }
      for (StoreCell size : options.cells()) {
        try (CellMemory cell = new CellMemory(size, slab, gate)) {
          cells.addAll(measure(cell, peers.of(cell)));
        }
      }
    }
    return report;
  }

  private void warm(StorePeer peer) {
    try (InterleavedRun warming = new InterleavedRun(options.warmMillis(), 1)) {
      for (StoreOperation operation : options.operations()) {
        if (!peer.runs(operation)) continue;
        if (!operation.isPut()) peer.store();
        warming.measure(List.of((nanos, iterations) -> peer.run(operation, iterations, nanos)));
        if (!operation.isPut()) peer.removeAll();
      }
    }
  }

  private List<ObjectNode> measure(CellMemory cell, List<StorePeer> peers) {
    List<ObjectNode> reports = new ArrayList<>();
    try {
      for (StorePeer peer : peers) {
        cell.verify(peer);
        reports.add(JsonNodeFactory.instance.objectNode().put("pageBytes", cell.cell().pageBytes())
            .put("batch", cell.cell().batch()).put("peer", peer.name()));
      }
      for (StoreOperation operation : options.operations())
        measure(operation, peers, reports);
      return reports;
    } finally {
      peers.forEach(StorePeer::close);
    }
  }

  private void measure(StoreOperation operation, List<StorePeer> peers, List<ObjectNode> reports) {
    List<ObjIntConsumer<MemorySegment>> ways = new ArrayList<>();
    List<ObjectNode> filled = new ArrayList<>();
    List<StorePeer> runners = new ArrayList<>();
    for (int i = 0; i < peers.size(); i++) {
      StorePeer peer = peers.get(i);
      if (!peer.runs(operation)) continue;
      ways.add((nanos, iterations) -> peer.run(operation, iterations, nanos));
      filled.add(reports.get(i));
      runners.add(peer);
    }
    if (ways.isEmpty()) return;
    if (!operation.isPut()) runners.getFirst().store();
    List<Samples> samples = run.measure(ways);
    for (int i = 0; i < ways.size(); i++) {
      long iterations = Math.clamp(ALLOCATION_NANOS_MAX / samples.get(i).medianNanos(), 1, ALLOCATION_ITERATIONS);
      long bytes = Long.MAX_VALUE;
      for (int pass = 0; pass < ALLOCATION_PASSES && bytes > 0; pass++)
        bytes = Math.min(bytes, runners.get(i).allocatedBytes(operation, (int) iterations));
      filled.get(i).set(operation.text(), samples.get(i).json().put("allocatedBytesPerOperation",
          (double) bytes / iterations));
    }
    runners.getFirst().removeAll();
  }

  @Override
  public void close() {
    run.close();
  }
}

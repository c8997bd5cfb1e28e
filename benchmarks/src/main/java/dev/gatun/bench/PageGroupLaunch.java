package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.connector.BlockTable;
import dev.gatun.connector.StoreTransferOptions;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.HugePages;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.ObjIntConsumer;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The Java side of one launch of {@link PageGroupComparison}: the blocks of a request through a store connector, in groups
 * and page by page, in turns. Prints JSON.
 */
public final class PageGroupLaunch {
  private static final int ITERATIONS_MIN = 10;

  private final long cellMillis;
  private final int blocks;
  private final long stagingBytes;
  private final EpochGate gate;
  private final KvStore store;
  private final RefitCoordinator coordinator;

  private PageGroupLaunch(KvStore store, long cellMillis, int blocks, long stagingBytes) {
    this.store = store;
    this.cellMillis = cellMillis;
    this.blocks = blocks;
    this.stagingBytes = stagingBytes;
    gate = store.gate();
    coordinator = new RefitCoordinator(gate, List.of(store.refitPort()), RefitPolicy.DEFAULT, Observer.NONE);
  }

  /**
   * Measures and prints.
   *
   * @param arguments {@code --master}, {@code --pages}, {@code --groups}, {@code --blocks}, {@code --cell-millis},
   *     {@code --staging}
   */
  public static void main(String[] arguments) {
    Flags flags = new Flags(arguments);
    StoreOptions options = StoreOptions.mooncake(flags.text("--master", "127.0.0.1:50051")).build();
    List<Long> pages = flags.numbers("--pages", List.of(4_096L, 65_536L));
    List<Long> groups = flags.numbers("--groups", pages.stream()
        .map(bytes -> (long) StoreTransferOptions.forPages(bytes).blocksPerGroup()).toList());
    long cellMillis = flags.number("--cell-millis", 1000);
    int blocks = Math.toIntExact(flags.number("--blocks", 128));
    long stagingBytes = flags.number("--staging", StoreTransferOptions.SINGLE_PAGES.stagingBytes());
    flags.requireKnown();
    ObjectNode report = JsonNodeFactory.instance.objectNode();
    ArrayNode cells = report.putArray("cells");
    EpochGate gate = new EpochGate(new WeightEpoch("bench", 0));
    try (KvStore store = KvStore.open(options, KeyCodec.epoch("bench"), gate, Observer.NONE)) {
      PageGroupLaunch launch = new PageGroupLaunch(store, cellMillis, blocks, stagingBytes);
      for (int i = 0; i < pages.size(); i++)
        cells.addAll(launch.cell(pages.get(i), Math.toIntExact(groups.get(i))));
    }
    System.out.println(report.toPrettyString());
  }

  private List<ObjectNode> cell(long pageBytes, int group) {
    PoolLayout layout = new PoolLayout(pageBytes, blocks);
    SlabOptions memory = SlabOptions.of("bench", layout.totalBytes()).withHugePages(HugePages.TRANSPARENT).prefaulted();
    try (Slab slab = Slab.allocate(memory); BlockPool cache = BlockPool.over(slab, layout, gate)) {
      BlockTable table = shuffled(cache);
      StoreTransferOptions single = StoreTransferOptions.SINGLE_PAGES.withStagingBytes(stagingBytes);
      List<ObjectNode> measured;
      store.register(slab);
      try (ConnectorPeer grouped = peer("storeConnector", single.withBlocksPerGroup(group), cache, table);
          ConnectorPeer singles = peer("storeConnectorSinglePages", single, cache, table)) {
        measured = measure(pageBytes, List.of(grouped, singles));
      }
      store.unregister(slab);
      table.stream().forEach(cache::release);
      return measured;
    }
  }

  private ConnectorPeer peer(String name, StoreTransferOptions options, BlockPool cache, BlockTable table) {
    return new ConnectorPeer(name, store, coordinator, options, cache, table);
  }

  /** Leases in an order in which blocks of a group do not lie side by side. */
  private BlockTable shuffled(BlockPool cache) {
    List<Long> leases = LongStream.generate(cache::lease).limit(blocks).boxed().collect(Collectors.toList());
    Collections.shuffle(leases, new Random(1));
    return BlockTable.of(leases.stream().mapToLong(Long::longValue).toArray());
  }

  private List<ObjectNode> measure(long pageBytes, List<ConnectorPeer> peers) {
    peers.forEach(ConnectorPeer::verify);
    List<ObjIntConsumer<MemorySegment>> puts = new ArrayList<>();
    List<ObjIntConsumer<MemorySegment>> gets = new ArrayList<>();
    for (ConnectorPeer peer : peers) {
      puts.add(peer::puts);
      gets.add(peer::gets);
    }
    List<ObjectNode> reports = new ArrayList<>();
    try (InterleavedRun run = new InterleavedRun(cellMillis, ITERATIONS_MIN)) {
      List<Samples> put = run.measure(puts);
      peers.forEach(ConnectorPeer::store);
      List<Samples> get = run.measure(gets);
      for (int i = 0; i < peers.size(); i++) {
        ObjectNode report = JsonNodeFactory.instance.objectNode().put("pageBytes", pageBytes).put("blocks", blocks)
            .put("group", peers.get(i).group()).put("peer", peers.get(i).name());
        report.set("put", put.get(i).json());
        report.set("get", get.get(i).json());
        reports.add(report);
      }
    }
    store.removeAll(true);
    return reports;
  }
}

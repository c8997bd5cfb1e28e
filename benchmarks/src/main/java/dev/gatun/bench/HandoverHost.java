package dev.gatun.bench;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineCapabilities;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.connector.BlockTable;
import dev.gatun.connector.KvConnector;
import dev.gatun.connector.KvConnectors;
import dev.gatun.connector.KvRequest;
import dev.gatun.connector.KvRole;
import dev.gatun.connector.KvTransferConfig;
import dev.gatun.connector.MooncakeConnector;
import dev.gatun.connector.NixlConnector;
import dev.gatun.connector.P2pOptions;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.HugePages;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Sequence;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KvKey;
import dev.gatun.transfer.Segment;
import dev.gatun.transfer.TransferBatch;
import dev.gatun.transfer.TransferEngine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** One side of {@link HandoverComparison}: a cache of one request's blocks, an engine and a connector. One thread. */
final class HandoverHost implements AutoCloseable {
  private static final Duration WAIT = Duration.ofSeconds(30);

  final EpochGate gate = new EpochGate(new WeightEpoch("bench", 1));
  final Slab slab;
  final BlockPool pool;
  final BlockTable blocks;
  final TransferEngine engine;
  final KvConnector connector;
  final KvTransferConfig config;
  private final List<KvKey> keys;

  HandoverHost(KvRole role, String kind, int count, long pageBytes) {
    PoolLayout layout = new PoolLayout(pageBytes, count);
    slab = Slab.allocate(
        SlabOptions.of("bench", layout.totalBytes()).withHugePages(HugePages.TRANSPARENT).prefaulted());
    pool = BlockPool.over(slab, layout, gate);
    // ascending addresses, as a raw transfer of one piece of memory would have them
    blocks = BlockTable.of(LongStream.generate(pool::lease).limit(count).boxed()
        .sorted((a, b) -> Long.compareUnsigned(pool.blockAddress(a), pool.blockAddress(b)))
        .mapToLong(Long::longValue).toArray());
    engine = TransferEngine.open(options(kind, role), gate);
    RefitCoordinator coordinator = new RefitCoordinator(gate, List.of(), RefitPolicy.DEFAULT, Observer.NONE);
    config = KvTransferConfig.builder().kvConnector(pulls(kind) ? NixlConnector.NAME : MooncakeConnector.NAME)
        .kvRole(role).kvBufferDevice("cpu").build();
    connector = KvConnectors.over(coordinator)
        .withEngine(engine, P2pOptions.loopback("bench").withTimeouts(WAIT, WAIT)).open(config);
    connector.worker().registerCache(pool);
    keys = IntStream.range(0, count).mapToObj(i -> KvKey.of("block-" + i)).toList();
  }

  /** {@return whether decode reads, where other engines write} */
  static boolean pulls(String kind) {
    return kind.equals(EngineOptions.NIXL);
  }

  private static EngineOptions options(String kind, KvRole role) {
    return switch (kind) {
      case EngineOptions.LOOPBACK -> EngineOptions.loopback();
      case EngineOptions.MOONCAKE -> EngineOptions.mooncake("127.0.0.1");
      default -> EngineOptions.nixl("bench-" + role + '-' + ProcessHandle.current().pid());
    };
  }

  KvRequest request(long number, Map<String, Object> params) {
    return new KvRequest("request-" + number, Sequence.open(gate), keys, params);
  }

  long[] addresses() {
    return blocks.stream().map(block -> pool.blockAddress(block) + pool.headerBytes()).toArray();
  }

  /** {@return batches that move every block to or from a peer's memory, none larger than a hand-over's} */
  List<TransferBatch> raw(SegmentDescriptor descriptor, long[] remote, boolean reads) {
    Segment peer = engine.openSegment(descriptor);
    EngineCapabilities can = engine.capabilities();
    int chunk = Math.min(can.batchMax(), can.inFlightMax());
    List<TransferBatch> batches = new ArrayList<>();
    for (int from = 0; from < remote.length; from += chunk) {
      TransferBatch batch = engine.batch(pool, Math.min(chunk, remote.length - from));
      for (int i = from; i < from + batch.capacity(); i++) {
        if (reads) batch.read(blocks.get(i), peer, remote[i]);
        else
          batch.write(blocks.get(i), peer, remote[i]);
      }
      batches.add(batch);
    }
    return batches;
  }

  /** Moves all blocks. {@return the time that took} */
  static long rawNanos(List<TransferBatch> batches) {
    Deadline deadline = Deadline.after(WAIT);
    long start = System.nanoTime();
    for (TransferBatch batch : batches) {
      if (!batch.submit().await(deadline) || !batch.allCompleted())
        throw new IllegalStateException("a transfer failed");
    }
    return System.nanoTime() - start;
  }

  @Override
  public void close() {
    connector.close();
    engine.close();
    blocks.stream().forEach(pool::release);
    pool.close();
    slab.close();
  }
}

package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Sequence;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KvKey;
import dev.gatun.transfer.TransferEngine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One engine of a pair, with a pool as its cache and a connector, driven by hand as a host would. */
final class P2pHost implements AutoCloseable {
  static final WeightEpoch EPOCH = new WeightEpoch("run", 1);
  static final long PAGE_BYTES = 8192;
  private static final Duration LIMIT = Duration.ofSeconds(30);

  final EpochGate gate = new EpochGate(EPOCH);
  final BlockPool pool;
  final TransferEngine engine;
  final KvTransferConfig config;
  final KvConnector connector;
  final List<String> freed = new ArrayList<>();
  final List<FinishedTransfers.Load> loads = new ArrayList<>();
  final List<FinishedTransfers.Save> saves = new ArrayList<>();

  P2pHost(P2pConnector kind, KvRole role, EngineOptions engineOptions, P2pOptions options, int blocks) {
    this(kind, role, engineOptions, options, blocks, Map.of());
  }

  P2pHost(P2pConnector kind, KvRole role, EngineOptions engineOptions, P2pOptions options, int blocks,
      Map<String, Object> extra) {
    this(kind, role, gate -> TransferEngine.open(engineOptions, gate), options, blocks, extra);
  }

  P2pHost(P2pConnector kind, KvRole role, Function<EpochGate, TransferEngine> opening, P2pOptions options, int blocks,
      Map<String, Object> extra) {
    pool = BlockPool.allocate(new PoolLayout(PAGE_BYTES, blocks), gate);
    engine = opening.apply(gate);
    RefitCoordinator coordinator = new RefitCoordinator(gate, List.of(), RefitPolicy.DEFAULT, Observer.NONE);
    config = KvTransferConfig.builder().kvConnector(kind.connectorName()).kvRole(role).extraConfig(extra).build();
    connector = kind == P2pConnector.MOONCAKE
        ? MooncakeConnector.open(config, engine, coordinator, options)
        : NixlConnector.open(config, engine, coordinator, options);
    connector.worker().registerCache(pool);
  }

  int bootstrapPort() {
    return ((MooncakeConnector) connector).bootstrapPort().orElseThrow();
  }

  HostPort worker() {
    return ((P2pWorker) connector.worker()).address();
  }

  KvRequest request(String id, int blocks, Map<String, ? extends @Nullable Object> params) {
    return new KvRequest(id, Sequence.open(gate),
        IntStream.range(0, blocks).mapToObj(i -> KvKey.of(id + '-' + i)).toList(), params);
  }

  BlockTable lease(KvRequest request) {
    return BlockTable.of(request.keys().stream().mapToLong(key -> request.sequence().lease(pool)).toArray());
  }

  /** Computes every page of a request: each differs from all others. */
  static void compute(BlockPool pool, BlockTable blocks, int seed) {
    for (int i = 0; i < blocks.size(); i++) {
      MemorySegment page = pool.page(blocks.get(i));
      for (long at = 0; at < page.byteSize(); at += Long.BYTES)
        page.set(ValueLayout.JAVA_LONG, at, word(seed, i, at));
    }
  }

  /** {@return pages that differ from what was computed} */
  static int wrong(BlockPool pool, BlockTable blocks, int seed) {
    int wrong = 0;
    for (int i = 0; i < blocks.size(); i++) {
      MemorySegment page = pool.page(blocks.get(i));
      boolean right = true;
      for (long at = 0; at < page.byteSize(); at += Long.BYTES)
        right &= page.get(ValueLayout.JAVA_LONG, at) == word(seed, i, at);
      if (!right) wrong++;
    }
    return wrong;
  }

  private static long word(int seed, int block, long at) {
    return ((long) seed << 48) ^ ((long) block << 32) ^ (at * 0x9E3779B97F4A7C15L);
  }

  /** Ends a prefill: what was computed is offered. {@return what the router passes on} */
  RequestEnd offer(KvRequest request, BlockTable blocks) {
    RequestEnd end = connector.scheduler().finished(request, blocks, blocks.size());
    connector.worker().save(connector.scheduler().plan(List.of()));
    return end;
  }

  /** Takes over all blocks of a request, and waits for the end. {@return how it ended} */
  FinishedTransfers.Load load(KvRequest request, BlockTable blocks) {
    int before = loads.size();
    startLoad(request, blocks);
    assertTrue(connector.worker().awaitLoads(Deadline.after(LIMIT)), "loads end");
    collect();
    return loads.get(before);
  }

  void startLoad(KvRequest request, BlockTable blocks) {
    PrefixLookup found = connector.scheduler().lookup(request, 0);
    assertTrue(found instanceof PrefixLookup.Found, found::toString);
    connector.scheduler().allocated(request, blocks, found.blocks());
    connector.worker().startLoad(connector.scheduler().plan(List.of()));
  }

  void awaitSaves() {
    assertTrue(connector.worker().awaitSaves(Deadline.after(LIMIT)), "offers end");
    collect();
  }

  void collect() {
    FinishedTransfers ended = connector.worker().finished();
    loads.addAll(ended.loads());
    saves.addAll(ended.saves());
    freed.addAll(connector.scheduler().update(ended));
  }

  void release(BlockTable blocks) {
    blocks.stream().forEach(pool::release);
  }

  @Override
  public void close() {
    connector.close();
    engine.close();
    pool.close();
  }
}

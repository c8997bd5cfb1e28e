package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreBackendProvider;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.PoolOptions;
import dev.gatun.memory.Sequence;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.StorePolicy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;

/** One replica with a paged cache and a store connector: what a host does, step by step, for tests to arrange. */
final class Site implements AutoCloseable {
  static final KeyCodec KEYED = KeyCodec.epoch("connector");
  static final KeyCodec PLAIN = KeyCodec.plain("connector");
  static final RefitPolicy POLICY = RefitPolicy.DEFAULT.withDeadline(Duration.ofSeconds(5))
      .withOtherClients(RefitPolicy.OtherClients.FENCED);
  private static final Duration WAIT = Duration.ofSeconds(30);

  final EpochGate gate;
  final FaultyBackend backend;
  final KvStore store;
  final RefitCoordinator coordinator;
  final BlockPool cache;
  final StoreConnector connector;

  Site(StoreOptions options, KeyCodec codec, RefitPolicy policy, StoreTransferOptions connecting, long pageBytes,
      int pages) {
    gate = new EpochGate(epoch(1));
    backend = new FaultyBackend(ServiceLoader.load(StoreBackendProvider.class).stream()
        .map(ServiceLoader.Provider::get).filter(provider -> provider.library().equals(options.library())).findAny()
        .orElseThrow().open(options));
    store = KvStore.open(backend, options, codec, gate, Observer.NONE, StorePolicy.DEFAULT);
    coordinator = new RefitCoordinator(gate, List.of(store.refitPort()), policy, Observer.NONE);
    cache = BlockPool.allocate(new PoolLayout(pageBytes, pages, codec.headerBytes()), gate,
        PoolOptions.named("cache").poisoned());
    connector = StoreConnector.open(store, coordinator, connecting);
    connector.worker().registerCache(cache);
  }

  static WeightEpoch epoch(long version) {
    return new WeightEpoch("run", version);
  }

  /** Keys of a prompt's blocks: each names everything before it. Prompts that share a first part share its keys. */
  static List<KvKey> keys(String prompt, int blocks) {
    return IntStream.range(0, blocks).mapToObj(block -> KvKey.of(prompt + '-' + block)).toList();
  }

  KvRequest request(String id, List<KvKey> keys) {
    return new KvRequest(id, Sequence.open(gate), keys);
  }

  /** Leases a block for each key from {@code from} on and computes its page. */
  BlockTable compute(KvRequest request, BlockTable before, int to) {
    List<Long> blocks = new ArrayList<>(before.stream().boxed().toList());
    for (int i = before.size(); i < to; i++) {
      long block = request.sequence().lease(cache);
      fill(cache.rewrite(block), request.keys().get(i), gate.epoch().version());
      blocks.add(block);
    }
    return BlockTable.of(blocks.stream().mapToLong(Long::longValue).toArray());
  }

  BlockTable lease(KvRequest request, int count) {
    return BlockTable.of(IntStream.range(0, count).mapToLong(i -> request.sequence().lease(cache)).toArray());
  }

  static void fill(MemorySegment page, KvKey key, long version) {
    long seed = seed(key, version);
    for (long at = 0; at < page.byteSize(); at++)
      page.set(ValueLayout.JAVA_BYTE, at, (byte) ((seed >>> (at % 8 * 8)) + at / 8));
  }

  /** What a block of this key holds under a version of the weights. */
  static MemorySegment page(KvKey key, long version, long bytes) {
    MemorySegment page = MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
    fill(page, key, version);
    return page;
  }

  boolean holds(long block, KvKey key, long version) {
    return page(key, version, cache.pageBytes()).mismatch(cache.page(block)) < 0;
  }

  private static long seed(KvKey key, long version) {
    CRC32C sum = new CRC32C();
    sum.update((key + "@" + version).getBytes(StandardCharsets.UTF_8));
    return sum.getValue() * 0x9E3779B97F4A7C15L | 1;
  }

  /** Computes and saves the leading blocks of a prompt as a request of its own, and ends it. */
  List<FinishedTransfers.Save> save(String id, List<KvKey> keys) {
    KvRequest request = request(id, keys);
    connector.scheduler().lookup(request, 0);
    BlockTable blocks = compute(request, BlockTable.EMPTY, keys.size());
    step(new ScheduledRequest(request, blocks, keys.size()));
    boolean now = connector.scheduler().finished(request, blocks, keys.size()).mayFree();
    step();
    FinishedTransfers done = finish();
    List<String> freed = connector.scheduler().update(done);
    assertTrue(now ? freed.isEmpty() : freed.equals(List.of(id)), () -> "freed: " + freed);
    release(blocks);
    return done.saves();
  }

  /** What loading the found part of a prompt came to. */
  record Loaded(PrefixLookup found, FinishedTransfers.Load load, BlockTable blocks) {}

  /** Looks a prompt up and loads what is found into fresh blocks, which stay the caller's. */
  Loaded load(KvRequest request, int computedBlocks) {
    PrefixLookup found = connector.scheduler().lookup(request, computedBlocks);
    BlockTable blocks = lease(request, found.blocks());
    connector.scheduler().allocated(request, blocks, found.blocks());
    step();
    assertTrue(connector.worker().awaitLoads(Deadline.after(WAIT)), "loads end");
    FinishedTransfers done = connector.worker().finished();
    connector.scheduler().update(done);
    return new Loaded(found, done.loads().isEmpty()
        ? new FinishedTransfers.Load("", request.id(), 0, List.of(), "")
        : done.loads().getFirst(), blocks);
  }

  void step(ScheduledRequest... requests) {
    ConnectorPlan plan = connector.scheduler().plan(List.of(requests));
    connector.worker().startLoad(plan);
    connector.worker().save(plan);
  }

  FinishedTransfers finish() {
    assertTrue(connector.worker().awaitLoads(Deadline.after(WAIT)), "loads end");
    assertTrue(connector.worker().awaitSaves(Deadline.after(WAIT)), "saves end");
    return connector.worker().finished();
  }

  void release(BlockTable blocks) {
    blocks.stream().forEach(cache::release);
  }

  long workerCount(String name) {
    return connector.worker().stats().count(name);
  }

  long schedulerCount(String name) {
    return connector.scheduler().stats().count(name);
  }

  @Override
  public void close() {
    connector.close();
    store.close();
    cache.close(Deadline.after(WAIT));
  }
}

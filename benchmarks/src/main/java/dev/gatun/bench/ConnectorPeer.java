package dev.gatun.bench;

import dev.gatun.backend.Deadline;
import dev.gatun.connector.BlockTable;
import dev.gatun.connector.ConnectorPlan;
import dev.gatun.connector.FinishedTransfers;
import dev.gatun.connector.KvRequest;
import dev.gatun.connector.PrefixLookup;
import dev.gatun.connector.ScheduledRequest;
import dev.gatun.connector.StoreConnector;
import dev.gatun.connector.StoreTransferOptions;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.Sequence;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** The blocks of one request, saved and loaded through a store connector: planning, gather and scatter are timed too. */
final class ConnectorPeer implements AutoCloseable {
  private static final Duration WAIT = Duration.ofMinutes(1);

  private final String name;
  private final KvStore store;
  private final BlockPool cache;
  private final BlockTable blocks;
  private final StoreConnector connector;
  private final List<KvKey> keys;
  private final int group;
  private long requests;

  ConnectorPeer(String name, KvStore store, RefitCoordinator coordinator, StoreTransferOptions options, BlockPool cache,
      BlockTable blocks) {
    this.name = name;
    this.store = store;
    this.cache = cache;
    this.blocks = blocks;
    group = options.blocksPerGroup();
    connector = StoreConnector.open(store, coordinator, options);
    connector.worker().registerCache(cache);
    keys = IntStream.range(0, blocks.size()).mapToObj(i -> KvKey.of(name + '/' + cache.pageBytes() + '/' + i)).toList();
  }

  String name() {
    return name;
  }

  int group() {
    return group;
  }

  private KvRequest request() {
    return new KvRequest("request " + requests++, Sequence.open(store.gate()), keys);
  }

  void puts(MemorySegment nanos, int iterations) {
    for (int i = 0; i < iterations; i++) {
      nanos.setAtIndex(ValueLayout.JAVA_LONG, i, putNanos());
      store.removeAll(true);
    }
  }

  void gets(MemorySegment nanos, int iterations) {
    for (int i = 0; i < iterations; i++)
      nanos.setAtIndex(ValueLayout.JAVA_LONG, i, getNanos());
  }

  /** Puts the blocks and leaves them there. */
  void store() {
    putNanos();
  }

  private long putNanos() {
    KvRequest request = request();
    long start = System.nanoTime();
    connector.worker().save(connector.scheduler().plan(List.of(new ScheduledRequest(request, blocks, keys.size()))));
    boolean ended = connector.worker().awaitSaves(Deadline.after(WAIT));
    long nanos = System.nanoTime() - start;
    FinishedTransfers done = connector.worker().finished();
    if (!ended || !done.saves().stream().allMatch(FinishedTransfers.Save::complete)) {
      throw new IllegalStateException(name + " put: " + done);
    }
    end(request, done);
    return nanos;
  }

  private long getNanos() {
    KvRequest request = request();
    PrefixLookup found = connector.scheduler().lookup(request, 0);
    if (found.blocks() != keys.size()) throw new IllegalStateException(name + " lookup: " + found);
    long start = System.nanoTime();
    connector.scheduler().allocated(request, blocks, keys.size());
    ConnectorPlan plan = connector.scheduler().plan(List.of());
    connector.worker().startLoad(plan);
    boolean ended = connector.worker().awaitLoads(Deadline.after(WAIT));
    long nanos = System.nanoTime() - start;
    FinishedTransfers done = connector.worker().finished();
    if (!ended || done.loads().size() != 1 || !done.loads().getFirst().complete()) {
      throw new IllegalStateException(name + " get: " + done);
    }
    end(request, done);
    return nanos;
  }

  private void end(KvRequest request, FinishedTransfers done) {
    connector.scheduler().update(done);
    connector.scheduler().finished(request, blocks, 0);
  }

  /** The bytes first. Leaves the store empty. */
  void verify() {
    Marks.write(cache, blocks);
    store();
    Marks.wipe(cache, blocks);
    getNanos();
    Marks.require(name, cache, blocks);
    store.removeAll(true);
  }

  @Override
  public void close() {
    connector.close();
  }
}

package dev.gatun.example;

import dev.gatun.backend.Deadline;
import dev.gatun.connector.BlockTable;
import dev.gatun.connector.ConnectorPlan;
import dev.gatun.connector.FinishedTransfers.Load;
import dev.gatun.connector.KvConnector;
import dev.gatun.connector.KvRequest;
import dev.gatun.connector.PrefixLookup;
import dev.gatun.connector.RequestEnd;
import dev.gatun.connector.ScheduledRequest;
import dev.gatun.connector.WorkerConnector;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.Sequence;
import dev.gatun.store.KvKey;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * One request from its lookup to its end: blocks from the host's cache, then from the connector, then computed; a step for
 * each computed block, in which the connector saves it.
 */
final class RequestRun implements AutoCloseable {
  private static final Duration LOAD_MAX = Duration.ofSeconds(30);
  // while a lookup is pending a host with more requests would serve those; unmeasured default
  private static final long POLL_NANOS = 100_000;

  private final ExampleHost host;
  private final ToyModel model;
  private final PagedCache cache;
  private final RequestCounts counts;
  private final Optional<KvConnector> connector;
  private final String id;
  private final Sequence sequence;
  private final List<Integer> tokens;
  /** Leases of the leading blocks. */
  private final List<Long> blocks = new ArrayList<>();
  private List<KvKey> keys;
  /** Leading blocks whose KV is there. */
  private int computed;

  RequestRun(ExampleHost host, ToyModel model, PagedCache cache, RequestCounts counts, String id,
      List<Integer> prompt) {
    this.host = host;
    this.model = model;
    this.cache = cache;
    this.counts = counts;
    this.id = id;
    connector = host.kv();
    sequence = Sequence.open(cache.pool().gate());
    tokens = new ArrayList<>(prompt);
    keys = BlockKeys.of(tokens, cache.pool().pageBytes());
  }

  List<Integer> generate(int count) {
    blocks.addAll(cache.prefix(keys));
    computed = blocks.size();
    counts.cached += computed;
    for (long block : blocks)
      sequence.uses(cache.pool(), block);
    connector.ifPresent(this::load);
    int promptTokens = tokens.size();
    while (true) {
      computeFullBlocks();
      if (tokens.size() - promptTokens == count) return List.copyOf(tokens.subList(promptTokens, tokens.size()));
      tokens.add(model.next(pages(), tokens.subList(computed * ToyModel.BLOCK_TOKENS, tokens.size())));
      keys = BlockKeys.of(tokens, cache.pool().pageBytes());
    }
  }

  private KvRequest request() {
    return new KvRequest(id, sequence, keys);
  }

  private BlockTable table() {
    return BlockTable.of(blocks.stream().mapToLong(Long::longValue).toArray());
  }

  private void load(KvConnector kv) {
    PrefixLookup found = kv.scheduler().lookup(request(), computed);
    while (found instanceof PrefixLookup.Pending) {
      LockSupport.parkNanos(POLL_NANOS);
      found = kv.scheduler().lookup(request(), computed);
    }
    if (found instanceof PrefixLookup.Failed) counts.lookupsFailed++;
    int cached = computed;
    while (blocks.size() < found.blocks())
      blocks.add(cache.lease(sequence));
    if (found.blocks() > cached) {
      kv.scheduler().allocated(request(), table(), found.blocks());
      kv.worker().startLoad(kv.scheduler().plan(List.of()));
      computed = loaded(kv.worker(), cached, found.blocks());
    }
  }

  /** {@return leading blocks that are there after the load; what is not is computed, as any other block} */
  private int loaded(WorkerConnector worker, int cached, int found) {
    if (!worker.awaitLoads(Deadline.after(LOAD_MAX))) throw new IllegalStateException("loads took over " + LOAD_MAX);
    int there = cached;
    for (Load load : host.settle().loads()) {
      if (load.request().equals(id)) there = load.complete() ? found : load.missing().getFirst();
    }
    counts.loaded += there - cached;
    counts.notLoaded += found - there;
    return there;
  }

  private void computeFullBlocks() {
    BlockPool pool = cache.pool();
    while (computed < keys.size()) {
      if (blocks.size() == computed) blocks.add(cache.lease(sequence));
      int at = computed * ToyModel.BLOCK_TOKENS;
      model.prefill(pages(), tokens.subList(at, at + ToyModel.BLOCK_TOKENS), pool.rewrite(blocks.get(computed)));
      computed++;
      counts.computed++;
      step(List.of(new ScheduledRequest(request(), table(), computed)));
    }
  }

  private void step(List<ScheduledRequest> requests) {
    connector.ifPresent(kv -> {
      ConnectorPlan plan = kv.scheduler().plan(requests);
      kv.worker().startLoad(plan);
      kv.worker().save(plan);
      host.settle();
    });
  }

  private List<MemorySegment> pages() {
    return blocks.subList(0, computed).stream().map(cache.pool()::page).toList();
  }

  /** Ends the request; its blocks go now, or when the connector is done with them. */
  @Override
  public void close() {
    BlockTable all = table();
    int saved = Math.min(computed, Math.min(keys.size(), all.size()));
    boolean mayFree = connector.map(kv -> kv.scheduler().finished(request(), all, saved))
        .map(RequestEnd::mayFree).orElse(true);
    if (sequence.isCurrent()) cache.keep(keys, all, saved);
    if (mayFree) cache.release(all);
    else
      host.hold(id, all);
    step(List.of());
  }
}

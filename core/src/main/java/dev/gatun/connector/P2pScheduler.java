package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.connector.P2pPlan.Load;
import dev.gatun.connector.P2pPlan.Offer;
import dev.gatun.connector.P2pPlan.Source;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The deciding side of a connector between processes: what the router gave a request says whether its KV comes from, or
 * goes to, another engine. A hand-over is used once: what was taken over, or given up, is not found again.
 */
final class P2pScheduler implements SchedulerConnector, Quiescable {
  private static final Logger LOG = LoggerFactory.getLogger(P2pScheduler.class);

  private final String name;
  private final P2pConnector kind;
  private final KvTransferConfig config;
  private final HostPort worker;
  private final P2pReset reset;
  private final Counts counts = new Counts("lookups", "lookups_failed", "blocks_found", "blocks_not_loaded", "offers",
      "offers_refused_stale", "offers_failed", "ends_malformed", "late_reports");
  private final Map<String, Tracked> requests = new HashMap<>();
  private final Map<String, Load> loads = new LinkedHashMap<>();
  private final List<Offer> offers = new ArrayList<>();
  private final List<Source> giveUps = new ArrayList<>();
  private List<String> freed = new ArrayList<>();
  private final String instance = UUID.randomUUID().toString();
  private long jobs;

  /** What is known of a request; 0 for a job that there is not. */
  private static final class Tracked {
    @Nullable
    Source source;
    int from;
    int found;
    long load;
    long offer;
    boolean ended;
    /** Whether its KV was taken over or given up. */
    boolean spent;

    boolean idle() {
      return load == 0 && offer == 0;
    }
  }

  P2pScheduler(String name, P2pConnector kind, KvTransferConfig config, HostPort worker, P2pReset reset) {
    this.name = name;
    this.kind = kind;
    this.config = config;
    this.worker = worker;
    this.reset = reset;
  }

  @Override
  public synchronized PrefixLookup lookup(KvRequest request, int computedBlocks) {
    int blocks = request.keys().size();
    if (computedBlocks < 0 || computedBlocks > blocks) {
      throw new IllegalArgumentException("computedBlocks of request " + request.id() + " must be 0 to " + blocks + ": "
          + computedBlocks);
    }
    counts.add("lookups", 1);
    try {
      TransferParams params = new TransferParams(request);
      if (!params.remotePrefill()) return new PrefixLookup.Found(computedBlocks);
      if (!config.consumes()) throw new IllegalArgumentException("kv_role must be kv_consumer or kv_both to take KV");
      Source source = source(params);
      int found = kind == P2pConnector.MOONCAKE ? blocks : Math.min(blocks, params.remoteBlocks());
      Tracked tracked = requests.computeIfAbsent(request.id(), fresh -> new Tracked());
      if (tracked.spent) return new PrefixLookup.Found(computedBlocks);
      tracked.source = source;
      tracked.from = computedBlocks;
      tracked.found = found;
      counts.add("blocks_found", Math.max(0, tracked.found - computedBlocks));
      return new PrefixLookup.Found(Math.max(tracked.found, computedBlocks));
    } catch (IllegalArgumentException unusable) {
      counts.add("lookups_failed", 1);
      return new PrefixLookup.Failed(computedBlocks, String.valueOf(unusable.getMessage()));
    }
  }

  private Source source(TransferParams params) {
    return kind == P2pConnector.MOONCAKE ? params.pushSource() : params.pullSource();
  }

  private void giveUp(Tracked tracked, Source source) {
    tracked.spent = true;
    tracked.source = null;
    giveUps.add(source);
  }

  @Override
  public synchronized void allocated(KvRequest request, BlockTable blocks, int loadBlocks) {
    Tracked tracked = requests.get(request.id());
    Source source = tracked == null ? null : tracked.source;
    if (loadBlocks <= (tracked == null ? 0 : tracked.from)) {
      if (tracked != null && source != null) giveUp(tracked, source);
      return;
    }
    if (tracked == null || source == null || loadBlocks > tracked.found) {
      throw new IllegalArgumentException("loadBlocks of request " + request.id() + " must be at most what was found, "
          + (tracked == null ? 0 : tracked.found) + ": " + loadBlocks);
    }
    if (blocks.size() < loadBlocks) {
      throw new IllegalArgumentException("blocks of request " + request.id() + " must be at least loadBlocks, "
          + loadBlocks + ": " + blocks.size());
    }
    if (tracked.load != 0) throw new IllegalStateException("request " + request.id() + " is being loaded already");
    tracked.load = ++jobs;
    tracked.spent = true;
    tracked.source = null;
    loads.put(request.id(), new Load(tracked.load, request.id(), source, blocks, tracked.from, loadBlocks));
  }

  @Override
  public synchronized ConnectorPlan plan(List<ScheduledRequest> step) {
    P2pPlan plan = new P2pPlan(List.copyOf(loads.values()), offers, giveUps);
    loads.clear();
    offers.clear();
    giveUps.clear();
    return plan;
  }

  @Override
  public synchronized RequestEnd finished(KvRequest request, BlockTable blocks, int computedBlocks) {
    ScheduledRequest last = new ScheduledRequest(request, blocks, computedBlocks);
    Tracked tracked = requests.computeIfAbsent(request.id(), fresh -> new Tracked());
    Load unplanned = loads.remove(request.id());
    if (unplanned != null) {
      tracked.load = 0;
      giveUp(tracked, unplanned.source());
    }
    Map<String, ? extends @Nullable Object> passedOn = handOver(tracked, last);
    tracked.ended = true;
    if (tracked.idle()) {
      requests.remove(request.id());
      return new RequestEnd(true, passedOn);
    }
    return new RequestEnd(false, passedOn);
  }

  /** What the router sent may be malformed: that concerns this request alone, which is not handed over. */
  private Map<String, ? extends @Nullable Object> handOver(Tracked tracked, ScheduledRequest last) {
    try {
      TransferParams params = new TransferParams(last.request());
      if (!tracked.spent && params.remotePrefill() && config.consumes()) giveUp(tracked, source(params));
      return offer(tracked, last, params);
    } catch (IllegalArgumentException malformed) {
      counts.add("ends_malformed", 1);
      LOG.warn("request {} is not handed over: {}", last.request().id(), malformed.getMessage());
      return Map.of();
    }
  }

  /** {@return what decode needs from the router} */
  private Map<String, ? extends @Nullable Object> offer(Tracked tracked, ScheduledRequest last, TransferParams params) {
    KvRequest request = last.request();
    if (!params.remoteDecode() || !config.produces() || last.computedBlocks() == 0 || tracked.offer != 0) {
      return Map.of();
    }
    if (!request.sequence().isCurrent()) {
      counts.add("offers_refused_stale", 1);
      return Map.of();
    }
    // a request's id may come again, also to a prefill that was restarted under its old address; a transfer's must not
    String transferId = kind == P2pConnector.MOONCAKE
        ? params.transferId()
        : request.id() + '#' + instance + '-' + (jobs + 1);
    tracked.offer = ++jobs;
    counts.add("offers", 1);
    WeightEpoch epoch = request.sequence().epoch();
    offers.add(new Offer(tracked.offer, request.id(), transferId, epoch, last.blocks(), last.computedBlocks()));
    return kind == P2pConnector.MOONCAKE
        ? Map.of()
        : TransferParams.forPull(transferId, config.engineId(), worker, last.computedBlocks());
  }

  @Override
  public synchronized List<String> update(FinishedTransfers transfers) {
    for (FinishedTransfers.Load load : transfers.loads()) {
      Tracked tracked = requests.get(load.request());
      if (tracked == null || tracked.load != load.job()) {
        counts.add("late_reports", 1);
        continue;
      }
      tracked.load = 0;
      counts.add("blocks_not_loaded", load.missing().size());
      freeIfDone(load.request(), tracked);
    }
    for (FinishedTransfers.Save save : transfers.saves()) {
      Tracked tracked = requests.get(save.request());
      if (tracked == null || tracked.offer != save.job()) {
        counts.add("late_reports", 1);
        continue;
      }
      tracked.offer = 0;
      if (!save.complete()) counts.add("offers_failed", 1);
      freeIfDone(save.request(), tracked);
    }
    List<String> now = freed;
    freed = new ArrayList<>();
    return now;
  }

  private void freeIfDone(String request, Tracked tracked) {
    if (!tracked.ended || !tracked.idle()) return;
    requests.remove(request);
    freed.add(request);
  }

  @Override
  public ResetReport resetCache(WeightEpoch next) {
    return reset.reset(ConnectorSide.SCHEDULER, next);
  }

  @Override
  public ConnectorStats stats() {
    Map<String, Long> now = new HashMap<>(counts.snapshot());
    synchronized (this) {
      now.put("requests", (long) requests.size());
    }
    return new ConnectorStats(name, ConnectorSide.SCHEDULER, now, List.of());
  }

  @Override
  public String name() {
    return name + " scheduler side";
  }

  @Override
  public int failQueued() {
    return 0;
  }

  @Override
  public List<String> drain(Deadline deadline) {
    return List.of();
  }

  /** Forgets every request. Blocks that were kept for a hand-over may go: the pool keeps those that somebody still uses. */
  @Override
  public synchronized void clearLocal() {
    requests.forEach((id, tracked) -> {
      if (tracked.ended) freed.add(id);
    });
    requests.clear();
    loads.clear();
    offers.clear();
  }
}

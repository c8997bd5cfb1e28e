package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.store.AsyncKvStore;
import dev.gatun.store.Existence;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The deciding side of a store connector. Its requests are guarded by this; the store is never asked inside the lock. */
final class StoreScheduler implements SchedulerConnector, Quiescable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreScheduler.class);

  private final KvStore store;
  private final @Nullable AsyncKvStore background;
  private final PageGroups groups;
  private final boolean lookups;
  private final boolean saves;
  private final SharedReset reset;
  private final Counts counts = new Counts("lookups", "lookups_failed", "blocks_asked", "blocks_found",
      "saves_refused_stale", "saves_refused_keys", "saves_stopped", "blocks_not_loaded", "late_reports");
  private final Map<String, TrackedRequest> requests = new HashMap<>();
  private final Map<String, LoadJob> loads = new LinkedHashMap<>();
  private final List<SaveJob> tails = new ArrayList<>();
  private List<String> freed = new ArrayList<>();
  private long jobs;
  private long forgets;

  StoreScheduler(KvStore store, @Nullable AsyncKvStore background, StoreTransferOptions options, SharedReset reset) {
    this.store = store;
    this.background = background;
    groups = new PageGroups(options.blocksPerGroup());
    lookups = options.lookups();
    saves = options.saves();
    this.reset = reset;
  }

  @Override
  public PrefixLookup lookup(KvRequest request, int computedBlocks) {
    if (computedBlocks < 0 || computedBlocks > request.keys().size()) {
      throw new IllegalArgumentException("computedBlocks of request " + request.id() + " must be 0 to "
          + request.keys().size() + ": " + computedBlocks);
    }
    groups.requireBlockKeys(request);
    if (!lookups) return new PrefixLookup.Found(computedBlocks);
    while (true) {
      long before;
      CompletableFuture<PrefixCover> asked;
      synchronized (this) {
        before = forgets;
        TrackedRequest tracked = tracked(request);
        // what was asked from another block on answers another question
        asked = tracked.askedFrom == computedBlocks ? tracked.asked : null;
      }
      if (asked == null) asked = new PrefixQuery(groups, request.keys(), computedBlocks, this::exists).run();
      synchronized (this) {
        if (before != forgets) continue; // a reset came in between: what was found may be gone
        TrackedRequest tracked = tracked(request);
        boolean done = asked.isDone();
        tracked.asked = done ? null : asked;
        tracked.askedFrom = computedBlocks;
        if (!done) return new PrefixLookup.Pending();
        return note(tracked, asked.join(), request, computedBlocks);
      }
    }
  }

  private PrefixLookup note(TrackedRequest tracked, PrefixCover cover, KvRequest request, int computedBlocks) {
    counts.add("lookups", 1);
    counts.add("blocks_asked", request.keys().size() - computedBlocks);
    counts.add("blocks_found", Math.max(0, cover.blocks() - computedBlocks));
    if (!cover.failure().isEmpty()) counts.add("lookups_failed", 1);
    tracked.cover = cover;
    tracked.stored(cover.stored());
    return cover.lookup();
  }

  private CompletableFuture<List<Existence>> exists(List<KvKey> keys) {
    if (background != null) return background.exists(keys);
    try {
      return CompletableFuture.completedFuture(store.exists(keys));
    } catch (GatunException failed) {
      return CompletableFuture.failedFuture(failed);
    }
  }

  @Override
  public synchronized void allocated(KvRequest request, BlockTable blocks, int loadBlocks) {
    TrackedRequest tracked = requests.get(request.id());
    PrefixCover cover = tracked == null ? null : tracked.cover;
    int from = cover == null ? 0 : cover.from();
    if (loadBlocks <= from) return;
    if (tracked == null || cover == null || loadBlocks > cover.blocks()) {
      throw new IllegalArgumentException("loadBlocks of request " + request.id() + " must be at most what was found, "
          + (cover == null ? 0 : cover.blocks()) + ": " + loadBlocks);
    }
    if (blocks.size() < loadBlocks) {
      throw new IllegalArgumentException("blocks of request " + request.id() + " must be at least loadBlocks, "
          + loadBlocks + ": " + blocks.size());
    }
    if (tracked.loading()) {
      throw new IllegalStateException("request " + request.id() + " is being loaded already");
    }
    LoadJob job = new LoadJob(++jobs, request.id(), cover.overlapping(from, loadBlocks), from, loadBlocks, blocks);
    tracked.load = job.number();
    tracked.cover = null;
    loads.put(request.id(), job);
  }

  @Override
  public synchronized ConnectorPlan plan(List<ScheduledRequest> step) {
    List<SaveJob> planned = new ArrayList<>(tails);
    tails.clear();
    for (ScheduledRequest part : step) {
      TrackedRequest tracked = tracked(part.request());
      if (!mayBeSaved(tracked, part.request())) continue;
      SaveJob save = save(tracked, part.request(), part.blocks(), part.computedBlocks(), false);
      if (save != null) planned.add(save);
    }
    StorePlan plan = new StorePlan(List.copyOf(loads.values()), planned);
    loads.clear();
    return plan;
  }

  /** Keys that cannot be a store's concern their request alone, of which nothing is saved any more. */
  private boolean mayBeSaved(TrackedRequest tracked, KvRequest request) {
    if (tracked.saveStopped) return false;
    try {
      groups.requireBlockKeys(request);
      return true;
    } catch (IllegalArgumentException refused) {
      tracked.saveStopped = true;
      counts.add("saves_refused_keys", 1);
      LOG.warn("nothing is saved any more: {}", refused.getMessage());
      return false;
    }
  }

  private @Nullable SaveJob save(TrackedRequest tracked, KvRequest request, BlockTable blocks, int computedBlocks,
      boolean tail) {
    if (!saves || tracked.saveStopped || tracked.loading()) return null;
    if (!request.sequence().isCurrent()) {
      tracked.saveStopped = true;
      counts.add("saves_refused_stale", 1);
      return null;
    }
    List<PageObject> objects = tracked.take(request, computedBlocks, tail);
    if (objects.isEmpty()) return null;
    SaveJob job = new SaveJob(++jobs, request.id(), objects, blocks);
    tracked.saving(job.number());
    return job;
  }

  @Override
  public synchronized RequestEnd finished(KvRequest request, BlockTable blocks, int computedBlocks) {
    TrackedRequest tracked = requests.get(request.id());
    if (tracked == null) return RequestEnd.NOW;
    ScheduledRequest last = new ScheduledRequest(request, blocks, computedBlocks);
    if (loads.remove(request.id()) != null) tracked.load = null; // no plan had it
    SaveJob save = save(tracked, request, blocks, last.computedBlocks(), true);
    if (save != null) tails.add(save);
    if (tracked.idle()) {
      requests.remove(request.id());
      return RequestEnd.NOW;
    }
    tracked.ended = true;
    return RequestEnd.LATER;
  }

  @Override
  public synchronized List<String> update(FinishedTransfers transfers) {
    for (FinishedTransfers.Load load : transfers.loads()) {
      TrackedRequest tracked = requests.get(load.request());
      if (tracked == null || tracked.load == null || tracked.load != load.job()) {
        counts.add("late_reports", 1);
        continue;
      }
      tracked.load = null;
      counts.add("blocks_not_loaded", load.missing().size());
      if (!load.complete()) tracked.missing(load.missing().getFirst());
      freeIfDone(load.request(), tracked);
    }
    for (FinishedTransfers.Save save : transfers.saves()) {
      TrackedRequest tracked = requests.get(save.request());
      if (tracked == null || !tracked.saved(save.job())) {
        counts.add("late_reports", 1);
        continue;
      }
      if (!save.complete() && !tracked.saveStopped) {
        tracked.saveStopped = true;
        counts.add("saves_stopped", 1);
      }
      freeIfDone(save.request(), tracked);
    }
    List<String> now = freed;
    freed = new ArrayList<>();
    return now;
  }

  private void freeIfDone(String request, TrackedRequest tracked) {
    if (!tracked.ended || !tracked.idle()) return;
    requests.remove(request);
    freed.add(request);
  }

  private TrackedRequest tracked(KvRequest request) {
    return requests.computeIfAbsent(request.id(), fresh -> new TrackedRequest(groups));
  }

  @Override
  public ResetReport resetCache(WeightEpoch next) {
    return reset.reset(ConnectorSide.SCHEDULER, next, this::clearLocal);
  }

  @Override
  public ConnectorStats stats() {
    Map<String, Long> now = new HashMap<>(counts.snapshot());
    now.putAll(reset.counts());
    synchronized (this) {
      now.put("requests", (long) requests.size());
    }
    return new ConnectorStats(StoreConnector.NAME, ConnectorSide.SCHEDULER, now, List.of());
  }

  @Override
  public String name() {
    return StoreConnector.NAME + " scheduler side of store " + store.name();
  }

  @Override
  public int failQueued() {
    return 0;
  }

  @Override
  public List<String> drain(Deadline deadline) {
    return List.of();
  }

  /** Forgets every request. Blocks that were kept for a transfer may go: the pool keeps those that native code uses. */
  @Override
  public synchronized void clearLocal() {
    forgets++;
    requests.forEach((id, tracked) -> {
      if (tracked.ended) freed.add(id);
    });
    requests.clear();
    loads.clear();
    tails.clear();
  }
}

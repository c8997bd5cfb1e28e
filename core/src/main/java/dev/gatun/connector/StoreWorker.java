package dev.gatun.connector;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.store.KvStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The moving side of a store connector: one thread that carries out loads before saves. */
final class StoreWorker implements WorkerConnector, Quiescable, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreWorker.class);

  private final KvStore store;
  private final StoreTransferOptions options;
  private final SharedReset reset;
  private final TransferLog log = new TransferLog();
  private final TransferQueue queue;
  private final Counts counts = new Counts("blocks_hit", "blocks_missed", "blocks_lease_expired", "blocks_rejected",
      "blocks_of_other_size", "blocks_load_failed", "blocks_saved", "blocks_already_present", "blocks_save_failed",
      "bytes_loaded", "bytes_saved", "saves_skipped", "failed_by_reset");
  private final Thread thread;
  private volatile @Nullable Cache cache;

  /** What is there once the host's cache is known. */
  private record Cache(BlockPool pool, boolean registeredHere, PageMover mover) {}

  StoreWorker(KvStore store, StoreTransferOptions options, SharedReset reset) {
    this.store = store;
    this.options = options;
    this.reset = reset;
    queue = new TransferQueue(options.queuedSavesMax(), log);
    thread = Thread.ofPlatform().daemon().name("gatun-connector " + store.name()).unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  @Override
  public void registerCache(BlockPool pool) {
    if (cache != null) throw new IllegalStateException("a cache is registered already: " + pool.name());
    if (!thread.isAlive()) throw new ClosedException("registerCache refused: the connector is closed");
    boolean here = !store.isRegistered(pool.slab());
    if (here) store.register(pool.slab());
    try {
      cache = new Cache(pool, here, new PageMover(store, pool, options, counts));
    } catch (RuntimeException | Error e) {
      if (here) store.unregister(pool.slab());
      throw e;
    }
  }

  @Override
  public void startLoad(ConnectorPlan plan) {
    StorePlan ours = StorePlan.of(plan);
    requireCache();
    ours.loads().forEach(queue::add);
  }

  @Override
  public void save(ConnectorPlan plan) {
    StorePlan ours = StorePlan.of(plan);
    requireCache();
    for (SaveJob job : ours.saves()) {
      if (!queue.add(job)) counts.add("saves_skipped", 1);
    }
  }

  @Override
  public boolean awaitLoads(Deadline deadline) {
    return log.awaitLoads(deadline);
  }

  @Override
  public boolean awaitSaves(Deadline deadline) {
    return log.awaitSaves(deadline);
  }

  @Override
  public FinishedTransfers finished() {
    return log.take();
  }

  @Override
  public ResetReport resetCache(WeightEpoch next) {
    return reset.reset(ConnectorSide.WORKER, next, this::failQueued);
  }

  @Override
  public ConnectorStats stats() {
    Map<String, Long> now = new HashMap<>(counts.snapshot());
    now.putAll(reset.counts());
    now.put("transfers_open", (long) log.open());
    return new ConnectorStats(StoreConnector.NAME, ConnectorSide.WORKER, now, List.of());
  }

  @Override
  public String name() {
    return StoreConnector.NAME + " worker side of store " + store.name();
  }

  @Override
  public int failQueued() {
    int failed = queue.failWaiting("a reset came before the transfer began");
    counts.add("failed_by_reset", failed);
    return failed;
  }

  /** What runs is inside the store or the pool, which are drained by themselves; a get that waits for the refit is not. */
  @Override
  public List<String> drain(Deadline deadline) {
    return List.of();
  }

  @Override
  public void clearLocal() {}

  /** Idempotent; may be called again. */
  @Override
  public void close() {
    queue.close();
    try {
      if (!thread.join(options.closeTimeout())) {
        LOG.warn("{} is not closed: a transfer has not returned from the store", name());
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    Cache registered = cache;
    if (registered == null) return;
    cache = null;
    registered.mover.close();
    if (registered.registeredHere && store.isRegistered(registered.pool.slab())) {
      store.unregister(registered.pool.slab());
    }
  }

  private Cache requireCache() {
    Cache known = cache;
    if (known == null) throw new IllegalStateException("no cache is registered: call registerCache first");
    return known;
  }

  private void run() {
    try {
      for (Record job = queue.take(); job != null; job = queue.take()) {
        PageMover mover = requireCache().mover;
        if (job instanceof LoadJob load) log.end(mover.load(load));
        else if (job instanceof SaveJob save) log.end(mover.save(save));
      }
    } catch (InterruptedException e) {
      queue.close();
    }
  }
}

package dev.gatun.connector;

import dev.gatun.backend.Quiescable;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.store.AsyncKvStore;
import dev.gatun.store.AsyncOptions;
import dev.gatun.store.KvStore;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the KV of prefixes in a store. Single pages lie under the block keys as they are given; with page groups, G
 * consecutive blocks of a prefix are one object, put when all of them are computed, got whole, and found before single
 * pages are. The blocks behind the last full group are put as single pages when the request ends.
 *
 * <p>Single pages stay in the store when the group that they belong to comes there: removing them would cost a round trip
 * each, and a prefix that ends or branches within the group can be found through them alone. They are no longer read where
 * the group is, so eviction takes them first.
 *
 * <p>Takes part in every refit of the store's gate, also in one that was not begun through {@code resetCache}.
 */
public final class StoreConnector implements KvConnector {
  /** The name in reports, statistics and configurations. */
  public static final String NAME = "StoreConnector";

  private final KvStore store;
  private final @Nullable AsyncKvStore background;
  private final StoreScheduler scheduler;
  private final StoreWorker worker;

  private StoreConnector(KvStore store, RefitCoordinator coordinator, StoreTransferOptions options) {
    this.store = store;
    SharedReset reset = new SharedReset(coordinator);
    background = options.lookupAsync() ? new AsyncKvStore(store, AsyncOptions.DEFAULT) : null;
    scheduler = new StoreScheduler(store, background, options, reset);
    worker = new StoreWorker(store, options, reset);
  }

  /**
   * Makes a connector and registers its sides with the store's gate.
   *
   * @param store where pages go; stays the caller's, and outlives the connector
   * @param coordinator of the store's gate: runs the refit behind each reset
   * @param options groups and bounds
   * @return the connector; the caller closes it
   * @throws IllegalArgumentException if the coordinator is that of another gate, or groups are wanted under a codec whose
   *     keys are those of an engine, which knows single pages only
   */
  public static StoreConnector open(KvStore store, RefitCoordinator coordinator, StoreTransferOptions options) {
    if (coordinator.gate() != store.gate()) {
      throw new IllegalArgumentException("coordinator must be that of the gate of store " + store.name());
    }
    if (options.blocksPerGroup() > 1 && store.codec().namespace().isEmpty()) {
      throw new IllegalArgumentException(
          "blocksPerGroup must be 1 under a codec without namespace, whose keys and values "
              + "are those of an engine: " + options.blocksPerGroup());
    }
    StoreConnector connector = new StoreConnector(store, coordinator, options);
    store.gate().register(connector.scheduler);
    store.gate().register(connector.worker);
    connector.worker.start();
    return connector;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public SchedulerConnector scheduler() {
    return scheduler;
  }

  @Override
  public WorkerConnector worker() {
    return worker;
  }

  /**
   * {@inheritDoc} If a transfer has not returned by then, its memory stays and the log says so; close again later.
   */
  @Override
  public void close() {
    for (Quiescable side : new Quiescable[]{scheduler, worker})
      store.gate().unregister(side);
    worker.close();
    if (background != null) background.close();
  }
}

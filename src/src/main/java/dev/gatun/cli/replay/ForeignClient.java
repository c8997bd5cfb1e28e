package dev.gatun.cli.replay;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.store.KvStore;
import dev.gatun.store.StoreBatch;

/**
 * A client that has not heard of the refit: with a store handle and a gate of its own it puts the pages of a request as
 * the old weights make them. Only a control. One thread.
 */
final class ForeignClient implements AutoCloseable {
  private final ReplicaSettings settings;
  private final Trace trace;
  private final EpochGate gate;
  private final KvStore store;

  /** Opens a store that contributes no memory, under the epoch that the refit is about to end. */
  ForeignClient(ReplicaSettings settings, Trace trace, WeightEpoch old) {
    this.settings = settings;
    this.trace = trace;
    gate = new EpochGate(old);
    store = KvStore.open(settings.store().toBuilder().segmentBytes(0).build(), settings.codec(), gate, Observer.NONE);
  }

  /** Puts the first pages of a request. */
  void put(int request) {
    int pages = Math.min(settings.batchPages(), trace.blockCount(request));
    PoolLayout layout = new PoolLayout(settings.pageBytes(), Math.max(1, pages), settings.codec().headerBytes());
    ReplicaFigures figures = new ReplicaFigures();
    try (BlockPool pool = BlockPool.allocate(layout, gate)) {
      store.register(pool.slab());
      StoreBatch batch = store.batch(pool, Math.max(1, pages));
      new RequestRunner(trace, pool, new HostPages(pool, Math.max(1, pages)), batch, Math.max(1, pages), figures,
          new Outage()).run(request, gate.epoch().version());
      store.unregister(pool.slab());
    }
    if (figures.get(Figure.PUTS) == 0) {
      throw new IllegalStateException("the foreign client's put failed: " + figures.failures());
    }
  }

  @Override
  public void close() {
    store.close();
  }
}

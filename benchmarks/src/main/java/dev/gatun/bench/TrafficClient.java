package dev.gatun.bench;

import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import dev.gatun.store.StoreBatch;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/** A host of the fleet: puts and gets pages on a thread of its own, over every refit, until it is closed. */
final class TrafficClient implements AutoCloseable {
  private static final int BATCH = 8;

  private final EpochGate gate;
  private final KvStore store;
  private final BlockPool pool;
  private final StoreBatch batch;
  private final RefitCoordinator coordinator;
  private final SplittableRandom random;
  private final long[] blocks = new long[BATCH];
  private final LongAdder puts = new LongAdder();
  private final LongAdder hits = new LongAdder();
  private final LongAdder stale = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final Loop loop;

  TrafficClient(StoreOptions options, KeyCodec codec, WeightEpoch first, RefitPolicy policy, long seed) {
    gate = new EpochGate(first);
    random = new SplittableRandom(seed);
    store = KvStore.open(options, codec, gate, Observer.NONE);
    pool = BlockPool.allocate(new PoolLayout(TrafficPages.BYTES, 4 * BATCH, codec.headerBytes()), gate);
    store.register(pool.slab());
    batch = store.batch(pool, BATCH);
    coordinator = new RefitCoordinator(gate, List.of(store.refitPort()), policy, Observer.NONE);
    loop = new Loop(this::putAndGet);
  }

  RefitCoordinator coordinator() {
    return coordinator;
  }

  private void putAndGet() {
    int first = random.nextInt(TrafficPages.COUNT);
    run(first, () -> {
      for (long block : blocks)
        TrafficPages.fill(pool.page(block), gate.epoch().version());
      batch.put();
      for (int i = 0; i < BATCH; i++)
        if (batch.isStored(i)) puts.increment();
    });
    // what is asked for now must be of this epoch or a later one, whenever the answer comes
    long least = gate.epoch().version();
    run(first, () -> {
      batch.get();
      for (int i = 0; i < BATCH; i++)
        if (batch.isHit(i)) judge(blocks[i], least);
    });
  }

  /** One batch; what a refit refuses is computed again in the next turn. */
  private void run(int first, Runnable operation) {
    batch.clear();
    try {
      for (int i = 0; i < BATCH; i++) {
        blocks[i] = pool.lease();
        batch.add(TrafficPages.KEYS.get((first + i) % TrafficPages.COUNT), blocks[i]);
      }
      operation.run();
    } catch (GateClosedException | EpochChangedException | DeadlineException later) {
      refused.increment();
    } finally {
      batch.clear();
      for (int i = 0; i < BATCH; i++) {
        if (blocks[i] != 0) pool.release(blocks[i]);
        blocks[i] = 0;
      }
    }
  }

  private void judge(long block, long least) {
    hits.increment();
    if (TrafficPages.oldest(pool.page(block)) < least) stale.increment();
  }

  /** {@return pages that it has put} */
  long puts() {
    loop.requireRunning();
    return puts.sum();
  }

  /** {@return pages that it was served} */
  long hits() {
    loop.requireRunning();
    return hits.sum();
  }

  /** {@return those that were older than the weights when it asked} */
  long stale() {
    return stale.sum();
  }

  /** {@return batches that a refit refused} */
  long refused() {
    return refused.sum();
  }

  @Override
  public void close() {
    loop.close();
    batch.close();
    store.unregister(pool.slab());
    pool.close();
    store.close();
  }
}

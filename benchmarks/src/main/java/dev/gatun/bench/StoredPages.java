package dev.gatun.bench;

import dev.gatun.device.DeviceEvent;
import dev.gatun.device.StagedBatch;
import dev.gatun.device.StagedBatch.Direction;
import dev.gatun.device.StagingPipeline;
import dev.gatun.memory.BlockPool;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.StoreBatch;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/** One worker that saves groups of blocks from the GPU into the store, or loads them; several overlap. */
final class StoredPages implements AutoCloseable {
  /** Pages to move, taken in groups by whoever is free: a block of the cache and a key each. */
  static final class Todo {
    private final int[] blocks;
    private final KvKey[] keys;
    private final AtomicInteger next = new AtomicInteger();

    Todo(int[] blocks, KvKey[] keys) {
      this.blocks = blocks;
      this.keys = keys;
    }
  }

  private final BlockPool pool;
  private final StagedBatch save;
  private final StagedBatch load;
  private final StoreBatch stored;
  private final DeviceEvent ready;
  private final long[] leases;

  StoredPages(StagingPipeline pipeline, BlockPool pool, KvStore store, DeviceEvent ready, int group) {
    this.pool = pool;
    this.ready = ready;
    save = pipeline.batch(Direction.SAVE, group);
    load = pipeline.batch(Direction.LOAD, group);
    stored = store.batch(pool, group);
    leases = new long[group];
    for (int i = 0; i < group; i++)
      leases[i] = pool.lease();
  }

  /** {@return how many pages failed on their way from the GPU into the store} */
  Callable<Integer> saving(Todo todo) {
    return () -> {
      int failed = 0;
      for (int first = take(todo); first < todo.blocks.length; first = take(todo)) {
        stage(save, first, todo);
        keys(first, todo).put();
        for (int i = 0; i < leases.length; i++)
          if (!stored.isStored(i)) failed++;
      }
      return failed;
    };
  }

  /** {@return how many pages failed on their way from the store into GPU memory} */
  Callable<Integer> loading(Todo todo) {
    return () -> {
      int failed = 0;
      for (int first = take(todo); first < todo.blocks.length; first = take(todo)) {
        keys(first, todo).get();
        for (int i = 0; i < leases.length; i++)
          if (!stored.isHit(i)) failed++;
        stage(load, first, todo);
      }
      return failed;
    };
  }

  private int take(Todo todo) {
    return todo.next.getAndAdd(leases.length);
  }

  private StoreBatch keys(int first, Todo todo) {
    stored.clear();
    for (int i = 0; i < leases.length; i++)
      stored.add(todo.keys[first + i], leases[i]);
    return stored;
  }

  private void stage(StagedBatch batch, int first, Todo todo) {
    batch.clear(StagingCell.soon());
    for (int i = 0; i < leases.length; i++)
      batch.add(todo.blocks[first + i], leases[i]);
    batch.send(ready).await(StagingCell.soon());
  }

  @Override
  public void close() {
    save.close();
    load.close();
    stored.close();
    for (long lease : leases)
      pool.release(lease);
  }
}

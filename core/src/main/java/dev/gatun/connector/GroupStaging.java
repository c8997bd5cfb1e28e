package dev.gatun.connector;

import dev.gatun.backend.InUseException;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.PoolOptions;
import dev.gatun.store.KvStore;
import dev.gatun.store.StoreBatch;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks as large as a group, in which pages lie side by side on their way between the cache and the store. Used by the
 * transfer thread alone.
 */
final class GroupStaging implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GroupStaging.class);
  // while one is in doubt, the other goes on
  private static final int SLOTS_MIN = 2;

  private final KvStore store;
  private final BlockPool cache;
  private final long pageBytes;
  private final BlockPool pool;
  private final StoreBatch batch;

  GroupStaging(KvStore store, BlockPool cache, int blocksPerGroup, long stagingBytes) {
    this.store = store;
    this.cache = cache;
    pageBytes = cache.pageBytes();
    long groupBytes = Math.multiplyExact(pageBytes, blocksPerGroup);
    int slots = Math.clamp(stagingBytes / groupBytes, SLOTS_MIN, StoreBatch.CAPACITY_MAX);
    pool = BlockPool.allocate(new PoolLayout(groupBytes, slots, store.codec().headerBytes()), store.gate(),
        PoolOptions.named("page groups of " + store.name()));
    try {
      store.register(pool.slab());
      batch = store.batch(pool, slots);
    } catch (RuntimeException | Error e) {
      release();
      throw e;
    }
  }

  /** Groups that fit at once. */
  int slots() {
    return batch.capacity();
  }

  StoreBatch batch() {
    return batch;
  }

  /** {@return a block for a group, 0 if transfers in doubt have all of them} */
  long tryLease() {
    return pool.tryLease();
  }

  void giveBack(long block) {
    pool.release(block);
  }

  /** Copies the pages of a group together. Throws what the pool throws for a block that cannot be read. */
  void gather(PageObject group, BlockTable from, long into) {
    MemorySegment target = pool.rewrite(into);
    for (int i = 0; i < group.blocks(); i++) {
      long block = from.get(group.first() + i);
      cache.beginRead(block);
      try {
        MemorySegment.copy(cache.blockSegment(block), cache.headerBytes(), target, i * pageBytes, pageBytes);
      } finally {
        cache.endRead(block);
      }
    }
  }

  /** Copies one page of a group that arrived to its block. Throws what the pool throws for one that cannot be written. */
  void scatter(long from, int place, long into) {
    cache.beginWrite(into); // first: from here on a refit waits
    boolean copied = false;
    try {
      MemorySegment source = pool.page(from);
      MemorySegment.copy(source, place * pageBytes, cache.blockSegment(into), cache.headerBytes(), pageBytes);
      copied = true;
    } finally {
      cache.endWrite(into, copied);
    }
  }

  /** Gives the memory back, unless native code may still touch it: then it stays, with a line in the log. */
  @Override
  public void close() {
    batch.close();
    release();
  }

  private void release() {
    try {
      if (store.isRegistered(pool.slab())) store.unregister(pool.slab());
      pool.close();
    } catch (InUseException inDoubt) {
      LOG.warn("staging memory of store {} is kept until the process ends: {}", store.name(), inDoubt.getMessage());
    }
  }
}

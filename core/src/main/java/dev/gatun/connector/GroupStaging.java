package dev.gatun.connector;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.InUseException;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.PoolOptions;
import dev.gatun.store.KvStore;
import dev.gatun.store.StoreBatch;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks as large as a group, in which pages lie side by side on their way between the cache and the store. Used by the
 * transfer thread alone, which has help with the copies.
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
  private final CopyLanes lanes;

  /**
   * A page of a group that arrived.
   *
   * @param slot staging block of the group
   * @param place of the page in the group
   * @param block place of the page in the request
   */
  record Page(long slot, int place, int block) {}

  GroupStaging(KvStore store, BlockPool cache, int blocksPerGroup, long stagingBytes) {
    this.store = store;
    this.cache = cache;
    pageBytes = cache.pageBytes();
    long groupBytes = Math.multiplyExact(pageBytes, blocksPerGroup);
    int slots = Math.clamp(stagingBytes / groupBytes, SLOTS_MIN, StoreBatch.CAPACITY_MAX);
    pool = BlockPool.allocate(new PoolLayout(groupBytes, slots, store.codec().headerBytes()), store.gate(),
        PoolOptions.named("page groups of " + store.name()));
    lanes = new CopyLanes(store.name());
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

  /** {@return blocks for groups, fewer than wanted if transfers in doubt have the others} */
  long[] tryLease(int wanted) {
    long[] slots = new long[wanted];
    int leased = 0;
    boolean all = false;
    try {
      for (; leased < wanted; leased++) {
        slots[leased] = pool.tryLease();
        if (slots[leased] == 0) break;
      }
      all = true;
      return leased == wanted ? slots : Arrays.copyOf(slots, leased);
    } finally {
      if (!all) giveBack(Arrays.copyOf(slots, leased));
    }
  }

  void giveBack(long[] slots) {
    for (long slot : slots)
      pool.release(slot);
  }

  /**
   * Copies the pages of groups together, each group into its slot.
   *
   * @param groups as many as there are slots, or more
   * @return for each slot why the pool did not let a block be read, empty if all were
   */
  String[] gather(List<PageObject> groups, BlockTable from, long[] slots) {
    String[] refusals = new String[slots.length];
    lanes.each(slots.length, pool.pageBytes(),
        i -> refusals[i] = refusal(() -> gather(groups.get(i), from, slots[i])));
    return refusals;
  }

  private void gather(PageObject group, BlockTable from, long into) {
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

  /**
   * Copies pages of groups that arrived to their blocks.
   *
   * @return for each page why the pool did not let its block be written, empty if it did
   */
  String[] scatter(List<Page> pages, BlockTable into) {
    String[] refusals = new String[pages.size()];
    lanes.each(refusals.length, pageBytes, i -> {
      Page page = pages.get(i);
      refusals[i] = refusal(() -> scatter(page, into.get(page.block())));
    });
    return refusals;
  }

  private void scatter(Page page, long into) {
    cache.beginWrite(into); // first: from here on a refit waits
    boolean copied = false;
    try {
      MemorySegment source = pool.page(page.slot());
      MemorySegment.copy(source, page.place() * pageBytes, cache.blockSegment(into), cache.headerBytes(), pageBytes);
      copied = true;
    } finally {
      cache.endWrite(into, copied);
    }
  }

  private static String refusal(Runnable copy) {
    try {
      copy.run();
      return "";
    } catch (GatunException | IllegalStateException refused) {
      return String.valueOf(refused.getMessage());
    }
  }

  /** Gives the memory back, unless native code may still touch it: then it stays, with a line in the log. */
  @Override
  public void close() {
    batch.close();
    release();
  }

  private void release() {
    lanes.close();
    try {
      if (store.isRegistered(pool.slab())) store.unregister(pool.slab());
      pool.close();
    } catch (InUseException inDoubt) {
      LOG.warn("staging memory of store {} is kept until the process ends: {}", store.name(), inDoubt.getMessage());
    }
  }
}

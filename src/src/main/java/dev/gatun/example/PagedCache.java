package dev.gatun.example;

import dev.gatun.connector.BlockTable;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.Sequence;
import dev.gatun.store.KvKey;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The host's own KV cache: blocks of a pool, and an index of those that hold the KV of a known prefix. Whoever takes a block
 * gets a reference of his own. Used by the host's thread alone.
 */
final class PagedCache {
  private final BlockPool pool;
  /** In the order of last use; each entry holds a reference. */
  private final Map<KvKey, Long> index = new LinkedHashMap<>(16, 0.75f, true);

  PagedCache(BlockPool pool) {
    this.pool = pool;
  }

  BlockPool pool() {
    return pool;
  }

  /** {@return leases of the leading blocks that are here; the caller releases them} */
  List<Long> prefix(List<KvKey> keys) {
    List<Long> found = new ArrayList<>();
    for (KvKey key : keys) {
      Long block = index.get(key);
      if (block == null || !pool.isCurrent(block)) break;
      pool.retain(block);
      found.add(block);
    }
    return found;
  }

  /** {@return a lease for new KV of a sequence; if no block is free, of one that only the index holds} */
  long lease(Sequence sequence) {
    Iterator<Long> oldest = index.values().iterator();
    while (pool.available() == 0 && oldest.hasNext()) {
      pool.release(oldest.next());
      oldest.remove();
    }
    return sequence.lease(pool);
  }

  /** Lets later requests find the leading blocks of a sequence. */
  void keep(List<KvKey> keys, BlockTable blocks, int count) {
    for (int i = 0; i < count; i++) {
      if (index.containsKey(keys.get(i)) || !pool.isCurrent(blocks.get(i))) continue;
      pool.retain(blocks.get(i));
      index.put(keys.get(i), blocks.get(i));
    }
  }

  void release(BlockTable blocks) {
    blocks.stream().forEach(pool::release);
  }

  void clear() {
    index.values().forEach(pool::release);
    index.clear();
  }
}

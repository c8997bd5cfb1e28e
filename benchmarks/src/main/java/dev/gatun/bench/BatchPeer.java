package dev.gatun.bench;

import dev.gatun.store.Existence;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.StoreBatch;

/** The product: {@link StoreBatch} with keys encoded beforehand. */
final class BatchPeer extends TimedPeer {
  private final KvStore store;
  private final StoreBatch batch;
  private final KvKey[] keys;
  private final long[] blocks;

  BatchPeer(KvStore store, CellMemory memory) {
    this.store = store;
    StoreCell cell = memory.cell();
    batch = store.batch(memory.pool(), cell.batch());
    keys = new KvKey[cell.batch()];
    for (int i = 0; i < keys.length; i++)
      keys[i] = KvKey.of(cell.key(i));
    blocks = memory.blocks();
    fill();
  }

  @Override
  public String name() {
    return LaunchOptions.STORE_BATCH;
  }

  @Override
  public boolean runs(StoreOperation operation) {
    return true;
  }

  @Override
  void runOnce(StoreOperation operation) {
    switch (operation) {
      case PUT -> put();
      case GET -> get();
      case EXISTS -> exists();
      case FILL_PUT -> {
        fill();
        put();
      }
      case FILL_GET -> {
        fill();
        get();
      }
    }
  }

  void put() {
    batch.put();
    for (int i = 0; i < keys.length; i++)
      if (!batch.isStored(i)) throw new IllegalStateException("put: key " + i + " answered " + batch.rawCode(i));
  }

  void get() {
    batch.get();
    for (int i = 0; i < keys.length; i++)
      if (!batch.isHit(i)) throw new IllegalStateException("get: key " + i + " answered " + batch.rawCode(i));
  }

  private void exists() {
    batch.exists();
    for (int i = 0; i < keys.length; i++) {
      if (batch.existence(i) != Existence.PRESENT) {
        throw new IllegalStateException("exists: key " + i + " answered " + batch.rawCode(i));
      }
    }
  }

  private void fill() {
    batch.clear();
    for (int i = 0; i < keys.length; i++)
      batch.add(keys[i], blocks[i]);
  }

  @Override
  public void store() {
    put();
  }

  @Override
  public void removeAll() {
    store.removeAll(true);
  }

  @Override
  public void close() {
    batch.close();
  }
}

package dev.gatun.bench;

import dev.gatun.store.Existence;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.StoreBatch;

/** The product: {@link StoreBatch} with keys encoded beforehand. */
final class BatchPeer extends TimedPeer {
  private final Runnable removal;
  private final StoreBatch batch;
  private final KvKey[] keys;
  private final long[] blocks;

  /**
   * Makes a batch for a cell.
   *
   * @param removal removes everything between puts, without allocating or touching more memory than its peers' does
   */
  BatchPeer(KvStore store, Runnable removal, CellMemory memory) {
    this.removal = removal;
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
    removal.run();
  }

  @Override
  public void close() {
    batch.close();
  }
}

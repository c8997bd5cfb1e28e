package dev.gatun.bench;

import dev.gatun.bindings.mooncake.MooncakeStoreC;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The generated downcalls with reused argument arrays: the least that Java can do. */
final class RawPeer extends TimedPeer {
  private final RawStore store;
  private final Columns columns;
  private final long pageBytes;

  RawPeer(RawStore store, CellMemory memory) {
    this.store = store;
    columns = new Columns(memory);
    pageBytes = memory.cell().pageBytes();
  }

  @Override
  public String name() {
    return LaunchOptions.RAW_DOWNCALL;
  }

  @Override
  public boolean runs(StoreOperation operation) {
    return true; // in the place of the filling operations those without filling
  }

  @Override
  void runOnce(StoreOperation operation) {
    switch (operation) {
      case PUT, FILL_PUT -> put();
      case GET, FILL_GET -> get();
      case EXISTS -> exists();
    }
  }

  void put() {
    RawStore.require("put", MooncakeStoreC.mooncake_store_batch_put_from(store.handle(), columns.keys, columns.pages,
        columns.sizes, columns.count, MemorySegment.NULL, columns.results));
    for (int i = 0; i < columns.count; i++)
      RawStore.require("put", columns.results.getAtIndex(ValueLayout.JAVA_INT, i));
  }

  void get() {
    RawStore.require("get", MooncakeStoreC.mooncake_store_batch_get_into(store.handle(), columns.keys, columns.pages,
        columns.sizes, columns.count, columns.results));
    for (int i = 0; i < columns.count; i++)
      RawStore.require("get", columns.results.getAtIndex(ValueLayout.JAVA_LONG, i) - pageBytes);
  }

  private void exists() {
    RawStore.require("exists", MooncakeStoreC.mooncake_store_batch_is_exist(store.handle(), columns.keys,
        columns.count, columns.results));
    for (int i = 0; i < columns.count; i++)
      RawStore.require("exists", columns.results.getAtIndex(ValueLayout.JAVA_INT, i) - 1);
  }

  @Override
  public void store() {
    put();
  }

  @Override
  public void removeAll() {
    store.removeAll();
  }

  @Override
  public void close() {
    columns.close();
  }
}

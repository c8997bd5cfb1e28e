package dev.gatun.bench;

import java.lang.foreign.MemorySegment;

/** The loop in C, inside this JVM: what differs from the Java peers is the binding alone. */
final class CLoopPeer implements StorePeer {
  private final CLoop loop;
  private final RawStore store;
  private final RawPeer raw;
  private final Columns columns;

  CLoopPeer(CLoop loop, RawStore store, CellMemory memory) {
    this.loop = loop;
    this.store = store;
    raw = new RawPeer(store, memory);
    columns = new Columns(memory);
  }

  @Override
  public String name() {
    return LaunchOptions.C_IN_JVM;
  }

  @Override
  public boolean runs(StoreOperation operation) {
    return true; // in the place of the filling operations the loop without filling
  }

  @Override
  public void run(StoreOperation operation, int iterations, MemorySegment nanos) {
    loop.run(store, operation, columns, iterations, nanos);
  }

  @Override
  public long allocatedBytes(StoreOperation operation, int iterations) {
    return 0; // no Java runs in it
  }

  @Override
  public void store() {
    raw.store();
  }

  @Override
  public void removeAll() {
    raw.removeAll();
  }

  @Override
  public void close() {
    raw.close();
    columns.close();
  }
}

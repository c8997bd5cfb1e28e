package dev.gatun.bench;

import dev.gatun.memory.BlockPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The argument arrays of the C functions for one cell, written once and reused. */
final class Columns implements AutoCloseable {
  final int count;
  final MemorySegment keys;
  final MemorySegment pages;
  final MemorySegment sizes;
  final MemorySegment results;

  private final Arena arena = Arena.ofShared(); // cell

  Columns(CellMemory memory) {
    StoreCell cell = memory.cell();
    count = cell.batch();
    keys = arena.allocate(ValueLayout.ADDRESS, count);
    pages = arena.allocate(ValueLayout.JAVA_LONG, count);
    sizes = arena.allocate(ValueLayout.JAVA_LONG, count);
    results = arena.allocate(ValueLayout.JAVA_LONG, count);
    BlockPool pool = memory.pool();
    for (int i = 0; i < count; i++) {
      keys.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(cell.key(i)));
      pages.setAtIndex(ValueLayout.JAVA_LONG, i, pool.blockAddress(memory.blocks()[i]));
      sizes.setAtIndex(ValueLayout.JAVA_LONG, i, cell.pageBytes());
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}

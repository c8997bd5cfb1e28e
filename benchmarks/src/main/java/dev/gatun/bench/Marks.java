package dev.gatun.bench;

import dev.gatun.connector.BlockTable;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.MemorySegment;

/** Bytes that say which block of a request a page is: what a benchmark of wrong copies says is worth nothing. */
final class Marks {
  private Marks() {}

  static void write(BlockPool pool, BlockTable blocks) {
    for (int i = 0; i < blocks.size(); i++)
      pool.rewrite(blocks.get(i)).fill(mark(i));
  }

  static void wipe(BlockPool pool, BlockTable blocks) {
    blocks.stream().forEach(block -> pool.rewrite(block).fill((byte) 0));
  }

  /** Throws if a block does not hold its own, naming who should have brought it. */
  static void require(String who, BlockPool pool, BlockTable blocks) {
    for (int i = 0; i < blocks.size(); i++) {
      MemorySegment wanted = MemorySegment.ofArray(new byte[Math.toIntExact(pool.pageBytes())]).fill(mark(i));
      if (wanted.mismatch(pool.page(blocks.get(i))) >= 0)
        throw new IllegalStateException(who + " left other bytes in block " + i);
    }
  }

  private static byte mark(int block) {
    return (byte) (block % 251 + 1);
  }
}

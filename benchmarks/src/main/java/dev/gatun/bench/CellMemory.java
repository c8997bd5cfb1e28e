package dev.gatun.bench;

import dev.gatun.backend.EpochGate;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The pages of one cell, each leased once; all peers put and get these. Their content can be made, spoilt, checked. */
final class CellMemory implements AutoCloseable {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final StoreCell cell;
  private final BlockPool pool;
  private final long[] blocks;

  CellMemory(StoreCell cell, Slab slab, EpochGate gate) {
    this.cell = cell;
    pool = BlockPool.over(slab, new PoolLayout(cell.pageBytes(), cell.batch()), gate);
    blocks = new long[cell.batch()];
    for (int i = 0; i < blocks.length; i++)
      blocks[i] = pool.lease();
  }

  StoreCell cell() {
    return cell;
  }

  BlockPool pool() {
    return pool;
  }

  long[] blocks() {
    return blocks;
  }

  /** The bytes first: what a benchmark of wrong copies says is worth nothing. Leaves the store empty. */
  void verify(StorePeer peer) {
    fill();
    peer.store();
    spoil();
    try (Arena call = Arena.ofConfined()) { // per call
      peer.run(StoreOperation.GET, 1, call.allocate(ValueLayout.JAVA_LONG));
    }
    check(peer.name());
    peer.removeAll();
  }

  /** Gives every page bytes of its own. */
  private void fill() {
    for (int i = 0; i < blocks.length; i++) {
      MemorySegment page = pool.rewrite(blocks[i]);
      for (long at = 0; at < cell.pageBytes(); at += Long.BYTES)
        page.set(ValueLayout.JAVA_LONG, at, word(i, at));
    }
  }

  /** Overwrites every page, so that what is found afterwards was got. */
  private void spoil() {
    for (long block : blocks)
      pool.rewrite(block).fill((byte) 0);
  }

  /** Refuses to go on with a peer that moved other bytes than those that were put. */
  private void check(String peer) {
    for (int i = 0; i < blocks.length; i++) {
      MemorySegment page = pool.rewrite(blocks[i]);
      for (long at = 0; at < cell.pageBytes(); at += Long.BYTES) {
        if (page.get(ValueLayout.JAVA_LONG, at) != word(i, at)) {
          throw new IllegalStateException(peer + " of " + cell + " got other bytes than were put: page " + i + ", byte "
              + at);
        }
      }
    }
  }

  private static long word(int page, long at) {
    return (at + page * GOLDEN) * GOLDEN + 1;
  }

  @Override
  public void close() {
    for (long block : blocks)
      pool.release(block);
    pool.close();
  }
}

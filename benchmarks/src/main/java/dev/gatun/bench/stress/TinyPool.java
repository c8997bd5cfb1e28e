package dev.gatun.bench.stress;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A pool for one round of a race, made cheaply: all pools lie on the same memory, whose bytes no race looks at. */
final class TinyPool {
  private static final int BLOCKS_MAX = 4;
  private static final MemorySegment MEMORY = Arena.global().allocate(BLOCKS_MAX * 64L, 64); // process

  final EpochGate gate = new EpochGate(new WeightEpoch("race", 0));
  final BlockPool pool;

  TinyPool(int blocks) {
    pool = BlockPool.over(Slab.adopt("race", MEMORY), new PoolLayout(64, blocks), gate);
  }

  /** {@return whether the call was accepted} */
  static boolean accepted(Runnable call) {
    try {
      call.run();
      return true;
    } catch (IllegalStateException refused) {
      return false;
    }
  }

  /** {@return how many different blocks can be leased now, the pool's size being known to be enough to count} */
  int leasable() {
    int count = 0;
    while (pool.tryLease() != 0)
      count++;
    return count;
  }
}

package dev.gatun.store;

import dev.gatun.backend.GatunException;
import dev.gatun.memory.BlockPool;

/** References to blocks that an accepted operation needs: whoever else releases them, they do not become free. */
final class HeldBlocks {
  private HeldBlocks() {}

  /** Adds a reference to each, or to none. {@return what drops them again; good for one call} */
  static Runnable hold(BlockPool pool, long[] blocks, int count) {
    int held = 0;
    try {
      for (; held < count; held++) {
        if (blocks[held] != 0) pool.retain(blocks[held]);
      }
    } catch (RuntimeException refused) {
      drop(pool, blocks, held);
      throw refused;
    }
    return () -> drop(pool, blocks, count);
  }

  private static void drop(BlockPool pool, long[] blocks, int count) {
    for (int i = 0; i < count; i++) {
      if (blocks[i] == 0) continue;
      try {
        pool.release(blocks[i]);
      } catch (GatunException | IllegalStateException poolWasClosed) {
        // closing a pool ends every lease, this reference among them
      }
    }
  }
}

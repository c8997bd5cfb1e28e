package dev.gatun.store;

import dev.gatun.memory.BlockPool;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that native code may still touch after it answered: a failed transfer stops nothing by itself. They stay out of
 * circulation until the native store is destroyed.
 */
final class QuarantinedBlocks {
  private final List<Entry> entries = new ArrayList<>();

  private record Entry(BlockPool pool, long block, @Nullable StampClaims stamped) {}

  /** Takes the place of ending the transfer; {@code stamped} is where the block's stamp is claimed, if it is. */
  synchronized void add(BlockPool pool, RegisteredSlab slab, long block, @Nullable StampClaims stamped) {
    pool.quarantine(block);
    slab.addQuarantined();
    entries.add(new Entry(pool, block, stamped));
  }

  synchronized int count() {
    return entries.size();
  }

  /** To be called when the native store is gone. */
  synchronized void end() {
    for (Entry entry : entries) {
      if (entry.stamped != null) entry.stamped.release(entry.pool.blockIndex(entry.block));
      entry.pool.endQuarantine(entry.block);
    }
    entries.clear();
  }
}

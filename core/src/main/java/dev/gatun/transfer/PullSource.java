package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.memory.BlockPool;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that a peer may read, until it has, or the offer ends. Made by {@link Handovers#offer}. Usable by any thread.
 *
 * <p>While the offer lasts the blocks are marked as being read: whoever releases them, they do not become free, and
 * nothing writes into them. When it has ended they may hold anything; a peer that reads them late is told so when it asks,
 * and throws away what it has. The memory itself stays registered for as long as such a peer may still read it: until it
 * has said that it does not, is known to be dead, or the engine is gone.
 */
public final class PullSource extends Granted {
  PullSource(Handovers handovers, BlockPool pool, long[] blocks, RegisteredMemory memory, Grant grant,
      @Nullable Carry accepted, Deadline expires) {
    super(handovers, pool, blocks, memory, grant, accepted, expires);
  }

  /**
   * Ends the offer: the blocks may be used otherwise at once. A peer that has begun is told to stop, again and again until
   * it has answered, for some 15 minutes; until it has, {@link #isOver} says no and the memory cannot be unregistered. Does
   * not wait. Does nothing once it has ended.
   */
  public void withdraw() {
    takeBack();
  }

  /**
   * Says that the peer will never read again: its process has ended, or the path to it is cut for good. Whoever calls this
   * knows; nothing here can check it.
   */
  public void declareReaderDead() {
    declareDead();
  }

  @Override
  void giveBack(boolean good) {
    for (long block : blocks)
      pool.endRead(block);
  }

  @Override
  void cutOff() {
    giveBack(false);
  }

  /** The blocks came back when it was cut off: what it read since is of no use to it. */
  @Override
  void stopped() {}

  /** Begins the reads, all or none. */
  static void begin(BlockPool pool, long[] blocks) {
    int begun = 0;
    try {
      for (; begun < blocks.length; begun++)
        pool.beginRead(blocks[begun]);
    } catch (GatunException | IllegalStateException | IllegalArgumentException refused) {
      for (int i = 0; i < begun; i++)
        pool.endRead(blocks[i]);
      throw refused;
    }
  }
}

package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.memory.BlockPool;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that a peer may fill, until it says that it has, or that it never will. Made by {@link Handovers#grantPush}.
 * Usable by any thread.
 *
 * <p>A one-sided write cannot be refused when it lands. So a block that was granted to a peer which has begun comes back
 * only when the peer has committed, or has said that nothing of it moves any more, or is known to be dead, or the engine
 * is gone; until then it is in quarantine, whatever else happens. A peer whose transfer failed in a library that cannot
 * tell what of it still moves says just that, and the blocks wait for the other two.
 */
public final class PushTarget extends Granted {
  PushTarget(Handovers handovers, BlockPool pool, long[] blocks, RegisteredMemory memory, Grant grant,
      @Nullable Carry accepted, Deadline expires) {
    super(handovers, pool, blocks, memory, grant, accepted, expires);
  }

  /**
   * Takes the grant back: the blocks hold nothing of use. If the peer has begun it is told, again and again until it has
   * answered, for some 15 minutes, and they stay in quarantine until it has. Does not wait. Does nothing once it has ended.
   */
  public void revoke() {
    takeBack();
  }

  /**
   * Takes the blocks back from a peer that will never write again: its process has ended, or the path to it is cut for
   * good. Whoever calls this knows; nothing here can check it.
   */
  public void declareSenderDead() {
    declareDead();
  }

  @Override
  void giveBack(boolean good) {
    for (long block : blocks)
      pool.endWrite(block, good);
  }

  @Override
  void cutOff() {
    for (long block : blocks)
      pool.quarantine(block);
  }

  @Override
  void stopped() {
    for (long block : blocks)
      pool.endQuarantine(block);
  }

  /** Begins the writes, all or none. */
  static void begin(BlockPool pool, long[] blocks) {
    int begun = 0;
    try {
      for (; begun < blocks.length; begun++)
        pool.beginWrite(blocks[begun]);
    } catch (GatunException | IllegalStateException | IllegalArgumentException refused) {
      for (int i = 0; i < begun; i++)
        pool.cancelWrite(blocks[i]);
      throw refused;
    }
  }
}

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
 * is gone; until then it is in quarantine, whatever else happens.
 */
public final class PushTarget {
  private final Handovers handovers;
  private final BlockPool pool;
  private final long[] blocks;
  private final Grant grant;
  private final Deadline expires;
  // guarded by this
  private @Nullable String sender;
  private HandoverOutcome outcome = HandoverOutcome.PENDING;
  private boolean quarantined;
  private boolean over;

  PushTarget(Handovers handovers, BlockPool pool, long[] blocks, Grant grant, Deadline expires) {
    this.handovers = handovers;
    this.pool = pool;
    this.blocks = blocks;
    this.grant = grant;
    this.expires = expires;
  }

  /** {@return what the peer is to be given, out of band} */
  public Grant grant() {
    return grant;
  }

  /** {@return how it stands} */
  public synchronized HandoverOutcome outcome() {
    return outcome;
  }

  /** {@return whether the peer can no longer write into the blocks} */
  public synchronized boolean isOver() {
    return over;
  }

  /**
   * Waits until the peer has committed or given up.
   *
   * @param deadline when to give up waiting; the grant stays
   * @return how it stands; {@link HandoverOutcome#COMMITTED} if the blocks can be used
   */
  public HandoverOutcome await(Deadline deadline) {
    handovers.await(() -> outcome() != HandoverOutcome.PENDING, deadline);
    return outcome();
  }

  /**
   * Takes the grant back: the blocks hold nothing of use. If the peer has begun it is told, and they stay in quarantine
   * until it has answered. Does not wait. Does nothing once it has ended.
   */
  public void revoke() {
    String told;
    synchronized (this) {
      if (outcome != HandoverOutcome.PENDING) return;
      outcome = HandoverOutcome.REVOKED;
      told = sender;
      if (told == null) {
        // nobody has begun, and whoever tries is refused from now on
        endWrites(false);
      } else {
        for (long block : blocks)
          pool.quarantine(block);
        quarantined = true;
      }
    }
    if (told != null) handovers.tell(told, HandoverMessage.of(HandoverMessage.Kind.REVOKE, grant.id(), grant.epoch()));
    else
      handovers.forget(grant.id());
  }

  /**
   * Takes the blocks back from a peer that will never write again: its process has ended, or the path to it is cut for
   * good. Whoever calls this knows; nothing here can check it.
   */
  public void declareSenderDead() {
    synchronized (this) {
      if (outcome == HandoverOutcome.PENDING) outcome = HandoverOutcome.ABORTED;
      end(false);
    }
    handovers.forget(grant.id());
  }

  /** A peer wants to begin. {@return whether it may} */
  synchronized boolean accept(String from) {
    if (outcome != HandoverOutcome.PENDING || (sender != null && !sender.equals(from))) return false;
    sender = from;
    return true;
  }

  /** The peer's bytes have all landed, while the epoch of the grant was in force or not. */
  void committed(String from, boolean current) {
    synchronized (this) {
      if (!from.equals(sender) || over) return;
      if (outcome == HandoverOutcome.PENDING) {
        outcome = current ? HandoverOutcome.COMMITTED : HandoverOutcome.REVOKED;
      }
      end(outcome == HandoverOutcome.COMMITTED);
    }
    handovers.forget(grant.id());
  }

  /** The peer has given up, and nothing of it moves any more. */
  void aborted(String from) {
    synchronized (this) {
      if (!from.equals(sender) || over) return;
      if (outcome == HandoverOutcome.PENDING) outcome = HandoverOutcome.ABORTED;
      end(false);
    }
    handovers.forget(grant.id());
  }

  boolean expired() {
    return expires.reached();
  }

  private void end(boolean good) {
    if (over) return;
    if (quarantined) {
      over = true;
      for (long block : blocks)
        pool.endQuarantine(block);
    } else {
      endWrites(good);
    }
  }

  private void endWrites(boolean good) {
    over = true;
    for (long block : blocks)
      pool.endWrite(block, good);
  }

  /** Begins the writes, all or none. */
  static void begin(BlockPool pool, long[] blocks) {
    int begun = 0;
    try {
      for (; begun < blocks.length; begun++)
        pool.beginWrite(blocks[begun]);
    } catch (GatunException | IllegalStateException | IllegalArgumentException refused) {
      for (int i = 0; i < begun; i++)
        pool.endWrite(blocks[i], false);
      throw refused;
    }
  }

  @Override
  public synchronized String toString() {
    return grant + (sender == null ? "" : " from " + sender) + ": " + outcome + (over ? "" : ", not over");
  }
}

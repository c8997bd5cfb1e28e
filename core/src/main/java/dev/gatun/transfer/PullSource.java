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
 * and throws away what it has.
 */
public final class PullSource {
  private final Handovers handovers;
  private final BlockPool pool;
  private final long[] blocks;
  private final Grant grant;
  private final Deadline expires;
  // guarded by this
  private @Nullable String reader;
  private HandoverOutcome outcome = HandoverOutcome.PENDING;

  PullSource(Handovers handovers, BlockPool pool, long[] blocks, Grant grant, Deadline expires) {
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

  /**
   * Waits until the peer has read the pages, or the offer has ended otherwise.
   *
   * @param deadline when to give up waiting; the offer stays
   * @return how it stands
   */
  public HandoverOutcome await(Deadline deadline) {
    handovers.await(() -> outcome() != HandoverOutcome.PENDING, deadline);
    return outcome();
  }

  /** Ends the offer: the blocks may be used otherwise at once. Does nothing once it has ended. */
  public void withdraw() {
    finish(HandoverOutcome.REVOKED);
  }

  /** A peer wants to begin. {@return whether it may} */
  synchronized boolean accept(String from) {
    if (outcome != HandoverOutcome.PENDING || (reader != null && !reader.equals(from))) return false;
    reader = from;
    return true;
  }

  /** The peer has all bytes. {@return whether they are still those of the offer} */
  boolean confirm(String from, boolean current) {
    synchronized (this) {
      if (outcome != HandoverOutcome.PENDING || !from.equals(reader)) return false;
    }
    return finish(current ? HandoverOutcome.COMMITTED : HandoverOutcome.REVOKED) && current;
  }

  /** The peer has given up. */
  void aborted(String from) {
    synchronized (this) {
      if (!from.equals(reader)) return;
    }
    finish(HandoverOutcome.ABORTED);
  }

  boolean expired() {
    return expires.reached();
  }

  private boolean finish(HandoverOutcome as) {
    synchronized (this) {
      if (outcome != HandoverOutcome.PENDING) return false;
      outcome = as;
      for (long block : blocks)
        pool.endRead(block);
    }
    handovers.forget(grant.id());
    return true;
  }

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

  @Override
  public synchronized String toString() {
    return grant + (reader == null ? "" : " by " + reader) + ": " + outcome;
  }
}

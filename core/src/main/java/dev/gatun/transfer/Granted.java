package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.memory.BlockPool;
import dev.gatun.transfer.HandoverMessage.Kind;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What both kinds of grant share: who carries it out, how it stands, and when the peer can touch nothing of it any more.
 * One attempt of one peer may begin; a second is refused until that has ended, and so is whatever a past one says.
 */
abstract sealed class Granted permits PushTarget, PullSource {
  private static final Logger LOG = LoggerFactory.getLogger(Granted.class);

  final BlockPool pool;
  final long[] blocks;
  final RegisteredMemory memory;
  private final Handovers handovers;
  private final Grant grant;
  private final Deadline expires;
  // guarded by this
  private @Nullable Carry carry;
  private HandoverOutcome outcome = HandoverOutcome.PENDING;
  private boolean cutOff;
  private boolean over;
  private @Nullable Reminder reminder;

  /** @param accepted whom the grant accepts without being asked, null if nobody */
  Granted(Handovers handovers, BlockPool pool, long[] blocks, RegisteredMemory memory, Grant grant,
      @Nullable Carry accepted, Deadline expires) {
    this.handovers = handovers;
    this.pool = pool;
    this.blocks = blocks;
    this.memory = memory;
    this.grant = grant;
    carry = accepted;
    this.expires = expires;
  }

  /** {@return what the peer is to be given, out of band} */
  public final Grant grant() {
    return grant;
  }

  /** {@return how it stands} */
  public final synchronized HandoverOutcome outcome() {
    return outcome;
  }

  /** {@return whether the peer can no longer touch the memory} */
  public final synchronized boolean isOver() {
    return over;
  }

  /**
   * Waits until the peer has committed or given up, or the grant has ended otherwise.
   *
   * @param deadline when to give up waiting; the grant stays
   * @return how it stands; {@link HandoverOutcome#COMMITTED} if the pages changed hands
   */
  public final HandoverOutcome await(Deadline deadline) {
    return await(() -> false, deadline);
  }

  /**
   * As {@link #await(Deadline)}, unless something else ends the wait.
   *
   * @param enough looked at again and again; must not block
   * @param deadline when to give up waiting; the grant stays
   * @return how it stands
   */
  public final HandoverOutcome await(BooleanSupplier enough, Deadline deadline) {
    handovers.await(() -> outcome() != HandoverOutcome.PENDING || enough.getAsBoolean(), deadline);
    return outcome();
  }

  /** The blocks come back from a peer that has not been cut off: it is done with them, or never began. */
  abstract void giveBack(boolean good);

  /** The grant has ended under a peer that may not have stopped. */
  abstract void cutOff();

  /** A peer that was cut off has stopped. */
  abstract void stopped();

  /** A peer wants to begin. {@return whether it may} */
  final synchronized boolean accept(Carry by) {
    if (outcome != HandoverOutcome.PENDING || (carry != null && !carry.equals(by))) return false;
    carry = by;
    return true;
  }

  /** Everything of the peer has arrived, while the epoch of the grant was in force or not. {@return whether it is good} */
  final boolean committed(Carry by, boolean current) {
    synchronized (this) {
      if (over || !by.equals(carry)) return false;
      if (outcome == HandoverOutcome.PENDING) {
        outcome = current ? HandoverOutcome.COMMITTED : HandoverOutcome.REVOKED;
      }
      end();
    }
    handovers.granter().forget(this);
    return outcome() == HandoverOutcome.COMMITTED;
  }

  /** The peer has given up, and nothing of it moves any more. */
  final void aborted(Carry by) {
    synchronized (this) {
      if (over || !by.equals(carry)) return;
      if (outcome == HandoverOutcome.PENDING) outcome = HandoverOutcome.ABORTED;
      end();
    }
    handovers.granter().forget(this);
  }

  /** The peer has given up, and cannot know what of it still moves: nobody is asked again. */
  final synchronized void lost(Carry by) {
    if (over || !by.equals(carry)) return;
    if (outcome == HandoverOutcome.PENDING) {
      outcome = HandoverOutcome.ABORTED;
      cutOff = true;
      cutOff();
    }
    reminder = null;
    LOG.warn("{}: a transfer of {} failed and may still touch the memory", this, by.peer());
  }

  /** Takes the grant back, and has the peer told if it has begun. */
  final void takeBack() {
    Carry told;
    synchronized (this) {
      if (outcome != HandoverOutcome.PENDING) return;
      outcome = HandoverOutcome.REVOKED;
      told = carry;
      if (told == null) {
        // nobody has begun, and whoever tries is refused from now on
        end();
      } else {
        cutOff = true;
        cutOff();
        reminder = new Reminder(System.nanoTime());
      }
    }
    if (told == null) handovers.granter().forget(this);
    else
      tell(told);
  }

  /** The peer touches nothing of it any more, whatever it has said. */
  final void declareDead() {
    synchronized (this) {
      if (outcome == HandoverOutcome.PENDING) outcome = HandoverOutcome.ABORTED;
      if (!over) end();
    }
    handovers.granter().forget(this);
  }

  /** Looks at the clock: the grant may have expired, or the peer not have answered. */
  final void look() {
    if (expires.reached()) takeBack();
    Carry told = null;
    synchronized (this) {
      if (!over && reminder != null && reminder.due(System.nanoTime())) told = carry;
      if (told != null && reminder != null && reminder.isSpent()) {
        LOG.warn(
            "{}: {} is told for the last time; the memory stays in use until the peer is declared dead or the engine"
                + " is gone",
            this, told.peer());
      }
    }
    if (told != null) tell(told);
  }

  /** {@return whether the peer may begin or end at any moment, and says so by a message} */
  final boolean isAwaited() {
    boolean otherwise = grant.accepted() != null && grant.direction() == Grant.Direction.PULL; // see Confirmation
    return outcome() == HandoverOutcome.PENDING && !otherwise;
  }

  /** {@return whether something is to be heard from the peer or to be said to it} */
  final synchronized boolean isWatched() {
    return outcome == HandoverOutcome.PENDING || (!over && reminder != null && !reminder.isOver(System.nanoTime()));
  }

  private void tell(Carry told) {
    handovers.tell(told.peer(),
        new HandoverMessage(Kind.REVOKE, grant.id(), told.attempt(), grant.epoch(), grant.told().toBytes()));
  }

  private void end() {
    over = true;
    if (cutOff) stopped();
    else
      giveBack(outcome == HandoverOutcome.COMMITTED);
  }

  @Override
  public final synchronized String toString() {
    return grant + (carry == null ? "" : " by " + carry.peer()) + ": " + outcome + (over ? "" : ", not over");
  }
}

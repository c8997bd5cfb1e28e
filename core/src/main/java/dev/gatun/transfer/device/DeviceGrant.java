package dev.gatun.transfer.device;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.transfer.HandoverOutcome;
import java.util.UUID;

/**
 * Blocks of this process's cache that the sender may fill, until it says that it has, or that it never will. Made by
 * {@link DeviceReceiver#grant}. Usable by any thread.
 *
 * <p>A write into device memory cannot be refused when it lands. So once a grant has gone out, its blocks are the sender's
 * until {@link #isOver}: however the grant ended, nobody may use or lend them before. The receiver grants none of them again
 * until then.
 */
public final class DeviceGrant {
  private final DeviceReceiver receiver;
  private final UUID id;
  private final String name;
  private final int[] blocks;
  private final WeightEpoch epoch;
  private final Deadline expires;
  // written under this, and read without it by those who look again and again
  private volatile HandoverState state = HandoverState.PENDING;

  DeviceGrant(DeviceReceiver receiver, UUID id, String name, int[] blocks, WeightEpoch epoch, Deadline expires) {
    this.receiver = receiver;
    this.id = id;
    this.name = name;
    this.blocks = blocks;
    this.epoch = epoch;
    this.expires = expires;
  }

  /** {@return the hand-over's number, unique in the world} */
  public UUID id() {
    return id;
  }

  /** {@return the name under which the sender offers the pages} */
  public String name() {
    return name;
  }

  /** {@return the epoch of the pages; both sides must have it in force} */
  public WeightEpoch epoch() {
    return epoch;
  }

  /** {@return how it stands} */
  public HandoverOutcome outcome() {
    return state.outcome();
  }

  /** {@return why it ended without pages, in words; empty if it did not} */
  public String reason() {
    return state.reason();
  }

  /** {@return whether the sender can no longer write: the blocks may be used, or lent again} */
  public boolean isOver() {
    return state.over();
  }

  /**
   * Waits until the sender has committed or given up, or the grant has ended otherwise. Blocks.
   *
   * @param deadline when to give up waiting; the grant stays
   * @return how it stands; {@link HandoverOutcome#COMMITTED} if the pages are there
   */
  public HandoverOutcome await(Deadline deadline) {
    receiver.changes().await(() -> outcome() != HandoverOutcome.PENDING, deadline);
    return outcome();
  }

  /**
   * Waits until the blocks may be used again. Blocks.
   *
   * @param deadline when to give up waiting
   * @return whether they may
   */
  public boolean awaitOver(Deadline deadline) {
    return receiver.changes().await(this::isOver, deadline);
  }

  /** Takes the grant back: the blocks hold nothing of use, once it is over. Does not wait. Does nothing once it has ended. */
  public void revoke() {
    takeBack("revoked");
  }

  void takeBack(String why) {
    synchronized (this) {
      if (!state.isPending()) return;
      state = state.ended(HandoverOutcome.REVOKED, why);
    }
    receiver.tellRevoked(this);
  }

  /** Everything has arrived, while the epoch of the grant was in force or not. {@return whether it is good} */
  synchronized boolean committed(boolean current) {
    state = (current
        ? state.ended(HandoverOutcome.COMMITTED, "")
        : state.ended(HandoverOutcome.REVOKED, "a refit came first")).freed();
    return state.outcome() == HandoverOutcome.COMMITTED;
  }

  /** The sender has given up, and nothing of it moves any more. */
  synchronized void aborted(boolean refused, String why) {
    state = state.ended(refused ? HandoverOutcome.REFUSED : HandoverOutcome.ABORTED, why).freed();
  }

  /** The sender says nothing more, and may still write. */
  synchronized void cutOff(String why) {
    state = state.ended(HandoverOutcome.ABORTED, why);
  }

  boolean hasExpired() {
    return expires.reached();
  }

  int[] blocks() {
    return blocks;
  }

  @Override
  public String toString() {
    HandoverState now = state;
    return "grant of " + blocks.length + " blocks of " + epoch + " for " + name + ": " + now.outcome()
        + (now.over() ? "" : ", not over");
  }
}

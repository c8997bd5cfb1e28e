package dev.gatun.transfer.device;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.Completion;
import dev.gatun.transfer.HandoverOutcome;

/**
 * Pages of this process's cache that a receiver may be given. Made by {@link DeviceSender#offer}. Usable by any thread. Until it
 * {@link #isOver} its blocks may be read, so nothing may write into them.
 */
public final class DeviceOffer {
  private final DeviceSender sender;
  private final String name;
  private final int[] blocks;
  private final Completion ready;
  private final WeightEpoch epoch;
  private final Deadline expires;
  // written under this, and read without it by those who look again and again
  private volatile HandoverState state = HandoverState.PENDING;
  private boolean pushing; // guarded by this

  DeviceOffer(DeviceSender sender, String name, int[] blocks, Completion ready, WeightEpoch epoch, Deadline expires) {
    this.sender = sender;
    this.name = name;
    this.blocks = blocks;
    this.ready = ready;
    this.epoch = epoch;
    this.expires = expires;
  }

  /** {@return the name under which a receiver asks for the pages} */
  public String name() {
    return name;
  }

  /** {@return the epoch of the pages} */
  public WeightEpoch epoch() {
    return epoch;
  }

  /** {@return how it stands} */
  public HandoverOutcome outcome() {
    return state.outcome();
  }

  /** {@return why it ended without a receiver that has the pages, in words; empty if it did not} */
  public String reason() {
    return state.reason();
  }

  /** {@return whether nothing reads the blocks any more} The outcome may be open still, until the receiver has answered. */
  public boolean isOver() {
    return state.over();
  }

  /**
   * Waits until it is over and it is known what became of the pages. Blocks; an interrupt ends the wait and stays set.
   *
   * @param deadline when to give up waiting; the offer stays
   * @return how it stands; {@link HandoverOutcome#COMMITTED} if the receiver has the pages
   */
  public HandoverOutcome await(Deadline deadline) {
    sender.changes().await(() -> isOver() && outcome() != HandoverOutcome.PENDING, deadline);
    return outcome();
  }

  /**
   * Takes the offer back. A push that runs stops after what the GPU has begun; once it has moved all pages the offer is over,
   * and the receiver's word says what became of them. Does not wait.
   */
  public void withdraw() {
    sender.withdraw(this, "withdrawn");
  }

  /** Ends it unless a push of it runs, which then stops, or has moved everything. */
  synchronized void takeBack(String why) {
    if (!state.isPending() || state.over()) return;
    HandoverState ended = state.ended(HandoverOutcome.REVOKED, why);
    state = pushing ? ended : ended.freed();
  }

  /** A push begins. {@return false if it was taken back before} */
  synchronized boolean begin() {
    if (!state.isPending()) return false;
    pushing = true;
    return true;
  }

  /** A push has moved all pages, and nothing of it moves any more. {@return false if the offer was taken back before} */
  synchronized boolean moved() {
    state = state.freed();
    return state.isPending();
  }

  /** It is not known whether its blocks are still being read. */
  synchronized void cutOff(String why) {
    state = state.ended(HandoverOutcome.ABORTED, why);
  }

  boolean isTakenBack() {
    return state.outcome() == HandoverOutcome.REVOKED;
  }

  /** Nothing reads the blocks any more. */
  synchronized void end(HandoverOutcome how, String why) {
    state = state.ended(how, why).freed();
  }

  boolean hasExpired() {
    return expires.reached();
  }

  int[] blocks() {
    return blocks;
  }

  Completion ready() {
    return ready;
  }

  @Override
  public String toString() {
    return "offer of " + blocks.length + " blocks of " + epoch + " as " + name + ": " + state.outcome();
  }
}

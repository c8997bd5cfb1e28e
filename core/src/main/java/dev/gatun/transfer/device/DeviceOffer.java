package dev.gatun.transfer.device;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.DeviceEvent;
import dev.gatun.transfer.HandoverOutcome;

/**
 * Pages of this process's cache that a receiver may be given. Made by {@link DeviceSender#offer}. Usable by any thread. Until it
 * {@link #isOver} its blocks may be read, so nothing may write into them.
 */
public final class DeviceOffer {
  private final DeviceSender sender;
  private final String name;
  private final int[] blocks;
  private final DeviceEvent ready;
  private final WeightEpoch epoch;
  private final Deadline expires;
  // guarded by this
  private HandoverOutcome outcome = HandoverOutcome.PENDING;
  private String reason = "";
  private boolean pushing;
  private boolean over;

  DeviceOffer(DeviceSender sender, String name, int[] blocks, DeviceEvent ready, WeightEpoch epoch, Deadline expires) {
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
  public synchronized HandoverOutcome outcome() {
    return outcome;
  }

  /** {@return why it ended without a receiver that has the pages, in words; empty if it did not} */
  public synchronized String reason() {
    return reason;
  }

  /** {@return whether nothing reads the blocks any more} */
  public synchronized boolean isOver() {
    return over;
  }

  /**
   * Waits until it is over. Blocks.
   *
   * @param deadline when to give up waiting; the offer stays
   * @return how it stands; {@link HandoverOutcome#COMMITTED} if the receiver has the pages
   */
  public HandoverOutcome await(Deadline deadline) {
    sender.changes().await(this::isOver, deadline);
    return outcome();
  }

  /** Takes the offer back. A push that runs stops after what the GPU has begun. Does not wait. */
  public void withdraw() {
    sender.withdraw(this, "withdrawn");
  }

  /** Ends it unless a push of it runs, which then stops. */
  synchronized void takeBack(String why) {
    if (outcome != HandoverOutcome.PENDING) return;
    outcome = HandoverOutcome.REVOKED;
    reason = why;
    over = !pushing;
  }

  /** A push begins. {@return false if it was taken back before} */
  synchronized boolean begin() {
    if (outcome != HandoverOutcome.PENDING) return false;
    pushing = true;
    return true;
  }

  synchronized boolean isTakenBack() {
    return outcome == HandoverOutcome.REVOKED;
  }

  /** Nothing reads the blocks any more. */
  synchronized void end(HandoverOutcome how, String why) {
    if (over) return;
    if (outcome == HandoverOutcome.PENDING) {
      outcome = how;
      reason = why;
    }
    over = true;
  }

  boolean hasExpired() {
    return expires.reached();
  }

  int[] blocks() {
    return blocks;
  }

  DeviceEvent ready() {
    return ready;
  }

  @Override
  public synchronized String toString() {
    return "offer of " + blocks.length + " blocks of " + epoch + " as " + name + ": " + outcome;
  }
}

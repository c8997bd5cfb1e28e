package dev.gatun.transfer.device;

import dev.gatun.transfer.HandoverOutcome;

/**
 * How one side's part in a hand-over stands.
 *
 * @param outcome what became of the pages
 * @param reason why there are none, empty if there are, or may be
 * @param over whether the GPU is done with the blocks
 */
record HandoverState(HandoverOutcome outcome, String reason, boolean over) {
  static final HandoverState PENDING = new HandoverState(HandoverOutcome.PENDING, "", false);

  boolean isPending() {
    return outcome == HandoverOutcome.PENDING;
  }

  /** {@return this with an outcome, unless it has one} */
  HandoverState ended(HandoverOutcome how, String why) {
    return isPending() ? new HandoverState(how, why, over) : this;
  }

  /** {@return this with blocks that are free} */
  HandoverState freed() {
    return new HandoverState(outcome, reason, true);
  }
}

package dev.gatun.transfer;

/** How a hand-over stands or ended, on either side. */
public enum HandoverOutcome {
  /** It has not ended. */
  PENDING,
  /** All pages have arrived, of the epoch that was granted, and both sides know it. */
  COMMITTED,
  /** The other side does not know the hand-over, or has another epoch in force: nothing was moved. */
  REFUSED,
  /** A transfer failed, or was given up; what arrived is of no use. */
  ABORTED,
  /** It was taken back, by a refit, by expiry, or on demand. */
  REVOKED,
  /** The pages arrived, but the producer does not confirm that they were still those that it offered. */
  SOURCE_CHANGED,
  /** The deadline came first: bytes may still move, and the memory stays in quarantine until they cannot. */
  IN_DOUBT
}

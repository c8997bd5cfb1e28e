package dev.gatun.fleet;

import dev.gatun.refit.RefitOutcome;

/** How a fleet's refit ended. */
public enum FleetOutcome {
  /**
   * Every engine says that it is paused and has reset its own pages and, where it has a store connector, that it waited
   * for what that was putting; and the master itself shows that nothing old is in the store.
   */
  VERIFIED,
  /** Keys carry the epoch, so nothing old can be asked for; that it was also removed is unproven. */
  ISOLATED,
  /** The store did not answer, an engine did not, or something else that would prove it is missing. */
  UNVERIFIED,
  /** Old pages may still be there: an engine or the store refused, or something is left. */
  FAILED,
  /** An engine cannot be refitted this way, or none is to act. At most questions were sent: nothing was paused or reset. */
  REFUSED,
  /** A dry run: questions were sent, and the plan was made. */
  PLANNED,
  /** This runs on another node than the first: it is for the first one to act. Nothing was sent. */
  SKIPPED;

  static FleetOutcome of(RefitOutcome outcome) {
    return valueOf(outcome.name());
  }
}

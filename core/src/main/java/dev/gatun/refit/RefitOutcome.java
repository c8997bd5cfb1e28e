package dev.gatun.refit;

/** How a refit ended, best first. */
public enum RefitOutcome {
  /** Nothing old is in the store, nothing old is on its way there, and several independent witnesses say so. */
  VERIFIED,
  /** Keys carry the epoch, so nothing old can be asked for; that it was also removed is unproven. */
  ISOLATED,
  /** The removal was answered, but something that would prove it is missing. */
  UNVERIFIED,
  /** Old pages may still be there: the removal failed, left something, or was never asked for. */
  FAILED;

  /** {@return whether no page of older weights can be read through the stores of the refit} */
  public boolean safe() {
    return this == VERIFIED || this == ISOLATED;
  }
}

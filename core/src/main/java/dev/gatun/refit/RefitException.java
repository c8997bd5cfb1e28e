package dev.gatun.refit;

import dev.gatun.backend.GatunException;

/** A refit that did not reach what its policy requires; {@link #report} says why. The gate is closed or disabled. */
public final class RefitException extends GatunException {
  private static final long serialVersionUID = 1L;

  private final transient RefitReport report;

  /**
   * Creates the exception.
   *
   * @param report of the refit
   */
  public RefitException(RefitReport report) {
    super("refit to " + report.epoch() + ' ' + report.outcome() + ": " + String.join("; ", report.reasons()));
    this.report = report;
  }

  /** {@return what happened, step by step; null only after this exception was serialised} */
  public RefitReport report() {
    return report;
  }
}

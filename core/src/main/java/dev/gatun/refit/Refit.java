package dev.gatun.refit;

import dev.gatun.backend.WeightEpoch;

/**
 * One refit, as a bracket: the gate is closed from {@code begin} until {@link #open}. Usable by any thread.
 *
 * <p>Leaving the bracket in any other way than through {@code open}, an exception included, leaves the gate as the
 * policy's {@code onFailure} says: closed, or with the store disabled. Never open.
 */
public final class Refit implements AutoCloseable {
  private final RefitRun run;
  private final Holder holder;

  Refit(RefitRun run, Holder holder) {
    this.run = run;
    this.holder = holder;
  }

  /** {@return the epoch this refit is for} */
  public WeightEpoch epoch() {
    return run.epoch();
  }

  /**
   * Removes everything old and verifies that it is gone. Blocks, up to the policy's deadline an attempt. The second
   * caller, and whoever calls after it, waits for the first and gets its report.
   *
   * @return what was done and proved so far; the gate is still closed
   */
  public RefitReport clear() {
    return run.clear();
  }

  /**
   * Ends the refit: looks once more at the master, then opens the gate if the policy accepts the outcome, and else does
   * what {@code onFailure} says. Without {@link #clear} before, nothing was removed: the outcome is FAILED. If others are
   * in a bracket for the same replica and epoch, the gate opens when the last of them calls this, and stays closed if one
   * leaves without. Calling it again changes nothing. Blocks, up to the policy's deadline.
   *
   * @return the whole report; {@link RefitReport#orThrow} turns a refused outcome into an exception, and
   *     {@link RefitReport#open} tells whether the gate is open
   * @throws IllegalStateException if the bracket was closed
   */
  public RefitReport open() {
    return run.open(holder);
  }

  /** {@return what is known now} */
  public RefitReport report() {
    return run.report();
  }

  /** Leaves the bracket; does not open anything that {@link #open} has not opened. Idempotent, does not block for long. */
  @Override
  public void close() {
    run.close(holder);
  }
}

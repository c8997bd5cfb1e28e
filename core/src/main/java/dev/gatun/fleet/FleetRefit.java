package dev.gatun.fleet;

/**
 * Makes a whole fleet's old KV unreachable and proves it: pauses all engines, resets each, empties the store once and
 * verifies that, and resumes all. Every engine is attempted, whatever becomes of the others; no phase begins before all
 * are through the one before. Unless everything is verified, all stay paused.
 *
 * <p>What engines report of their own success is shown, never believed: of a real engine, a master that was killed or
 * frozen made no difference to it. Usable by one thread, once.
 */
public final class FleetRefit {
  private final FleetConfig config;

  /**
   * Sends nothing yet.
   *
   * @param config what to refit, and how
   */
  public FleetRefit(FleetConfig config) {
    this.config = config;
  }

  /**
   * Asks the engines what they are and the store whose keys it holds, and plans. Changes nothing. Blocks, up to the deadline.
   *
   * @return {@link FleetOutcome#PLANNED} with the steps that {@link #run} would take, or {@link FleetOutcome#REFUSED}
   */
  public FleetReport plan() {
    try (FleetRun run = new FleetRun(config)) {
      return run.plan();
    }
  }

  /**
   * Refits. Blocks, up to the deadline for each attempt, then for the sentinel, for asking whether all are still paused and
   * for resuming, a quarter of it at most for each, and for the watch. It ends in a report whatever happens, an interrupt
   * among it.
   *
   * @return what was done and proved; the engines are resumed only if it is {@link FleetOutcome#VERIFIED}, and it may have
   *     become another outcome since, when something was lost or an engine did not resume
   */
  public FleetReport run() {
    try (FleetRun run = new FleetRun(config)) {
      return run.run();
    }
  }
}

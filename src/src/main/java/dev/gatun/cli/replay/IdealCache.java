package dev.gatun.cli.replay;

/**
 * What one replica with room for everything does with a trace, worked out without a store: the yardstick that the
 * report prints beside what was measured.
 *
 * @param hits blocks found by longest prefix
 * @param puts blocks stored
 * @param resets step boundaries
 * @param removedPages pages that the resets removed
 * @param peakPages most pages stored at once
 */
public record IdealCache(long hits, long puts, long resets, long removedPages, int peakPages) {

  /**
   * Works it out.
   *
   * @param trace the requests
   * @param refitEveryMillis trace time between refits, 0 for none
   * @return the figures
   */
  public static IdealCache of(Trace trace, long refitEveryMillis) {
    StepClock clock = new StepClock(trace, refitEveryMillis);
    long[] storedIn = new long[trace.distinctBlocks()]; // step + 1 in which the block was stored last; 0 is never
    long step = 0;
    long hits = 0;
    long puts = 0;
    long removed = 0;
    int stored = 0;
    int peak = 0;
    for (int request = 0; request < trace.requests(); request++) {
      if (clock.stepOf(request) != step) {
        step = clock.stepOf(request);
        removed += stored;
        stored = 0;
      }
      boolean prefix = true;
      for (int position = 0; position < trace.blockCount(request); position++) {
        int block = trace.block(request, position);
        boolean present = storedIn[block] == step + 1;
        prefix &= present;
        if (prefix) hits++;
        if (!prefix) puts++;
        if (!present) stored++;
        storedIn[block] = step + 1;
      }
      peak = Math.max(peak, stored);
    }
    return new IdealCache(hits, puts, clock.boundaries(), removed, peak);
  }
}

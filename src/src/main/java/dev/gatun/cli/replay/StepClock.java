package dev.gatun.cli.replay;

/**
 * Divides trace time into training steps: a boundary lies at each multiple of the interval, and steps are counted from
 * the one that the first request falls into.
 *
 * @param trace whose time
 * @param everyMillis interval between boundaries, 0 for a single step
 */
record StepClock(Trace trace, long everyMillis) {

  /** {@return the step of a request; the weight version in force while it runs} */
  long stepOf(int request) {
    if (everyMillis == 0) return 0;
    return trace.timestampMillis(request) / everyMillis - trace.timestampMillis(0) / everyMillis;
  }

  /** {@return boundaries between the first and the last request} */
  long boundaries() {
    return trace.requests() == 0 ? 0 : stepOf(trace.requests() - 1);
  }
}

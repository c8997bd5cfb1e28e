package dev.gatun.cli.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The refits of a run, added up. One thread. */
final class RefitTally {
  // enough to see a pattern, few enough to read
  private static final int REASONS_MAX = 5;

  private final Map<String, Long> outcomes = new TreeMap<>();
  private final List<String> reasons = new ArrayList<>();
  private final LatencyHistogram times = new LatencyHistogram();
  private long removedPages;
  private String refused = "";

  /**
   * Adds a refit.
   *
   * @param verdict what each replica said, the leader first; the leader alone if its gate stayed closed
   * @return whether all gates are open again
   */
  boolean add(List<RefitSummary> verdict) {
    RefitSummary leader = verdict.getFirst();
    outcomes.merge(leader.outcome(), 1L, Long::sum);
    times.record(leader.nanos());
    removedPages += Math.max(0, verdict.stream().mapToLong(one -> one.removed() - one.canaries()).sum());
    for (RefitSummary summary : verdict) {
      for (String reason : summary.reasons()) {
        if (reasons.size() < REASONS_MAX && !reasons.contains(reason)) reasons.add(reason);
      }
    }
    boolean open = verdict.stream().allMatch(RefitSummary::open);
    if (!open) refused = "refit " + times.count() + " ended " + leader.outcome() + " and left the gate closed";
    return open;
  }

  long count() {
    return times.count();
  }

  /** {@return pages removed by all refits, canaries not counted} */
  long removedPages() {
    return removedPages;
  }

  /** {@return how many refits ended in which way} */
  Map<String, Long> outcomes() {
    return outcomes;
  }

  /** {@return the first reasons why refits were not VERIFIED} */
  List<String> reasons() {
    return reasons;
  }

  /** {@return times from closing the gates to the verdict} */
  LatencyHistogram times() {
    return times;
  }

  /** {@return which refit left the gate closed; empty if none did} */
  String refused() {
    return refused;
  }

  /** {@return whether every refit ended VERIFIED} */
  boolean allVerified() {
    return outcomes.keySet().stream().allMatch("VERIFIED"::equals);
  }
}

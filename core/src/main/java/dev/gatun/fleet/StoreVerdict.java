package dev.gatun.fleet;

import dev.gatun.refit.RefitOutcome;
import dev.gatun.refit.RefitReport;
import java.util.List;
import java.util.Optional;

/**
 * What became of the store in one attempt.
 *
 * @param outcome what is proven of it
 * @param reached whether it answers
 * @param mayStillRemove whether a removal that was sent may be carried out later: its master is silent, not gone
 * @param reasons what keeps it from VERIFIED
 * @param report of its refit; empty if it could not be begun
 */
record StoreVerdict(RefitOutcome outcome, boolean reached, boolean mayStillRemove, List<String> reasons,
    Optional<RefitReport> report) {

  /** Whether every look at it ended with no object in it. */
  boolean seenEmpty() {
    return report.stream().flatMap(refit -> refit.stores().stream()).mapToLong(RefitReport.Store::keyCount)
        .allMatch(keys -> keys == 0) && reached && report.isPresent();
  }

  /** Objects that were seen to be left, 0 if none were seen. */
  long left() {
    return report.stream().flatMap(refit -> refit.stores().stream()).mapToLong(RefitReport.Store::keyCount)
        .filter(keys -> keys > 0).sum();
  }
}

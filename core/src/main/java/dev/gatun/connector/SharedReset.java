package dev.gatun.connector;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitReport;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The refit behind the resets of both sides: whichever comes first runs it, the other reports it too. */
final class SharedReset {
  private final RefitCoordinator coordinator;
  private final Set<ConnectorSide> told = EnumSet.noneOf(ConnectorSide.class);
  private @Nullable RefitReport last;

  SharedReset(RefitCoordinator coordinator) {
    this.coordinator = coordinator;
  }

  /** Local state goes whatever becomes of the refit; an epoch that is refused leaves it alone. */
  synchronized ResetReport reset(ConnectorSide side, WeightEpoch next, Runnable clearLocal) {
    RefitReport report = last;
    try {
      if (report == null || !report.epoch().equals(next) || !told.add(side)) {
        report = coordinator.refit(next);
        last = report;
        told.clear();
        told.add(side);
      }
    } catch (IllegalStateException | GatunException failed) {
      clearLocal.run();
      return new ResetReport(StoreConnector.NAME, side, ResetReport.Outcome.FAILED,
          "local state forgotten, store not reset: " + failed.getMessage(), Optional.empty(), List.of());
    }
    clearLocal.run();
    ResetReport.Outcome outcome = report.accepted() ? ResetReport.Outcome.RESET : ResetReport.Outcome.FAILED;
    String detail = "local state forgotten, store " + report.outcome() + ", " + report.removed() + " objects removed"
        + (report.reasons().isEmpty() ? "" : ": " + String.join("; ", report.reasons()));
    return new ResetReport(StoreConnector.NAME, side, outcome, detail, Optional.of(report), List.of());
  }

  Map<String, Long> counts() {
    return Map.of("resets", coordinator.resets(), "objects_removed", coordinator.removed(), "weight_version",
        coordinator.gate().epoch().version());
  }
}

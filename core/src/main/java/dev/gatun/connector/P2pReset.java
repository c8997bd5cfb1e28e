package dev.gatun.connector;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitReport;
import java.util.List;
import java.util.Optional;

/**
 * The reset of a connector between processes: nothing is kept anywhere, so what must end are the hand-overs of earlier
 * weights. The refit of the gate does it: the worker side takes part in it, and whichever side is reset second joins it.
 */
final class P2pReset {
  private final String name;
  private final RefitCoordinator coordinator;

  P2pReset(String name, RefitCoordinator coordinator) {
    this.name = name;
    this.coordinator = coordinator;
  }

  ResetReport reset(ConnectorSide side, WeightEpoch next) {
    try {
      RefitReport report = coordinator.refit(next);
      ResetReport.Outcome outcome = report.accepted() ? ResetReport.Outcome.RESET : ResetReport.Outcome.FAILED;
      String detail = "hand-overs of earlier weights ended, " + report.outcome()
          + (report.reasons().isEmpty() ? "" : ": " + String.join("; ", report.reasons()));
      return new ResetReport(name, side, outcome, detail, Optional.of(report), List.of());
    } catch (IllegalStateException | GatunException failed) {
      return new ResetReport(name, side, ResetReport.Outcome.FAILED, "not reset: " + failed.getMessage(),
          Optional.empty(), List.of());
    }
  }
}

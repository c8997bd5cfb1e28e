package dev.gatun.connector;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitReport;

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
      return ResetReport.of(name, side, "hand-overs of earlier weights ended, " + report.outcome(), report);
    } catch (IllegalStateException | GatunException failed) {
      return ResetReport.failed(name, side, "not reset: " + failed.getMessage());
    }
  }
}

package dev.gatun.connector;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitReport;
import java.util.EnumSet;
import java.util.Map;
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

  /**
   * Local state goes whatever becomes of the refit, which clears it where it takes place; a reset that joins it, or an epoch
   * that is refused, leaves alone what has come since.
   */
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
      return ResetReport.failed(StoreConnector.NAME, side,
          "local state forgotten, store not reset: " + failed.getMessage());
    }
    return ResetReport.of(StoreConnector.NAME, side,
        "local state forgotten, store " + report.outcome() + ", " + report.removed() + " objects removed", report);
  }

  Map<String, Long> counts() {
    return Map.of("resets", coordinator.resets(), "objects_removed", coordinator.removed(), "weight_version",
        coordinator.gate().epoch().version());
  }
}

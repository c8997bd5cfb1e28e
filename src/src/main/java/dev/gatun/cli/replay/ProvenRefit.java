package dev.gatun.cli.replay;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.Refit;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitReport;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Refits through the replica's coordinator: removal, proof, and a gate that opens only on proof. */
final class ProvenRefit implements RefitDriver {
  private final RefitCoordinator coordinator;
  private final ReplicaPort port;
  private final boolean reports;
  private @Nullable Refit refit;

  /**
   * Drives a coordinator.
   *
   * @param coordinator of the replica, alone or in a group
   * @param port counts the replica's canaries
   * @param reports whether the objects that were removed are this replica's to report: those of a group are reported once
   */
  ProvenRefit(RefitCoordinator coordinator, ReplicaPort port, boolean reports) {
    this.coordinator = coordinator;
    this.port = port;
    this.reports = reports;
  }

  @Override
  public void begin(WeightEpoch next) {
    refit = coordinator.begin(next);
  }

  @Override
  public void clear() {
    running().clear();
  }

  @Override
  public RefitSummary end() {
    try (Refit ending = running()) {
      RefitReport report = ending.open();
      boolean open = coordinator.gate().state() == EpochGate.State.OPEN; // of this replica; others open their own
      return new RefitSummary(report.outcome().name(), open, reports ? report.removed() : 0,
          port.takeCanaries(), report.nanos(), report.reasons());
    } finally {
      refit = null;
    }
  }

  private Refit running() {
    return Objects.requireNonNull(refit, "no refit has begun");
  }
}

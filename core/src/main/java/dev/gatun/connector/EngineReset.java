package dev.gatun.connector;

import dev.gatun.backend.WeightEpoch;
import java.util.List;

/**
 * What a reset of a host did.
 *
 * @param epoch the epoch of the weights to come
 * @param ownCache why the host's own cache was not cleared; empty if it was
 * @param connector reports of the connector's scheduler side and worker side; one that says so if there is no connector
 */
public record EngineReset(WeightEpoch epoch, String ownCache, List<ResetReport> connector) {
  /** Makes the list immutable. */
  public EngineReset {
    connector = List.copyOf(connector);
  }

  /** {@return whether nothing of earlier weights can be had any more} */
  public boolean succeeded() {
    return ownCache.isEmpty() && connector.stream().allMatch(ResetReport::succeeded);
  }
}

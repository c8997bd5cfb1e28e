package dev.gatun.connector;

import dev.gatun.backend.HostPort;
import dev.gatun.backend.WeightEpoch;
import java.util.List;

/**
 * The plan of a connector between processes.
 *
 * @param loads what decode takes over
 * @param offers what prefill hands out
 * @param giveUps what prefill holds for decode and decode does not want
 */
record P2pPlan(List<Load> loads, List<Offer> offers, List<Source> giveUps) implements ConnectorPlan {
  P2pPlan {
    loads = List.copyOf(loads);
    offers = List.copyOf(offers);
    giveUps = List.copyOf(giveUps);
  }

  /** Blocks {@code from} to {@code to} of a request, into these leases. */
  record Load(long number, String request, Source source, BlockTable blocks, int from, int to) {}

  /** The leading blocks of a request that has ended, for whoever names the transfer. */
  record Offer(long number, String request, String transferId, WeightEpoch epoch, BlockTable blocks, int count) {}

  /** Where decode turns to: a bootstrap service that knows the engine, or the worker itself. */
  record Source(String transferId, String engineId, String bootstrap, HostPort worker) {}

  static P2pPlan of(ConnectorPlan plan) {
    if (plan instanceof P2pPlan ours) return ours;
    throw new IllegalArgumentException(
        "plan must be that of a connector between processes: " + plan.getClass().getSimpleName());
  }

  @Override
  public boolean isEmpty() {
    return loads.isEmpty() && offers.isEmpty() && giveUps.isEmpty();
  }
}

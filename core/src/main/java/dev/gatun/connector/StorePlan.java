package dev.gatun.connector;

import java.util.List;

/**
 * The plan of a {@link StoreConnector}.
 *
 * @param loads in the order of allocation
 * @param saves in the order of the step
 */
record StorePlan(List<LoadJob> loads, List<SaveJob> saves) implements ConnectorPlan {
  StorePlan {
    loads = List.copyOf(loads);
    saves = List.copyOf(saves);
  }

  static StorePlan of(ConnectorPlan plan) {
    if (plan instanceof StorePlan ours) return ours;
    throw new IllegalArgumentException("plan must be that of a StoreConnector: " + plan.getClass().getSimpleName());
  }

  @Override
  public boolean isEmpty() {
    return loads.isEmpty() && saves.isEmpty();
  }
}

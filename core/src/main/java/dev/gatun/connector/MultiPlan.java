package dev.gatun.connector;

import java.util.List;

/**
 * The plan of a {@link MultiConnector}.
 *
 * @param plans one for each child, in order
 */
record MultiPlan(List<ConnectorPlan> plans) implements ConnectorPlan {
  MultiPlan {
    plans = List.copyOf(plans);
  }

  static MultiPlan of(ConnectorPlan plan) {
    if (plan instanceof MultiPlan ours) return ours;
    throw new IllegalArgumentException("plan must be that of a MultiConnector: " + plan.getClass().getSimpleName());
  }

  @Override
  public boolean isEmpty() {
    return plans.stream().allMatch(ConnectorPlan::isEmpty);
  }
}

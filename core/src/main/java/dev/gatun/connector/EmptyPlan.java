package dev.gatun.connector;

/** Stands for the plan of a child that could not make one. */
enum EmptyPlan implements ConnectorPlan {
  INSTANCE;

  @Override
  public boolean isEmpty() {
    return true;
  }
}

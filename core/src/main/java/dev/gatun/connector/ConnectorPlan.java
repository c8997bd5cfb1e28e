package dev.gatun.connector;

/** What the scheduler side wants done in a step. Immutable; read by the worker side of the same connector. */
public interface ConnectorPlan {
  /** {@return whether there is nothing to load and nothing to save} */
  boolean isEmpty();
}

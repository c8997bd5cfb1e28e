package dev.gatun.connector;

/** Turns the counts of one kind of connector into whatever a host's monitoring takes. */
@FunctionalInterface
public interface ConnectorMetrics {
  /**
   * Takes in a snapshot. Called on the host's delivery thread: must be fast and not block.
   *
   * @param stats of one connector, without those inside it
   */
  void observe(ConnectorStats stats);
}

package dev.gatun.connector;

/** The two sides of a connector. They may live in different processes and talk only through the values of this package. */
public enum ConnectorSide {
  /** Decides: looks up prefixes, plans loads and saves, says when blocks may be freed. */
  SCHEDULER,
  /** Moves: has the KV cache and carries plans out. */
  WORKER
}

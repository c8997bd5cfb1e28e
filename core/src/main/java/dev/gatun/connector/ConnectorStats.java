package dev.gatun.connector;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts of one side of a connector since its start. A snapshot.
 *
 * @param connector its name, by which metrics are found
 * @param side which side
 * @param counts by name, sorted; never negative
 * @param children of the connectors inside, in their order
 */
public record ConnectorStats(String connector, ConnectorSide side, Map<String, Long> counts,
    List<ConnectorStats> children) {
  /** Makes map and list immutable. */
  public ConnectorStats {
    counts = Collections.unmodifiableMap(new TreeMap<>(counts));
    children = List.copyOf(children);
  }

  /**
   * {@return a count, 0 if there is none of that name}
   *
   * @param name of the count
   */
  public long count(String name) {
    return counts.getOrDefault(name, 0L);
  }
}

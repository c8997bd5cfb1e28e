package dev.gatun.connector;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands the counts of connectors, and of those inside them, to the metrics that a host has for them. A connector without
 * metrics is skipped and counted; metrics that throw are counted too. Never throws, whoever may be at fault: on the thread
 * that delivers a request's output, that would end the request. Usable by any thread.
 */
public final class StatsDelivery {
  private static final Logger LOG = LoggerFactory.getLogger(StatsDelivery.class);

  private final Map<String, ConnectorMetrics> metrics;
  private final AtomicLong delivered = new AtomicLong();
  private final AtomicLong skipped = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();

  /**
   * Creates a delivery.
   *
   * @param metrics by the name of the connector, {@link ConnectorStats#connector}; copied
   */
  public StatsDelivery(Map<String, ? extends ConnectorMetrics> metrics) {
    this.metrics = Map.copyOf(metrics);
  }

  /**
   * Delivers. Does not block longer than the metrics do.
   *
   * @param stats of a connector; those inside it are delivered one by one
   */
  public void deliver(ConnectorStats stats) {
    ConnectorMetrics known = metrics.get(stats.connector());
    if (known != null) observe(known, stats);
    else if (stats.children().isEmpty()) skipped.incrementAndGet();
    stats.children().forEach(this::deliver);
  }

  private void observe(ConnectorMetrics known, ConnectorStats stats) {
    try {
      known.observe(stats);
      delivered.incrementAndGet();
    } catch (RuntimeException thrown) {
      failed.incrementAndGet();
      LOG.debug("metrics of {} threw", stats.connector(), thrown);
    }
  }

  /** {@return snapshots that reached their metrics} */
  public long delivered() {
    return delivered.get();
  }

  /** {@return snapshots for which there are no metrics} */
  public long skipped() {
    return skipped.get();
  }

  /** {@return snapshots whose metrics threw} */
  public long failed() {
    return failed.get();
  }
}

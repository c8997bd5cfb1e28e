package dev.gatun.connector;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Several connectors as one. Loads a request from the first, in order, that has more of its prefix than the host; saves to
 * all, and lets blocks go after the last; resets all and reports each. What one child throws does not keep the others from
 * their turn: it is counted.
 *
 * <p>Children under one gate share its refit: each store is cleared once.
 */
public final class MultiConnector implements KvConnector {
  /** The name in reports, statistics and configurations. */
  public static final String NAME = "MultiConnector";

  private final List<KvConnector> children;
  private final MultiScheduler scheduler;
  private final MultiWorker worker;

  /**
   * Joins connectors, which from now on are this one's to close.
   *
   * @param children one or more, in order of preference for loading
   * @throws IllegalArgumentException if there is none
   */
  public MultiConnector(List<? extends KvConnector> children) {
    if (children.isEmpty()) throw new IllegalArgumentException("children must be one or more: none");
    this.children = List.copyOf(children);
    scheduler = new MultiScheduler(this.children);
    worker = new MultiWorker(this.children);
  }

  /**
   * Makes the connectors that a configuration lists under {@code connectors}. If one cannot be made, those before it are
   * closed.
   *
   * @param config of a {@code MultiConnector}
   * @param open makes one child of its configuration
   * @return the connector; the caller closes it
   * @throws IllegalArgumentException if the configuration is not that of a multi connector
   */
  public static MultiConnector of(KvTransferConfig config, Function<KvTransferConfig, ? extends KvConnector> open) {
    if (config.connectors().isEmpty()) {
      throw new IllegalArgumentException("kv_connector must be " + NAME + " with connectors: "
          + config.kvConnector().orElse("none"));
    }
    List<KvConnector> children = new ArrayList<>();
    try {
      for (KvTransferConfig child : config.connectors())
        children.add(open.apply(child));
      return new MultiConnector(children);
    } catch (RuntimeException | Error e) {
      children.forEach(KvConnector::close);
      throw e;
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  /** {@return the connectors, in order} */
  public List<KvConnector> children() {
    return children;
  }

  @Override
  public SchedulerConnector scheduler() {
    return scheduler;
  }

  @Override
  public WorkerConnector worker() {
    return worker;
  }

  @Override
  public void close() {
    ChildCalls calls = new ChildCalls(ConnectorSide.WORKER);
    for (KvConnector child : children.reversed())
      calls.run(child.name(), child::close);
  }
}

package dev.gatun.connector;

import dev.gatun.refit.RefitCoordinator;
import dev.gatun.transfer.TransferEngine;

/**
 * KV from prefill to decode by pull: prefill's answer says where its pages are, decode's engine reads them, and takes them
 * as good only if prefill confirms, after the last byte, that they were the same all the time.
 *
 * <p>A request that prefills carries {@code do_remote_decode} in its transfer parameters; what
 * {@link SchedulerConnector#finished} returns goes, as it is, into the parameters of the one that decodes. Both sides must
 * be at one epoch and agree on the layout of a page.
 */
public final class NixlConnector implements KvConnector {
  /** The name in reports, statistics and configurations. */
  public static final String NAME = ConnectorNames.NIXL;

  private final P2pSides sides;

  private NixlConnector(P2pSides sides) {
    this.sides = sides;
  }

  /**
   * Opens both sides.
   *
   * @param config of a {@code NixlConnector}; role, engine id and lease duration are taken from it
   * @param engine moves the bytes for this connector alone; stays the caller's, and is closed after the connector
   * @param coordinator of the engine's gate: runs the refit behind each reset
   * @param options where to listen, how long to wait; its offer timeout gives way to {@code kv_lease_duration}
   * @return the connector; the caller closes it
   * @throws IllegalArgumentException if the coordinator is that of another gate
   * @throws IllegalStateException if no port can be listened on, or the configuration is another connector's
   */
  public static NixlConnector open(KvTransferConfig config, TransferEngine engine, RefitCoordinator coordinator,
      P2pOptions options) {
    NixlConnectorOptions extra = config.nixlOptions();
    P2pOptions leased = options.withTimeouts(options.transferTimeout(), extra.leaseDuration());
    P2pSides sides = P2pSides.open(NAME, P2pConnector.NIXL, config, engine, coordinator, extra.threads(), leased);
    sides.join();
    return new NixlConnector(sides);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public SchedulerConnector scheduler() {
    return sides.scheduler();
  }

  @Override
  public WorkerConnector worker() {
    return sides.worker();
  }

  @Override
  public void close() {
    sides.close();
  }
}

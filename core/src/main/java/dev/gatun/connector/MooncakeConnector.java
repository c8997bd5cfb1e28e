package dev.gatun.connector;

import dev.gatun.backend.HostPort;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.transfer.TransferEngine;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * KV from prefill to decode by push: decode grants room, prefill's engine writes into it and says when all is there. A
 * producing side runs a bootstrap service, through which routers learn its engine id and decode learns where it listens.
 *
 * <p>A request that prefills carries {@code do_remote_decode} and {@code transfer_id} in its transfer parameters; the one
 * that decodes carries {@code do_remote_prefill}, {@code transfer_id}, {@code remote_engine_id} and
 * {@code remote_bootstrap_addr}, as vllm-router mints them. Both sides must be at one epoch and agree on the layout of a
 * page. Room that was granted stays out of circulation until prefill has said that it writes nothing more, or is gone.
 */
public final class MooncakeConnector implements KvConnector {
  /** The name in reports, statistics and configurations. */
  public static final String NAME = ConnectorNames.MOONCAKE;

  private final P2pSides sides;
  private final @Nullable BootstrapServer bootstrap;

  private MooncakeConnector(P2pSides sides, @Nullable BootstrapServer bootstrap) {
    this.sides = sides;
    this.bootstrap = bootstrap;
  }

  /**
   * Opens both sides. Blocks for the registration with the bootstrap service.
   *
   * @param config of a {@code MooncakeConnector}; role and engine id are taken from it
   * @param engine moves the bytes for this connector alone; stays the caller's, and is closed after the connector
   * @param coordinator of the engine's gate: runs the refit behind each reset
   * @param options where to listen, how long to wait
   * @return the connector; the caller closes it
   * @throws IllegalArgumentException if the coordinator is that of another gate
   * @throws IllegalStateException if a port is taken, the bootstrap service refuses, or the configuration is another
   *     connector's
   */
  public static MooncakeConnector open(KvTransferConfig config, TransferEngine engine, RefitCoordinator coordinator,
      P2pOptions options) {
    MooncakeConnectorOptions extra = config.mooncakeOptions();
    P2pSides sides = P2pSides.open(NAME, P2pConnector.MOONCAKE, config, engine, coordinator, extra.workers(), options);
    BootstrapServer own = null;
    try {
      if (config.produces()) {
        HostPort service = extra.bootstrapServerAddress().orElse(null);
        if (service == null) {
          own = BootstrapServer.start(options.host(), options.bootstrapPort());
          service = new HostPort(options.host(), own.port());
        }
        sides.worker().bootstrap().register(service, config.engineId(), sides.worker().address());
      }
    } catch (RuntimeException | Error e) {
      if (own != null) own.close();
      sides.close();
      throw e;
    }
    sides.join();
    return new MooncakeConnector(sides, own);
  }

  /** {@return the port of the bootstrap service that runs here: what the router is told; empty on a consuming side} */
  public Optional<Integer> bootstrapPort() {
    return Optional.ofNullable(bootstrap).map(BootstrapServer::port);
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
    if (bootstrap != null) bootstrap.close();
    sides.close();
  }
}

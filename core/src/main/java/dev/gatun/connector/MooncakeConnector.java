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

  private final TransferEngine engine;
  private final P2pWorker worker;
  private final P2pScheduler scheduler;
  private final @Nullable BootstrapServer bootstrap;

  private MooncakeConnector(KvTransferConfig config, TransferEngine engine, RefitCoordinator coordinator,
      P2pOptions options) {
    this.engine = engine;
    MooncakeConnectorOptions extra = config.mooncakeOptions();
    P2pReset reset = new P2pReset(NAME, coordinator);
    worker = new P2pWorker(NAME, P2pConnector.MOONCAKE, engine, extra.workers(), options, reset);
    scheduler = new P2pScheduler(NAME, P2pConnector.MOONCAKE, config, worker.address(), reset);
    boolean own = config.produces() && extra.bootstrapServerAddress().isEmpty();
    bootstrap = own ? BootstrapServer.start(options.host(), options.bootstrapPort()) : null;
    if (config.produces()) {
      HostPort service = extra.bootstrapServerAddress()
          .orElseGet(() -> new HostPort(options.host(), bootstrap == null ? 0 : bootstrap.port()));
      worker.bootstrap().register(service, config.engineId(), worker.address());
    }
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
    if (coordinator.gate() != engine.gate()) {
      throw new IllegalArgumentException("coordinator must be that of the gate of " + engine.name());
    }
    MooncakeConnector connector = new MooncakeConnector(config, engine, coordinator, options);
    engine.gate().register(connector.worker);
    return connector;
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
    return scheduler;
  }

  @Override
  public WorkerConnector worker() {
    return worker;
  }

  @Override
  public void close() {
    engine.gate().unregister(worker);
    if (bootstrap != null) bootstrap.close();
    worker.close();
  }
}

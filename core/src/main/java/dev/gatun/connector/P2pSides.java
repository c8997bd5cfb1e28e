package dev.gatun.connector;

import dev.gatun.refit.RefitCoordinator;
import dev.gatun.transfer.TransferEngine;

/** Both sides of a connector between processes, which take part in the refits of the engine's gate. */
record P2pSides(TransferEngine engine, P2pScheduler scheduler, P2pWorker worker) implements AutoCloseable {

  /** Opens the worker side's port; takes part in nothing yet. */
  static P2pSides open(String name, P2pConnector kind, KvTransferConfig config, TransferEngine engine,
      RefitCoordinator coordinator, int threads, P2pOptions options) {
    if (coordinator.gate() != engine.gate()) {
      throw new IllegalArgumentException("coordinator must be that of the gate of " + engine.name());
    }
    P2pReset reset = new P2pReset(name, coordinator);
    P2pWorker worker = new P2pWorker(name, kind, engine, threads, options, reset);
    return new P2pSides(engine, new P2pScheduler(name, kind, config, worker.address(), reset), worker);
  }

  void join() {
    engine.gate().register(scheduler);
    engine.gate().register(worker);
  }

  @Override
  public void close() {
    engine.gate().unregister(scheduler);
    engine.gate().unregister(worker);
    worker.close();
  }
}

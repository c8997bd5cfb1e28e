package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.connector.PeerMessage.Refused;
import dev.gatun.memory.BlockPool;
import dev.gatun.transfer.Handovers;
import dev.gatun.transfer.TransferEngine;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The moving side of a connector between processes: answers peers, and takes over what other engines computed. */
final class P2pWorker implements WorkerConnector, Quiescable, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(P2pWorker.class);
  // 1 ms: how late the end of the last transfer is seen when closing
  private static final long DOUBT_LOOK_NANOS = 1_000_000;

  private final String name;
  private final P2pConnector kind;
  private final TransferEngine engine;
  private final Handovers handovers;
  private final P2pOptions options;
  private final P2pReset reset;
  private final TransferLog log = new TransferLog();
  private final Counts counts = new Counts("loads", "loads_failed", "blocks_loaded", "bytes_loaded", "blocks_pushed",
      "bytes_pushed", "pushes_failed", "blocks_pulled", "peer_refusals", "give_ups", "give_ups_lost");
  private final Offers offers;
  private final BootstrapClient bootstrap = new BootstrapClient();
  private final PeerConnections connections;
  private final Revocations revocations = new Revocations();
  private final GiveUps giveUps = new GiveUps(bootstrap, counts);
  private final P2pLoads loads;
  // apart from loads, since one may wait for a push of the engine that waits for a push of this one
  private final Semaphore pushes;
  private final PeerServer server;
  private volatile @Nullable Cache cache;

  /** What is there once the host's cache is known. */
  private record Cache(P2pSite site, boolean registeredHere, P2pLoads.Sink sink, PushServing push, PullServing pull) {}

  P2pWorker(String name, P2pConnector kind, TransferEngine engine, int threads, P2pOptions options, P2pReset reset) {
    this.name = name;
    this.kind = kind;
    this.engine = engine;
    handovers = Handovers.over(engine);
    this.options = options;
    this.reset = reset;
    offers = new Offers(name, log);
    connections = new PeerConnections(threads);
    loads = new P2pLoads(name, options.transferTimeout(), threads, log, counts, giveUps);
    pushes = new Semaphore(threads, true);
    try {
      server = PeerServer.start(options.host(), handovers::openLine, this::answer);
    } catch (RuntimeException | Error e) {
      loads.close();
      bootstrap.close();
      handovers.close();
      throw e;
    }
  }

  /** {@return where peers reach this side} */
  HostPort address() {
    return server.address();
  }

  BootstrapClient bootstrap() {
    return bootstrap;
  }

  @Override
  public void registerCache(BlockPool pool) {
    if (cache != null) throw new IllegalStateException("a cache is registered already: " + pool.name());
    if (pool.gate() != engine.gate()) {
      throw new IllegalArgumentException("cache must be under the engine's gate: " + pool.name());
    }
    boolean here = !isRegistered(pool);
    P2pSite site = P2pSite.of(handovers, pool, options);
    P2pLoads.Sink sink = kind == P2pConnector.MOONCAKE
        ? new PushSink(site, bootstrap, connections, revocations)
        : new PullSink(site, connections);
    cache = new Cache(site, here, sink, new PushServing(site, offers, pushes, counts),
        new PullServing(site, offers, counts));
  }

  /** Registers the slab, unless the host has done so for other use. */
  private boolean isRegistered(BlockPool pool) {
    try {
      engine.register(pool.slab());
      return false;
    } catch (IllegalStateException already) {
      return true;
    }
  }

  @Override
  public void startLoad(ConnectorPlan plan) {
    P2pPlan ours = P2pPlan.of(plan);
    Cache known = requireCache();
    ours.loads().forEach(load -> loads.start(load, known.sink, known.site.pool().pageBytes()));
    ours.giveUps().forEach(giveUps::send);
  }

  @Override
  public void save(ConnectorPlan plan) {
    P2pPlan ours = P2pPlan.of(plan);
    requireCache();
    ours.offers().forEach(offer -> offers.add(offer, Deadline.after(options.offerTimeout())));
  }

  @Override
  public boolean awaitLoads(Deadline deadline) {
    return log.awaitLoads(deadline);
  }

  @Override
  public boolean awaitSaves(Deadline deadline) {
    return offers.awaitEnd(deadline);
  }

  @Override
  public FinishedTransfers finished() {
    offers.expire();
    return log.take();
  }

  @Override
  public ResetReport resetCache(WeightEpoch next) {
    return reset.reset(ConnectorSide.WORKER, next);
  }

  @Override
  public ConnectorStats stats() {
    Map<String, Long> now = new HashMap<>(counts.snapshot());
    now.put("transfers_open", (long) log.open());
    now.put("revocations_open", (long) revocations.open());
    now.put("grants_open", (long) handovers.open());
    now.put("connections_open", (long) server.connections());
    now.put("connections_kept", (long) connections.kept());
    return new ConnectorStats(name, ConnectorSide.WORKER, now, List.of());
  }

  private PeerMessage answer(PeerMessage message) {
    PeerMessage answer = answerOrRefuse(message);
    if (answer instanceof Refused) counts.add("peer_refusals", 1);
    return answer;
  }

  private PeerMessage answerOrRefuse(PeerMessage message) {
    Cache known = cache;
    if (known == null) return new Refused("no cache is registered yet");
    try {
      return switch (message) {
        case PeerMessage.Room room -> known.push.push(room);
        case PeerMessage.Ask ask -> known.pull.where(ask);
        case PeerMessage.Confirm confirm -> known.pull.confirm(confirm);
        case PeerMessage.Forget forget -> {
          offers.forget(forget.transferId());
          yield new PeerMessage.Done();
        }
        default -> new Refused("not a question: " + message.getClass().getSimpleName());
      };
    } catch (GatunException | IllegalStateException failed) {
      return new Refused(String.valueOf(failed.getMessage()));
    }
  }

  @Override
  public String name() {
    return name + " worker side of " + engine.name();
  }

  /** Ends offers of earlier weights, and the wait of loads; their grants are taken back by the hand-overs themselves. */
  @Override
  public int failQueued() {
    String reason = "a reset came before it was handed over";
    return offers.endAll(reason) + loads.endAll(reason);
  }

  @Override
  public List<String> drain(Deadline deadline) {
    return log.awaitLoads(deadline) && log.awaitSaves(deadline) ? List.of() : List.of(log.open() + " hand-overs");
  }

  @Override
  public void clearLocal() {}

  /**
   * Idempotent; may be called again. The port is closed last: to a peer, one that refuses means that nothing of this side
   * is being written any more. So after a push that failed in a library which cannot tell it stays until the engine is
   * destroyed.
   */
  @Override
  public void close() {
    offers.close();
    loads.close();
    Deadline deadline = Deadline.after(options.transferTimeout());
    if (!log.awaitLoads(deadline) || !log.awaitSaves(deadline) || !awaitCertainty(deadline)) {
      LOG.warn("{} is not closed: {} hand-overs have not ended, {} transfers are in doubt", name(), log.open(),
          engine.inDoubt());
      return;
    }
    revocations.close();
    connections.close();
    bootstrap.close();
    handovers.close();
    if (!handovers.whenStill(server::close)) {
      LOG.info("{}: port {} stays open until the engine is destroyed: what a failed push had sent may still land",
          name(),
          server.address());
    }
    Cache known = cache;
    if (known == null) return;
    // a close of the engine or of the pool has ended the registration
    boolean registered = known.registeredHere && engine.registrations() > 0 && !known.site.pool().isClosed();
    if (registered) unregister(known.site.pool());
    cache = null;
  }

  /** What peers may still touch goes with the engine; what the host's own transfers use is for the host to end. */
  private void unregister(BlockPool pool) {
    try {
      engine.unregister(pool.slab());
    } catch (InUseException inUse) {
      if (handovers.open() == 0) throw inUse;
      LOG.warn("{}: {}; it goes with the engine", name(), inUse.getMessage());
    }
  }

  /** A push that missed its deadline is reported as failed and may still write. */
  private boolean awaitCertainty(Deadline deadline) {
    while (engine.inDoubt() > 0) {
      if (deadline.reached()) return false;
      LockSupport.parkNanos(DOUBT_LOOK_NANOS);
    }
    return true;
  }

  private Cache requireCache() {
    Cache known = cache;
    if (known == null) throw new IllegalStateException("no cache is registered: call registerCache first");
    return known;
  }
}

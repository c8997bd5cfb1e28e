package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.connector.P2pPlan.Load;
import dev.gatun.connector.PeerMessage.Refused;
import dev.gatun.memory.BlockPool;
import dev.gatun.transfer.Handovers;
import dev.gatun.transfer.TransferEngine;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;
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
      "bytes_pushed", "pushes_failed", "blocks_pulled", "peer_refusals");
  private final Offers offers;
  private final BootstrapClient bootstrap = new BootstrapClient();
  private final Revocations revocations = new Revocations();
  private final Set<PeerConnection> running = ConcurrentHashMap.newKeySet();
  // two, since a load may wait for a push of the engine that waits for a push of this one
  private final ExecutorService loaders;
  private final ExecutorService pushers;
  private final PeerServer server;
  private volatile @Nullable Cache cache;

  /** Decode's side of a hand-over. */
  interface Sink {
    /** Takes one load over. {@return why it failed, empty if every page is there} */
    String load(Load load, Deadline deadline, Consumer<PeerConnection> running);
  }

  /** What is there once the host's cache is known. */
  private record Cache(P2pSite site, boolean registeredHere, Sink sink, PushServing push, PullServing pull) {}

  P2pWorker(String name, P2pConnector kind, TransferEngine engine, int threads, P2pOptions options, P2pReset reset) {
    this.name = name;
    this.kind = kind;
    this.engine = engine;
    handovers = Handovers.over(engine);
    this.options = options;
    this.reset = reset;
    offers = new Offers(name, log);
    // what they call may block in native code, so they are no virtual threads
    loaders = Executors.newFixedThreadPool(threads, Thread.ofPlatform().daemon().name("gatun-load-", 0).factory());
    pushers = Executors.newFixedThreadPool(threads, Thread.ofPlatform().daemon().name("gatun-push-", 0).factory());
    server = PeerServer.start(options.host(), this::answer);
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
    Sink sink = kind == P2pConnector.MOONCAKE ? new PushSink(site, bootstrap, revocations) : new PullSink(site);
    cache = new Cache(site, here, sink, new PushServing(site, offers, pushers, counts),
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
    for (Load load : ours.loads()) {
      log.beginLoad();
      counts.add("loads", 1);
      try {
        loaders.execute(() -> load(known, load));
      } catch (RejectedExecutionException closed) {
        end(load, "the connector is closed");
      }
    }
  }

  private void load(Cache known, Load load) {
    String failure;
    PeerConnection[] open = new PeerConnection[1];
    try {
      failure = known.sink.load(load, Deadline.after(options.transferTimeout()), connection -> {
        open[0] = connection;
        running.add(connection);
      });
    } catch (GatunException | IllegalStateException | IllegalArgumentException refused) {
      failure = String.valueOf(refused.getMessage());
    } finally {
      if (open[0] != null) running.remove(open[0]);
    }
    end(load, failure);
  }

  private void end(Load load, String failure) {
    int blocks = load.to() - load.from();
    if (failure.isEmpty()) {
      counts.add("blocks_loaded", blocks);
      Cache known = cache;
      if (known != null) counts.add("bytes_loaded", blocks * known.site.pool().pageBytes());
    } else {
      counts.add("loads_failed", 1);
    }
    List<Integer> missing = failure.isEmpty() ? List.of() : IntStream.range(load.from(), load.to()).boxed().toList();
    log.end(new FinishedTransfers.Load(name, load.request(), load.number(), missing, failure));
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
    return log.awaitSaves(deadline);
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
    int ended = offers.endAll("a reset came before it was handed over");
    for (PeerConnection connection : running) {
      connection.close();
      ended++;
    }
    return ended;
  }

  @Override
  public List<String> drain(Deadline deadline) {
    return log.awaitLoads(deadline) && log.awaitSaves(deadline) ? List.of() : List.of(log.open() + " hand-overs");
  }

  @Override
  public void clearLocal() {}

  /**
   * Idempotent; may be called again. The port is closed last: to a peer, one that refuses means that nothing of this side
   * is being written any more.
   */
  @Override
  public void close() {
    offers.close();
    running.forEach(PeerConnection::close);
    loaders.shutdown();
    Deadline deadline = Deadline.after(options.transferTimeout());
    if (!log.awaitLoads(deadline) || !log.awaitSaves(deadline) || !awaitCertainty(deadline)) {
      LOG.warn("{} is not closed: {} hand-overs have not ended, {} transfers are in doubt", name(), log.open(),
          engine.inDoubt());
      return;
    }
    pushers.shutdown();
    revocations.close();
    bootstrap.close();
    handovers.close();
    server.close();
    Cache known = cache;
    if (known == null) return;
    cache = null;
    if (known.registeredHere && !known.site.pool().isClosed()) engine.unregister(known.site.pool().slab());
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

package dev.gatun.cli.replay;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KvStore;
import dev.gatun.store.StoreBatch;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A replica in this process: its own store handle, gate, coordinator and pool. */
final class LocalReplica implements Replica {
  // 6 s: more than a call takes to fail where connections are refused, 4.3 s
  private static final Duration BROKEN_DEADLINE = Duration.ofSeconds(6);

  private final ReplicaSettings settings;
  private final Trace trace;
  private final StepClock clock;
  private final boolean fleet;
  private final EpochGate gate;
  private final ReplicaFigures figures = new ReplicaFigures();
  private final Outage outage = new Outage();
  private int nextRequest;
  private long startNanos = -1;
  private volatile long requestsDone;
  private volatile boolean cancelled;
  private @Nullable Parts parts;
  private @Nullable ForeignClient foreign;

  /** What exists while the store is open. */
  private record Parts(KvStore store, BlockPool pool, ReplicaPages pages, RequestRunner runner,
      @Nullable RefitCoordinator coordinator, RefitDriver driver) {}

  private LocalReplica(ReplicaSettings settings, Trace trace, boolean fleet) {
    this.settings = settings;
    this.trace = trace;
    this.fleet = fleet;
    clock = new StepClock(trace, settings.refitEveryMillis());
    gate = new EpochGate(ReplayRun.epoch(0));
    nextRequest = settings.index();
  }

  /** {@return a replica that shares the trace, and a refit group, with others of this process} */
  static LocalReplica beside(ReplicaSettings settings, Trace trace) {
    return new LocalReplica(settings, trace, false);
  }

  /**
   * {@return a replica that is alone in its process, one of a fleet whose first one removes for all}
   *
   * @throws IllegalArgumentException if the trace cannot be read
   */
  static LocalReplica alone(ReplicaSettings settings) {
    try {
      return new LocalReplica(settings, settings.trace().load(), true);
    } catch (TraceException changed) {
      throw new IllegalArgumentException(changed.getMessage(), changed);
    }
  }

  @Override
  public void open() {
    KvStore store = KvStore.open(settings.store(), settings.codec(), gate, Observer.NONE);
    RefitStore own = store.refitPort();
    ReplicaPort port = new ReplicaPort(own, settings.fault(), this::putForeignPages);
    gate.unregister(own);
    gate.register(removes() ? port : new FencedPart(port));
    BlockPool pool = BlockPool.allocate(
        new PoolLayout(settings.pageBytes(), settings.batchPages(), settings.codec().headerBytes()), gate);
    store.register(pool.slab());
    StoreBatch batch = store.batch(pool, settings.batchPages());
    ReplicaPages pages = pages(store, pool);
    RequestRunner runner = new RequestRunner(trace, pool, pages, batch, settings.batchPages(), figures, outage);
    RefitCoordinator coordinator = settings.proof()
        ? new RefitCoordinator(gate, removes() ? List.of(port) : List.of(), policy(), Observer.NONE)
        : null;
    RefitDriver driver = coordinator == null
        ? new UnprovenRefit(gate, port)
        : new ProvenRefit(coordinator, port, settings.index() == 0);
    parts = new Parts(store, pool, pages, runner, coordinator, driver);
  }

  private ReplicaPages pages(KvStore store, BlockPool pool) {
    if (settings.device() == ReplayDevice.NONE) return new HostPages(pool, settings.batchPages());
    try {
      return new DevicePages(settings.device(), pool, settings.batchPages());
    } catch (RuntimeException | Error noDevice) {
      store.unregister(pool.slab());
      pool.close();
      store.close();
      throw noDevice;
    }
  }

  // In a fleet the first replica clears the store for all; in one process the refit group sees to it.
  private boolean removes() {
    return !fleet || settings.index() == 0 || !settings.proof();
  }

  private RefitPolicy policy() {
    // The other replicas of a fleet are fenced by the step barrier, which no coordinator sees.
    RefitPolicy policy = policy(settings.fault());
    return fleet && settings.replicas() > 1 ? policy.withOtherClients(RefitPolicy.OtherClients.FENCED) : policy;
  }

  /** {@return the policy of refits: the defaults, with less patience where they are broken on purpose} */
  static RefitPolicy policy(Fault fault) {
    return fault == Fault.NONE ? RefitPolicy.DEFAULT : RefitPolicy.DEFAULT.withDeadline(BROKEN_DEADLINE);
  }

  /** {@return the coordinator, for a refit group; none if the proof is switched off} */
  @Nullable
  RefitCoordinator coordinator() {
    return opened().coordinator();
  }

  @Override
  public boolean runStep(long step) {
    if (startNanos < 0) startNanos = System.nanoTime();
    while (nextRequest < trace.requests() && clock.stepOf(nextRequest) == step && !cancelled && !outage.isTotal()) {
      settings.speed().await(startNanos, trace.offsetMillis(nextRequest));
      opened().runner().run(nextRequest, gate.epoch().version());
      nextRequest += settings.replicas();
      requestsDone = figures.get(Figure.REQUESTS);
    }
    if (outage.isTotal()) figures.outage(outage.text());
    return !outage.isTotal();
  }

  @Override
  public void beginRefit(WeightEpoch next) {
    if (settings.fault() == Fault.LATE_FOREIGN_PUT && settings.index() == 0 && foreign == null) {
      foreign = new ForeignClient(settings, trace, gate.epoch());
    }
    opened().driver().begin(next);
  }

  @Override
  public void clear() {
    opened().driver().clear();
  }

  @Override
  public RefitSummary endRefit() {
    if (!settings.proof()) putForeignPages();
    return opened().driver().end();
  }

  /** Once a refit, in the first replica: pages of the first request to come, as the weights before the refit make them. */
  private void putForeignPages() {
    ForeignClient client = foreign;
    if (client == null || nextRequest >= trace.requests()) return;
    foreign = null;
    try (client) {
      client.put(nextRequest);
    }
  }

  @Override
  public ReplicaFigures figures() {
    figures.finish();
    return figures;
  }

  @Override
  public long requestsDone() {
    return requestsDone;
  }

  @Override
  public void cancel() {
    cancelled = true;
  }

  @Override
  public void close() {
    if (foreign != null) foreign.close();
    Parts open = parts;
    if (open == null) return;
    parts = null;
    open.store().unregister(open.pool().slab());
    open.pages().close();
    open.pool().close();
    open.store().close();
  }

  private Parts opened() {
    return Objects.requireNonNull(parts, "the store is not open");
  }
}

package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineNotification;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.memory.BlockPool;
import dev.gatun.transfer.HandoverMessage.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hand-overs of KV pages between two processes: a grant, the transfer, a commit, all of one weight epoch. One-sided
 * transfers cannot be refused when they land, so both sides refuse another epoch at the grant, and neither uses or reuses
 * a block before it is known that nothing can change it any more.
 *
 * <p>The granter calls {@link #grantPush} or {@link #offer} and hands the {@link Grant} over out of band; the grantee
 * calls {@link #push} or {@link #pull}. All else goes through the messages of the engine, which this keeps from
 * {@link TransferEngine#pollNotification}. A refit takes every grant back.
 *
 * <p>One for each engine. Usable by any thread; what blocks says so. Longer than most classes because each of its few
 * operations carries its contract.
 */
public final class Handovers implements AutoCloseable, Quiescable {
  private static final Logger LOG = LoggerFactory.getLogger(Handovers.class);
  // 200 us while something is open, 5 ms otherwise: how late a message of a peer is seen that nobody waits for;
  // whoever waits looks by itself. Unmeasured defaults
  private static final long OPEN_NANOS = 200_000;
  private static final long IDLE_NANOS = 5_000_000;
  private static final Duration LEASE_MAX = Duration.ofHours(24);

  final TransferEngine engine;
  final EpochGate gate;
  private final EngineCore core;
  private final Map<UUID, PushTarget> targets = new ConcurrentHashMap<>();
  private final Map<UUID, PullSource> sources = new ConcurrentHashMap<>();
  private final Map<UUID, RegisteredMemory> memories = new ConcurrentHashMap<>();
  private final Map<UUID, Outgoing> outgoing = new ConcurrentHashMap<>();
  private final Peers peers;
  private final BoundedCalls calls;
  private volatile boolean closed;
  private volatile boolean gone;

  private Handovers(TransferEngine engine) {
    this.engine = engine;
    core = engine.core();
    gate = engine.gate();
    peers = new Peers(engine);
    calls = new BoundedCalls("hand-overs of " + core.name());
    engine.inbox().route(this::take);
    core.afterwards.add(this::engineGone);
    gate.register(this);
    Thread.ofPlatform().daemon().name("gatun-handover " + engine.name()).start(this::watch);
  }

  /**
   * Lets an engine hand over pages.
   *
   * @param engine stays the caller's; to be closed after this
   * @return hand-overs, registered with the engine's gate; the caller closes it
   * @throws IllegalStateException if the engine has hand-overs already: share those
   */
  public static Handovers over(TransferEngine engine) {
    if (!engine.core().handedOver.compareAndSet(false, true)) {
      throw new IllegalStateException(engine.name() + " has hand-overs already; share those");
    }
    return new Handovers(engine);
  }

  /**
   * Lets a peer fill blocks. They hold nothing of use until the peer has committed.
   *
   * @param pool on a registered slab, under the engine's gate
   * @param blocks leases of the epoch in force, in the order in which the peer names its own; the caller keeps them
   * @param layout digest of what a page holds and how; the peer must have the same
   * @param lease how long the peer has, above 0 and at most a day; then the grant is revoked
   * @return the target, and in it the grant for the peer
   * @throws GateClosedException if a refit is running
   * @throws IllegalStateException if a block is in a transfer, or not of the epoch in force; none is granted
   * @throws IllegalArgumentException if there are no blocks, or the pool does not fit
   * @throws ClosedException if this or the engine is closed
   */
  public PushTarget grantPush(BlockPool pool, long[] blocks, String layout, Duration lease) {
    return granted(pool, blocks, lease, (own, memory) -> {
      Grant grant = grant(Grant.Direction.PUSH, pool, own, layout);
      PushTarget.begin(pool, own);
      PushTarget target = new PushTarget(this, pool, own, grant, Deadline.after(lease));
      memories.put(grant.id(), memory);
      targets.put(grant.id(), target);
      return target;
    });
  }

  /**
   * Lets a peer read blocks. While the offer lasts they do not become free, whoever releases them, and cannot be written.
   *
   * @param pool on a registered slab, under the engine's gate
   * @param blocks leases of the epoch in force, computed; the caller keeps them
   * @param layout digest of what a page holds and how; the peer must have the same
   * @param lease how long the peer has, above 0 and at most a day; then the offer ends
   * @return the source, and in it the grant for the peer; see {@link #grantPush} for what is thrown
   */
  public PullSource offer(BlockPool pool, long[] blocks, String layout, Duration lease) {
    return granted(pool, blocks, lease, (own, memory) -> {
      Grant grant = grant(Grant.Direction.PULL, pool, own, layout);
      PullSource.begin(pool, own);
      PullSource source = new PullSource(this, pool, own, grant, Deadline.after(lease));
      memories.put(grant.id(), memory);
      sources.put(grant.id(), source);
      return source;
    });
  }

  /**
   * Fills the blocks of a peer's grant and commits. Blocks for the transfer and two round trips.
   *
   * @param grant from the peer, of direction push
   * @param layout digest of what a page holds and how
   * @param pool on a registered slab, under the engine's gate, with pages of the size of the peer's
   * @param blocks leases of the epoch in force, as many as the grant has, in its order
   * @param deadline when to give up
   * @return {@link HandoverOutcome#COMMITTED} once the peer was told that all has landed; REFUSED if it has another epoch
   *     in force or does not know the grant; REVOKED if it took the grant back, or a refit began here; ABORTED if a
   *     transfer failed or the peer does not answer; IN_DOUBT if bytes may still move: the peer is told when they cannot
   * @throws IllegalArgumentException if direction, layout, page size or number of blocks differ, naming both values
   * @throws GatunException if the peer cannot be reached or a refit is running
   */
  public HandoverOutcome push(Grant grant, String layout, BlockPool pool, long[] blocks, Deadline deadline) {
    return new Carrier(this, grant, Grant.Direction.PUSH, layout, pool, blocks, deadline).push();
  }

  /**
   * Reads the blocks of a peer's offer, and has the peer confirm that they were still what it offered. Blocks for the
   * transfer and two round trips. Until the outcome is COMMITTED the blocks here hold nothing of use.
   *
   * @param grant from the peer, of direction pull
   * @param layout digest of what a page holds and how
   * @param pool on a registered slab, under the engine's gate, with pages of the size of the peer's
   * @param blocks leases of the epoch in force, as many as the grant has, in its order
   * @param deadline when to give up
   * @return {@link HandoverOutcome#COMMITTED} if the pages can be used; SOURCE_CHANGED if the peer does not confirm them,
   *     or does not answer; otherwise as {@link #push}
   * @throws IllegalArgumentException if direction, layout, page size or number of blocks differ, naming both values
   * @throws GatunException if the peer cannot be reached or a refit is running
   */
  public HandoverOutcome pull(Grant grant, String layout, BlockPool pool, long[] blocks, Deadline deadline) {
    return new Carrier(this, grant, Grant.Direction.PULL, layout, pool, blocks, deadline).pull();
  }

  /** {@return grants and offers of this side that have not ended, those included whose peer has not answered a revoke} */
  public int open() {
    return targets.size() + sources.size();
  }

  @Override
  public String name() {
    return "hand-overs of " + core.name();
  }

  /** Takes back every grant and every offer: they are of old weights. */
  @Override
  public int failQueued() {
    int open = open();
    targets.values().forEach(PushTarget::revoke);
    sources.values().forEach(PullSource::withdraw);
    return open;
  }

  /** Nothing to wait for: what peers may still write lands in quarantine, what they still read is not confirmed. */
  @Override
  public List<String> drain(Deadline deadline) {
    return List.of();
  }

  /** Again, since a grant may have slipped in before the gate closed. */
  @Override
  public void clearLocal() {
    failQueued();
  }

  /**
   * Takes back every grant and offer, and ends. Does not wait for peers: blocks that they may still write stay in
   * quarantine until the engine is destroyed or they have answered. Idempotent.
   */
  @Override
  public void close() {
    if (closed) return;
    failQueued();
    closed = true;
    gate.unregister(this);
  }

  void await(BooleanSupplier condition, Deadline deadline) {
    Backoff backoff = new Backoff();
    backoff.reset();
    while (!condition.getAsBoolean() && !deadline.reached() && !Thread.currentThread().isInterrupted()) {
      receive();
      if (condition.getAsBoolean()) return;
      backoff.pause(deadline.remainingNanos());
    }
  }

  /** Sends without making anybody wait; what cannot be delivered is logged, the other side then runs into its lease. */
  void tell(String peer, HandoverMessage message) {
    try {
      calls.start(() -> {
        try {
          core.backend.notify(peers.byName(peer).id(), message.encode());
        } catch (GatunException e) {
          LOG.warn("{} was not told {} of hand-over {}: {}", peer, message.kind(), message.id(), e.getMessage());
        }
      });
    } catch (TooManyRequestsException | ClosedException e) {
      LOG.warn("{} was not told {} of hand-over {}: {}", peer, message.kind(), message.id(), e.getMessage());
    }
  }

  void forget(UUID id) {
    targets.remove(id);
    sources.remove(id);
    RegisteredMemory memory = memories.remove(id);
    if (memory != null) memory.end();
  }

  Peers peers() {
    return peers;
  }

  Map<UUID, Outgoing> outgoing() {
    return outgoing;
  }

  void requireOpen(String operation) {
    if (closed) throw new ClosedException(operation + " refused: the " + name() + " are closed");
    core.requireOpen(operation);
  }

  private interface Making<T> {
    /** Marks the blocks, and remembers the memory before the grant can be found. */
    T make(long[] own, RegisteredMemory memory);
  }

  private <T> T granted(BlockPool pool, long[] blocks, Duration lease, Making<T> making) {
    requireOpen("grant");
    if (lease.isNegative() || lease.isZero() || lease.compareTo(LEASE_MAX) > 0) {
      throw new IllegalArgumentException("lease must be above 0 and at most " + LEASE_MAX + ": " + lease);
    }
    if (pool.gate() != gate) throw new IllegalArgumentException("pool must be under the engine's gate: " + pool.name());
    RegisteredMemory memory = core.memory.require(pool.slab());
    int ticket = gate.enter("grant");
    try {
      memory.begin("grant");
      boolean made = false;
      try {
        T granted = making.make(blocks.clone(), memory);
        made = true;
        return granted;
      } finally {
        if (!made) memory.end();
      }
    } finally {
      gate.exit(ticket);
    }
  }

  private Grant grant(Grant.Direction direction, BlockPool pool, long[] blocks, String layout) {
    long[] addresses = new long[blocks.length];
    for (int i = 0; i < blocks.length; i++)
      addresses[i] = pool.blockAddress(blocks[i]) + pool.headerBytes();
    return new Grant(UUID.randomUUID(), direction, gate.epoch(), layout, engine.descriptor(), pool.pageBytes(),
        addresses);
  }

  private void watch() {
    while (!gone && !(closed && open() + outgoing.size() + calls.running() == 0)) {
      try {
        receive();
        targets.values().stream().filter(PushTarget::expired).forEach(PushTarget::revoke);
        sources.values().stream().filter(PullSource::expired).forEach(PullSource::withdraw);
      } catch (GatunException e) {
        // the engine is being closed, or does not answer: what is open is still to be looked after
        LOG.debug("{}: {}", name(), e.getMessage());
      }
      LockSupport.parkNanos(this, open() + outgoing.size() > 0 ? OPEN_NANOS : IDLE_NANOS);
    }
    peers.close();
    calls.close();
    core.handedOver.set(false);
  }

  private void receive() {
    engine.inbox().receive();
  }

  private boolean take(EngineNotification notification) {
    HandoverMessage message = HandoverMessage.decode(notification.message());
    if (message == null) return false;
    String from = notification.from();
    switch (message.kind()) {
      case ACCEPT -> accept(from, message);
      case COMMIT -> commit(from, message);
      case ABORTED -> {
        PushTarget target = targets.get(message.id());
        PullSource source = sources.get(message.id());
        if (target != null) target.aborted(from);
        if (source != null) source.aborted(from);
      }
      case REVOKE -> revoke(from, message);
      case ACCEPTED, REFUSED, CONFIRMED, CHANGED -> {
        Outgoing mine = outgoing.get(message.id());
        if (mine != null && mine.peer.name().equals(from)) mine.answer(message.kind());
      }
    }
    return true;
  }

  private void accept(String from, HandoverMessage message) {
    SegmentDescriptor descriptor;
    try {
      descriptor = SegmentDescriptor.parse(message.payload());
    } catch (IllegalArgumentException e) {
      LOG.warn("{} sent no descriptor with hand-over {}: {}", from, message.id(), e.getMessage());
      return;
    }
    if (!descriptor.name().equals(from)) return;
    peers.know(descriptor);
    PushTarget target = targets.get(message.id());
    PullSource source = sources.get(message.id());
    boolean good = isCurrent(message)
        && (target != null ? target.accept(from) : source != null && source.accept(from));
    answer(from, message, good ? Kind.ACCEPTED : Kind.REFUSED);
  }

  private void commit(String from, HandoverMessage message) {
    PushTarget target = targets.get(message.id());
    if (target != null) {
      target.committed(from, isCurrent(message));
      return;
    }
    PullSource source = sources.get(message.id());
    if (source != null || peers.knows(from)) {
      boolean same = source != null && source.confirm(from, isCurrent(message));
      answer(from, message, same ? Kind.CONFIRMED : Kind.CHANGED);
    }
  }

  /** What we do not carry out, or have ended, moves nothing any more. */
  private void revoke(String from, HandoverMessage message) {
    Outgoing mine = outgoing.get(message.id());
    if (mine != null) mine.answer(Kind.REVOKE);
    else if (peers.knows(from)) answer(from, message, Kind.ABORTED);
  }

  private boolean isCurrent(HandoverMessage message) {
    return gate.state() == EpochGate.State.OPEN && message.epoch().equals(gate.epoch());
  }

  private void answer(String to, HandoverMessage question, Kind kind) {
    tell(to, HandoverMessage.of(kind, question.id(), question.epoch()));
  }

  /** The engine was destroyed: nothing can write into this process's memory any more. */
  private void engineGone() {
    gone = true;
    outgoing.clear();
    targets.values().forEach(PushTarget::declareSenderDead);
    sources.values().forEach(PullSource::withdraw);
  }
}

package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineNotification;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.transfer.HandoverMessage.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
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
  // how late a message is seen that no thread of ours waits for: while a peer waits for an answer to what it may say, a part
  // of the time in which it has said nothing, at least 100 us; otherwise 5 ms. Looks cost the cores that move the bytes.
  // unmeasured defaults
  private static final long PART = 64;
  private static final long BUSY_NANOS = 100_000;
  private static final long IDLE_NANOS = 5_000_000;

  final TransferEngine engine;
  final EpochGate gate;
  private final EngineCore core;
  private final Map<UUID, Outgoing> outgoing = new ConcurrentHashMap<>();
  private final AttemptLines lines = new AttemptLines();
  private final Peers peers;
  private final Outbox outbox;
  private final Granter granter;
  private final Thread watcher;
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile long heardNanos = System.nanoTime();
  private volatile boolean closed;
  private volatile boolean gone;

  private Handovers(TransferEngine engine) {
    this.engine = engine;
    core = engine.core();
    gate = engine.gate();
    peers = new Peers(engine);
    outbox = new Outbox(core.name(), (peer, message) -> core.backend.notify(peers.byName(peer).id(), message.encode()));
    granter = new Granter(gate, peers, outbox);
    engine.inbox().route(this::take);
    core.afterwards.add(this::engineGone);
    gate.register(this);
    watcher = Thread.ofPlatform().daemon().name("gatun-handover " + engine.name()).unstarted(this::watch);
    watcher.start();
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
    return grantPush(pool, blocks, layout, lease, null);
  }

  /**
   * As {@link #grantPush(BlockPool, long[], String, Duration)}, for an attempt that the peer has named: it begins without
   * asking, a round trip earlier. From the grant on it counts as having begun: if the grant is taken back, the blocks stay in
   * quarantine until the peer has answered. A peer that this side has not heard of yet must ask all the same.
   *
   * @param pool as there
   * @param blocks as there
   * @param layout as there
   * @param lease as there
   * @param attempt what the grant is for, null if the peer has named none; to be used for one grant
   * @return as there, also for what is thrown
   */
  public PushTarget grantPush(BlockPool pool, long[] blocks, String layout, Duration lease,
      @Nullable Attempt attempt) {
    return granted(pool, blocks, lease, attempt, (own, memory, carry, expires) -> {
      Grant grant = grant(Grant.Direction.PUSH, pool, own, layout, carry);
      PushTarget.begin(pool, own);
      return new PushTarget(this, pool, own, memory, grant, carry, expires);
    });
  }

  /**
   * Lets a peer read blocks. While the offer lasts they do not become free, whoever releases them, and cannot be written.
   *
   * @param pool on a registered slab, under the engine's gate
   * @param blocks leases of the epoch in force, computed; the caller keeps them
   * @param layout digest of what a page holds and how; the peer must have the same
   * @param lease how long the peer has, above 0 and at most a day; then the offer ends
   * @return the source, and in it the grant for the peer; see {@link #grantPush(BlockPool, long[], String, Duration)} for what is thrown
   */
  public PullSource offer(BlockPool pool, long[] blocks, String layout, Duration lease) {
    return offer(pool, blocks, layout, lease, null);
  }

  /**
   * As {@link #offer(BlockPool, long[], String, Duration)}, for an attempt that the peer has named: it begins without asking,
   * a round trip earlier. From the offer on it counts as having begun; {@link PullSource#withdraw} says what follows from
   * that. A peer that this side has not heard of yet must ask all the same.
   *
   * @param pool as there
   * @param blocks as there
   * @param layout as there
   * @param lease as there
   * @param attempt what the offer is for, null if the peer has named none; to be used for one offer
   * @return as there, also for what is thrown
   */
  public PullSource offer(BlockPool pool, long[] blocks, String layout, Duration lease, @Nullable Attempt attempt) {
    return granted(pool, blocks, lease, attempt, (own, memory, carry, expires) -> {
      Grant grant = grant(Grant.Direction.PULL, pool, own, layout, carry);
      PullSource.begin(pool, own);
      return new PullSource(this, pool, own, memory, grant, carry, expires);
    });
  }

  /**
   * Opens a line on which this side can be granted attempts beforehand.
   *
   * @return the line; the caller closes it once no grant made on it can arrive any more
   */
  public AttemptLine openLine() {
    return lines.open(core.backend.segmentName(), core.instance);
  }

  /**
   * Fills the blocks of a peer's grant and commits. Blocks for the transfer and two round trips; while the engine has as
   * many requests to the peer in flight as it takes, waits for room.
   *
   * @param grant from the peer, of direction push
   * @param layout digest of what a page holds and how
   * @param pool on a registered slab, under the engine's gate, with pages of the size of the peer's
   * @param blocks leases of the epoch in force, as many as the grant has, in its order
   * @param deadline when to give up
   * @return {@link HandoverOutcome#COMMITTED} once the peer has confirmed that the pages are good; REFUSED if it has another
   *     epoch in force, does not know the grant, or another attempt at it has not ended; REVOKED if it took the grant back,
   *     or a refit began here; ABORTED if a transfer failed or the peer does not answer, in which case it may have the
   *     pages; IN_DOUBT if bytes may still move: the peer is told when they cannot
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
    return pull(grant, layout, pool, blocks, deadline, () -> null);
  }

  /**
   * As {@link #pull(Grant, String, BlockPool, long[], Deadline)}, confirmed in another way if the grant is for an attempt that
   * was named beforehand.
   *
   * @param grant as there
   * @param layout as there
   * @param pool as there
   * @param blocks as there
   * @param deadline as there
   * @param confirmation asks the granter about this grant and attempt; unused if the grant is for none
   * @return as there, also for what is thrown
   */
  public HandoverOutcome pull(Grant grant, String layout, BlockPool pool, long[] blocks, Deadline deadline,
      Confirmation confirmation) {
    return new Carrier(this, grant, Grant.Direction.PULL, layout, pool, blocks, deadline).pull(confirmation);
  }

  /**
   * A peer has read all that it was offered, and says so in another way than by the engine's messages. The offer ends.
   * Does not block.
   *
   * @param grant number of the grant
   * @param epoch of the grant
   * @param attempt in which the peer has read
   * @return whether what it has read is what was offered
   */
  public boolean confirm(UUID grant, WeightEpoch epoch, Attempt attempt) {
    return granter.commit(grant, epoch, new Carry(attempt.segment(), attempt.id()));
  }

  /** {@return grants and offers of this side that are not over, those included that ended under a peer that may not have stopped} */
  public int open() {
    return granter.open();
  }

  /**
   * Runs something once nothing that this side has begun, and that has ended here, can touch a peer's memory any more: at
   * once, unless an attempt failed in a library that cannot tell what of it still moves; then when the engine is destroyed,
   * on the thread that does it, which waits for its return. Does not wait.
   *
   * @param then must not throw
   * @return whether it was run at once
   */
  public boolean whenStill(Runnable then) {
    FutureTask<@Nullable Void> once = new FutureTask<>(then, null);
    core.afterwards.add(once); // before the look: one of the two sees the other
    if (core.lost.isEmpty() || gone) once.run();
    return once.isDone();
  }

  @Override
  public String name() {
    return "hand-overs of " + core.name();
  }

  /** Takes back every grant and every offer: they are of old weights. */
  @Override
  public int failQueued() {
    int open = open();
    granter.takeBackAll();
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
   * quarantine until the engine is destroyed or they have answered, for which they are asked for some 15 minutes more.
   * Idempotent.
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
    long heard = heardNanos;
    waiting.getAndIncrement();
    try {
      while (!condition.getAsBoolean() && !deadline.reached() && !Thread.currentThread().isInterrupted()) {
        receive();
        if (condition.getAsBoolean()) return;
        if (heard != heardNanos) backoff.reset(); // others follow
        heard = heardNanos;
        backoff.pause(deadline.remainingNanos());
      }
    } finally {
      waiting.getAndDecrement();
    }
  }

  /** Sends without making anybody wait. */
  void tell(String peer, HandoverMessage message) {
    outbox.send(peer, message);
  }

  Granter granter() {
    return granter;
  }

  Set<UUID> lost() {
    return core.lost;
  }

  Peers peers() {
    return peers;
  }

  Map<UUID, Outgoing> outgoing() {
    return outgoing;
  }

  AttemptLines lines() {
    return lines;
  }

  void requireOpen(String operation) {
    if (closed) throw new ClosedException(operation + " refused: the " + name() + " are closed");
    core.requireOpen(operation);
  }

  private interface Making<T extends Granted> {
    /** Marks the blocks. */
    T make(long[] own, RegisteredMemory memory, @Nullable Carry accepted, Deadline expires);
  }

  private <T extends Granted> T granted(BlockPool pool, long[] blocks, Duration lease, @Nullable Attempt attempt,
      Making<T> making) {
    requireOpen("grant");
    Deadline expires = Deadline.ofLease(lease);
    if (pool.gate() != gate) throw new IllegalArgumentException("pool must be under the engine's gate: " + pool.name());
    RegisteredMemory memory = core.memory.require(pool.slab());
    int ticket = gate.enter("grant");
    try {
      memory.beginPeerUse("grant");
      boolean made = false;
      try {
        T granted = making.make(blocks.clone(), memory, carry(attempt), expires);
        made = true;
        granter.add(granted);
        heardNanos = System.nanoTime();
        LockSupport.unpark(watcher); // the peer begins at once, and waits for an answer
        if (gone) granted.declareDead(); // the engine ended meanwhile, and has not seen it
        return granted;
      } finally {
        if (!made) memory.endPeerUse();
      }
    } finally {
      gate.exit(ticket);
    }
  }

  /** Null where the peer could not be told that a grant was taken back. */
  private @Nullable Carry carry(@Nullable Attempt attempt) {
    return attempt != null && peers.knows(attempt.segment(), attempt.instance())
        ? new Carry(attempt.segment(), attempt.id())
        : null;
  }

  private Grant grant(Grant.Direction direction, BlockPool pool, long[] blocks, String layout,
      @Nullable Carry accepted) {
    long[] addresses = new long[blocks.length];
    for (int i = 0; i < blocks.length; i++)
      addresses[i] = pool.blockAddress(blocks[i]) + pool.headerBytes();
    return new Grant(UUID.randomUUID(), direction, gate.epoch(), layout, Told.by(engine),
        accepted == null ? null : accepted.attempt(), pool.pageBytes(), addresses, System.nanoTime());
  }

  private void watch() {
    while (!gone && !(closed && outgoing.isEmpty() && outbox.isEmpty() && !granter.anyWatched())) {
      try {
        receive();
        granter.look();
      } catch (GatunException e) {
        // the engine is being closed, or does not answer: what is open is still to be looked after
        LOG.debug("{}: {}", name(), e.getMessage());
      } catch (RuntimeException | Error e) {
        LOG.error("{}: what is open is looked after all the same", name(), e);
      }
      LockSupport.parkNanos(this, pauseNanos());
    }
    peers.close();
    outbox.close();
    core.handedOver.set(false);
  }

  /** Whoever waits looks by itself, and a revoke of what is being sent can be a little late. */
  private long pauseNanos() {
    if (waiting.get() > 0 || !granter.anyAwaited()) return IDLE_NANOS;
    return Math.clamp((System.nanoTime() - heardNanos) / PART, BUSY_NANOS, IDLE_NANOS);
  }

  private void receive() {
    engine.inbox().receive();
  }

  private boolean take(EngineNotification notification) {
    HandoverMessage message = HandoverMessage.decode(notification.message());
    if (message == null) return false;
    heardNanos = System.nanoTime();
    try {
      take(notification.from(), message);
    } catch (RuntimeException | Error e) {
      // the messages behind it are about others
      LOG.error("{}: {} of {} about hand-over {}", name(), message.kind(), notification.from(), message.id(), e);
    }
    return true;
  }

  private void take(String from, HandoverMessage message) {
    switch (message.kind()) {
      case ACCEPT -> granter.accept(from, message);
      case COMMIT -> granter.commit(from, message);
      case ABORTED, LOST -> granter.aborted(from, message);
      case REVOKE -> revoke(from, message);
      case ACCEPTED, REFUSED, CONFIRMED, CHANGED -> {
        Outgoing mine = outgoing(from, message);
        if (mine != null) mine.answer(message.kind());
      }
    }
  }

  private @Nullable Outgoing outgoing(String from, HandoverMessage message) {
    Outgoing mine = outgoing.get(message.id());
    return mine != null && mine.attempt.equals(message.attempt()) && mine.peer.name().equals(from) ? mine : null;
  }

  /** What we do not carry out, or have ended, moves nothing any more, unless it failed. */
  private void revoke(String from, HandoverMessage message) {
    lines.use(message.attempt()); // before the look: what has not begun never will, or is seen
    Outgoing mine = outgoing(from, message);
    if (mine != null) mine.answer(Kind.REVOKE);
    else {
      Told told = Told.parse(message.payload());
      if (!told.descriptor().name().equals(from)) return;
      peers.know(told);
      tell(from, message.answer(core.lost.contains(message.attempt()) ? Kind.LOST : Kind.ABORTED));
    }
  }

  /** The engine was destroyed: nothing can write into this process's memory any more. */
  private void engineGone() {
    gone = true;
    outgoing.clear();
    granter.engineGone();
  }
}

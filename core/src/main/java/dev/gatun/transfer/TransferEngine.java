package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineBackendProvider;
import dev.gatun.backend.EngineCapabilities;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineNotification;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.Slab;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One transfer engine: registered slabs of this process, segments of peers, batches between them, and messages.
 *
 * <p>Every submit passes the {@link EpochGate}: while a refit runs it is refused, and the refit waits for what is in
 * flight. What arrives in spite of a refit is marked {@link dev.gatun.backend.TransferOutcome#STALE}.
 *
 * <p>Usable by any thread. Calls that say so block in native code: run them on platform threads.
 */
public final class TransferEngine implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TransferEngine.class);

  private final EngineCore core;
  private final Duration connectTimeout;
  private final Duration closeTimeout;
  private final BoundedCalls calls;
  private final Inbox inbox;
  private boolean closed;

  private TransferEngine(EngineCore core, EngineOptions options) {
    this.core = core;
    connectTimeout = options.connectTimeout();
    closeTimeout = options.closeTimeout();
    calls = new BoundedCalls(core.name());
    inbox = new Inbox(core.backend);
    core.gate.register(core);
  }

  /**
   * Opens an engine. Blocks while it starts.
   *
   * @param options which library, under which name, over what
   * @param gate shared by everything that a refit stops together
   * @return the open engine, registered with the gate; the caller closes it
   * @throws GatunException if the library cannot be loaded or the engine not be opened, saying what to do
   * @throws IllegalArgumentException if an option does not fit the kind of engine
   */
  public static TransferEngine open(EngineOptions options, EpochGate gate) {
    return open(provider(options.engine()).open(options), options, gate);
  }

  /**
   * Makes an engine of an open backend, which from now on is its own.
   *
   * @param backend closed with the engine
   * @param options what the backend was opened with
   * @param gate shared by everything that a refit stops together
   * @return the open engine, registered with the gate; the caller closes it
   */
  public static TransferEngine open(EngineBackend backend, EngineOptions options, EpochGate gate) {
    return new TransferEngine(new EngineCore(backend, gate), options);
  }

  /** {@return a name for reports: kind of engine and segment name} */
  public String name() {
    return core.backend.name();
  }

  /** {@return the name under which peers find this engine} */
  public String segmentName() {
    return core.backend.segmentName();
  }

  /** {@return what the engine can do} */
  public EngineCapabilities capabilities() {
    return core.backend.capabilities();
  }

  /** {@return the gate that every submit passes} */
  public EpochGate gate() {
    return core.gate;
  }

  /**
   * Registers memory, so that batches may move its blocks and peers may reach it. However many blocks lie on a slab, it
   * is one registration. Blocks.
   *
   * @param slab whole, of the host, or, with NIXL, of a GPU; stays the caller's, and must be unregistered or outlive the engine
   * @throws IllegalStateException if it is registered already
   * @throws EngineException if the library refuses, with a hint where the locked-memory limit is too low
   * @throws GatunException if it is a GPU's and this kind of engine takes none
   * @throws ClosedException if the engine or the slab is closed
   */
  public void register(Slab slab) {
    core.memory.register(slab);
  }

  /**
   * Undoes {@link #register}. Waits for transfers of this engine that use the slab and for hand-overs of it, at most as long
   * as closing would. It does not know of other transfers that peers have begun: end those first.
   *
   * @param slab what was registered
   * @throws InUseException if transfers still use it, those in doubt included, or a peer is in the middle of one; nothing
   *     was unregistered
   * @throws EngineException if the library refuses otherwise
   * @throws IllegalArgumentException if it is not registered
   */
  public void unregister(Slab slab) {
    core.memory.unregister(slab, Deadline.after(closeTimeout));
  }

  /** {@return registered slabs} */
  public int registrations() {
    return core.memory.count();
  }

  /** {@return what a peer needs to reach the memory registered now; hand it over out of band, anew after registering} */
  public SegmentDescriptor descriptor() {
    core.requireOpen("descriptor");
    return new SegmentDescriptor(core.backend.engine(), core.backend.segmentName(), core.backend.metadata(),
        core.memory.ranges(), Optional.of(core.instance));
  }

  /**
   * Opens a peer's memory with the connect timeout of the options as deadline, doubled, since a peer that accepts may be
   * slow to answer.
   *
   * @param descriptor what the peer's {@link #descriptor} returned
   * @return the segment; the caller closes it, or the engine does
   * @throws EngineException if the peer does not exist or cannot be reached
   * @throws PeerRestartedException if another engine with the peer's name has been opened since: get its descriptor
   * @throws DeadlineException if it does not answer
   * @throws TooManyRequestsException if as many calls to the peer as may wait for an answer do; wait for those
   * @throws IllegalArgumentException if it is of another kind of engine
   * @throws ClosedException if the engine is closed
   */
  public Segment openSegment(SegmentDescriptor descriptor) {
    return openSegment(descriptor, Deadline.after(connectTimeout.multipliedBy(2)));
  }

  /**
   * Opens a peer's memory. Blocks for a connection.
   *
   * @param descriptor what the peer's {@link #descriptor} returned
   * @param deadline when to give up; the native call then ends by itself
   * @return the segment; the caller closes it, or the engine does
   * @throws EngineException if the peer does not exist or cannot be reached
   * @throws PeerRestartedException if another engine with the peer's name has been opened since: get its descriptor
   * @throws DeadlineException if it does not answer by the deadline
   * @throws TooManyRequestsException if as many calls to the peer as may wait for an answer do; wait for those
   * @throws IllegalArgumentException if it is of another kind of engine
   * @throws ClosedException if the engine is closed
   */
  public Segment openSegment(SegmentDescriptor descriptor, Deadline deadline) {
    core.requireOpen("openSegment");
    core.instances.requireCurrent("openSegment", descriptor);
    int id = calls.within("openSegment", descriptor.name(), deadline, () -> core.open(descriptor));
    Segment segment = new Segment(core, id, descriptor);
    core.segments.add(segment);
    core.reached(descriptor);
    if (segment.isClosed())
      throw new PeerRestartedException(segment + " is of an engine that ended meanwhile; open the new one");
    return segment;
  }

  /**
   * Takes note of what a peer has registered since: a new descriptor of the same peer. Blocks as {@link #openSegment}.
   *
   * @param segment what was opened
   * @param descriptor of the same name
   * @param deadline when to give up
   * @throws IllegalArgumentException if it is of another peer
   * @throws EngineException if the peer cannot be reached
   * @throws PeerRestartedException if another engine has its name now, and this segment ends: open that anew
   * @throws DeadlineException if it does not answer by the deadline
   * @throws TooManyRequestsException if as many calls to the peer as may wait for an answer do; wait for those
   * @throws ClosedException if the engine is closed
   */
  public void refresh(Segment segment, SegmentDescriptor descriptor, Deadline deadline) {
    core.requireOpen("refresh");
    if (!segment.isOf(core) || !segment.name().equals(descriptor.name())) {
      throw new IllegalArgumentException("descriptor must be of " + segment + " and this engine: " + descriptor);
    }
    core.instances.requireCurrent("refresh", descriptor);
    int id = calls.within("refresh", descriptor.name(), deadline, () -> core.open(descriptor));
    core.reached(descriptor);
    if (id != segment.id() || segment.isClosed()) {
      throw new PeerRestartedException(segment + " is of an engine that has ended; open the new one");
    }
    segment.renew(descriptor);
  }

  /**
   * Makes a batch for the blocks of a pool.
   *
   * @param pool on a registered slab, under this engine's gate
   * @param capacity most requests, 1 to {@link EngineCapabilities#batchMax}; each takes some 100 bytes
   * @return an empty batch; the caller closes it, or the engine does
   * @throws IllegalArgumentException if the pool does not fit, saying why, or the capacity is out of range
   * @throws ClosedException if the engine is closed
   */
  @SuppressWarnings("MustBeClosedChecker") // closed by the batch
  public TransferBatch batch(BlockPool pool, int capacity) {
    core.requireOpen("batch");
    int max = capabilities().batchMax();
    if (capacity < 1 || capacity > max) {
      throw new IllegalArgumentException("capacity must be 1 to " + max + ": " + capacity);
    }
    if (pool.gate() != core.gate) {
      throw new IllegalArgumentException("pool must be under the engine's gate: " + pool.name());
    }
    RegisteredMemory memory = core.memory.require(pool.slab());
    Arena arena = Arena.ofShared(); // batch
    try {
      TransferBatch batch = new TransferBatch(core, pool, memory, capacity, arena);
      core.batches.add(batch);
      return batch;
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Sends a message to a peer. Blocks for a round trip.
   *
   * @param segment who is told
   * @param message 0 to {@link EngineCapabilities#notificationBytesMax} bytes; read before this returns
   * @param deadline when to give up waiting; the message may still arrive afterwards
   * @throws EngineException if it was not delivered
   * @throws DeadlineException if the peer does not answer by the deadline
   * @throws TooManyRequestsException if as many calls to the peer as may wait for an answer do; wait for those
   * @throws IllegalArgumentException if it is too long, or the segment is of another engine
   * @throws ClosedException if the engine or the segment is closed
   */
  public void notify(Segment segment, byte[] message, Deadline deadline) {
    core.requireOpen("notify");
    core.requireMessage(message);
    if (!segment.isOf(core)) {
      throw new IllegalArgumentException("segment must be of this engine: " + segment.name());
    }
    if (segment.isClosed()) throw new ClosedException("notify refused: " + segment + " is closed");
    byte[] copy = message.clone();
    calls.within("notify", segment.name(), deadline, () -> {
      core.backend.notify(segment.id(), copy);
      return true;
    });
  }

  /**
   * {@return the next message that has arrived, null if none has; does not wait} Messages wait in the engine without
   * limit until they are taken: take them.
   *
   * @throws ClosedException if the engine is closed
   */
  public @Nullable EngineNotification pollNotification() {
    return inbox.poll();
  }

  /**
   * Waits for the next message.
   *
   * @param deadline when to give up
   * @return the message, null if none arrived by the deadline or the thread was interrupted
   * @throws ClosedException if the engine is closed
   */
  public @Nullable EngineNotification takeNotification(Deadline deadline) {
    return inbox.take(deadline);
  }

  /** {@return flights that had not ended at their deadline and still hold blocks and registrations} */
  public int inDoubt() {
    return core.doubtful.size();
  }

  /**
   * Refuses new work, waits for what is in flight, also for what nobody awaits and what is in doubt, unregisters, and
   * destroys the native engine, which ends what peers do with its memory. Idempotent; after a deadline it can be called
   * again.
   *
   * @param deadline when to give up
   * @return what is still pending, one line each; empty once all is closed. Memory that native code may touch is not
   *     freed: wait longer, or {@link #abort}
   */
  public synchronized List<String> close(Deadline deadline) {
    if (closed) return List.of();
    core.closing = true;
    List<String> pending = core.drain(deadline, flight -> true);
    if (!pending.isEmpty()) return pending;
    try {
      core.memory.close(deadline);
    } catch (InUseException e) {
      return List.of(String.valueOf(e.getMessage()));
    }
    return destroy(deadline);
  }

  /**
   * Refuses new work and destroys the native engine in spite of what is in flight: that ends as
   * {@link dev.gatun.backend.TransferOutcome#IN_DOUBT}, and once the engine is gone nothing touches its memory any more.
   * Native batches that had not ended are leaked, knowingly. Blocks for a second or so.
   *
   * @param deadline when to give up; it can then be called again
   * @return what is still pending, one line each; empty once the engine is destroyed
   */
  public synchronized List<String> abort(Deadline deadline) {
    if (closed) return List.of();
    core.closing = true;
    for (TransferBatch batch : core.batches) {
      while (batch.isFlying() && !batch.giveUp("the engine is destroyed") && !deadline.reached())
        Thread.onSpinWait();
    }
    return destroy(deadline);
  }

  private List<String> destroy(Deadline deadline) {
    List<String> pending = core.backend.close(deadline);
    if (!pending.isEmpty()) return pending;
    core.engineGone();
    core.poller.end();
    core.memory.closeAfterBackend();
    List.copyOf(core.batches).forEach(TransferBatch::close);
    List.copyOf(core.segments).forEach(Segment::close);
    calls.close();
    core.gate.unregister(core);
    closed = true;
    return List.of();
  }

  /** Closes with the options' close timeout, and logs what is pending if that is not enough. */
  @Override
  public void close() {
    List<String> pending = close(Deadline.after(closeTimeout));
    if (!pending.isEmpty()) LOG.warn("engine {} is not closed, pending: {}", name(), pending);
  }

  EngineCore core() {
    return core;
  }

  Inbox inbox() {
    return inbox;
  }

  private static EngineBackendProvider provider(String engine) {
    for (EngineBackendProvider provider : ServiceLoader.load(EngineBackendProvider.class)) {
      if (provider.engine().equals(engine)) return provider;
    }
    throw new GatunException("no backend for engine " + engine + " on the module path");
  }
}

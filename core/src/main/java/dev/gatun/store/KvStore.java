package dev.gatun.store;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.RefitStore;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreBackendProvider;
import dev.gatun.backend.StoreException;
import dev.gatun.backend.StoreOptions;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.Slab;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.ServiceLoader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client of a KV store. The hot path is {@link #batch}: pages of registered slabs, put and got without a copy and
 * without allocation. The other calls are conveniences that copy or allocate.
 *
 * <p>Every operation passes the {@link EpochGate}: while a refit runs, puts and removals are refused and gets wait.
 * Outcomes of single keys are results; a call that fails as a whole throws {@link StoreException}; what is wrong before
 * anything is sent throws {@link IllegalArgumentException} or {@link IllegalStateException}.
 *
 * <p>Usable by any thread. <b>Calls block in native code until the library answers</b>, pin a virtual thread to its carrier,
 * and cannot be ended early from here. With Mooncake 0.3.13 over TCP that is, for each native call:
 * <ul>
 * <li>a master that refuses connections: 4.3 s of its retries, then {@code RPC_FAIL} (measured);
 * <li>a master that takes requests and does not answer: {@link StoreOptions#rpcTimeout()}, then {@code RPC_TIMEOUT};
 * <li>a storage process that has stopped, and moves no byte: 30 s of the library's own watch over a connection that is
 * open, 60 to 62 s where it is not, since the answer to the handshake is waited for (measured); then
 * {@code TRANSFER_FAIL}, and the memory stays in quarantine. Without the watch, as in builds of the sources, 60 s a
 * transfer are wired in.
 * </ul>
 * The embedded library waits for nobody. Where a bound is needed, use {@link AsyncKvStore}: its futures end at
 * {@link AsyncOptions#operationMax()} whatever the library does, and blocks stay out of circulation until it is done.
 */
public final class KvStore implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KvStore.class);

  private final StoreCore core;
  private final Duration closeTimeout;
  private final Staging staging;
  private final Registrations registrations;
  private final Singles singles;
  private final Questions questions;
  private final Removals removals;
  private final HealthProbe health;
  private final StoreRefitPort refitPort;
  private boolean closed;

  private KvStore(StoreCore core, long localBufferBytes, Duration closeTimeout) {
    this.core = core;
    this.closeTimeout = closeTimeout;
    staging = new Staging(core.backend);
    registrations = new Registrations(core);
    singles = new Singles(core, staging, new LocalBufferShare(localBufferBytes));
    questions = new Questions(core);
    removals = new Removals(core);
    health = new HealthProbe(core);
    refitPort = new StoreRefitPort(core, staging);
    core.gate.register(refitPort);
  }

  /**
   * Opens a store with the default policy. Blocks while it connects.
   *
   * @param options which library, where, how large
   * @param codec form of the keys, and whether pages are stamped
   * @param gate shared by everything that a refit stops together
   * @param observer sees the outcome of each operation
   * @return the open store, registered with the gate; the caller closes it
   * @throws GatunException if the library cannot be loaded or the store not be opened, saying what to do
   * @throws IllegalArgumentException if the codec has no epoch in its keys and something in this process could serve
   *     old pages in spite of a removal
   */
  public static KvStore open(StoreOptions options, KeyCodec codec, EpochGate gate, Observer observer) {
    return open(options, codec, gate, observer, StorePolicy.DEFAULT);
  }

  /**
   * Opens a store. Blocks while it connects.
   *
   * @param options which library, where, how large
   * @param codec form of the keys, and whether pages are stamped
   * @param gate shared by everything that a refit stops together
   * @param observer sees the outcome of each operation
   * @param policy limits and choices
   * @return the open store, registered with the gate; the caller closes it
   * @throws GatunException if the library cannot be loaded or the store not be opened, saying what to do
   * @throws IllegalArgumentException if the codec has no epoch in its keys and something in this process could serve
   *     old pages in spite of a removal
   */
  public static KvStore open(StoreOptions options, KeyCodec codec, EpochGate gate, Observer observer,
      StorePolicy policy) {
    StoreBackend backend = provider(options.library()).open(options);
    return open(backend, options, codec, gate, observer, policy);
  }

  /**
   * Makes a store of an open backend, which from now on is its own.
   *
   * @param backend closed with the store, and if this throws
   * @param options what the backend was opened with
   * @param codec form of the keys, and whether pages are stamped
   * @param gate shared by everything that a refit stops together
   * @param observer sees the outcome of each operation
   * @param policy limits and choices
   * @return the open store, registered with the gate; the caller closes it
   * @throws IllegalArgumentException if the codec has no epoch in its keys and something in this process could serve
   *     old pages in spite of a removal
   */
  public static KvStore open(StoreBackend backend, StoreOptions options, KeyCodec codec, EpochGate gate,
      Observer observer, StorePolicy policy) {
    try {
      if (!codec.epochInKey() && !backend.doubts().isEmpty()) {
        throw new IllegalArgumentException("codec must have the epoch in its keys, since a removal alone is no "
            + "protection here: " + String.join("; ", backend.doubts()));
      }
      StoreCore core = new StoreCore(backend, codec, gate, observer, policy);
      return new KvStore(core, options.localBufferBytes(), options.closeTimeout());
    } catch (RuntimeException | Error e) {
      backend.close();
      throw e;
    }
  }

  /** {@return a name for reports: library and master} */
  public String name() {
    return core.backend.name();
  }

  /** {@return the segment name under which this client is known, for {@link ReplicateOptions#preferredSegments()}} */
  public String hostname() {
    return core.backend.hostname();
  }

  /** {@return form of the keys} */
  public KeyCodec codec() {
    return core.codec;
  }

  /** {@return the gate that every operation passes} */
  public EpochGate gate() {
    return core.gate;
  }

  /**
   * Registers memory, so that batches may move its blocks. Blocks.
   *
   * @param slab whole; stays the caller's, and must be unregistered or outlive the store
   * @throws IllegalStateException if it is registered already
   * @throws StoreException if the library refuses, with a hint where the locked-memory limit is too low
   * @throws ClosedException if the store or the slab is closed
   */
  public void register(Slab slab) {
    registrations.register(slab);
  }

  /**
   * Undoes {@link #register}. Waits for operations that use the slab, at most as long as closing would.
   *
   * @param slab what was registered
   * @throws InUseException if operations still use it, or a transfer of it failed and may still run: close the store
   * @throws IllegalArgumentException if it is not registered
   */
  public void unregister(Slab slab) {
    registrations.unregister(slab, Deadline.after(closeTimeout));
  }

  /**
   * {@return whether a slab is registered with this store}
   *
   * @param slab any
   */
  public boolean isRegistered(Slab slab) {
    return registrations.isOpen(slab);
  }

  /**
   * Makes a batch for the blocks of a pool.
   *
   * @param pool on a registered slab, under this store's gate; with a header of 64 bytes if the codec stamps pages
   * @param capacity most entries, 1 to {@link StoreBatch#CAPACITY_MAX}; each takes some 300 bytes
   * @return an empty batch; the caller closes it, or the store does
   * @throws IllegalArgumentException if the pool does not fit, saying why, or the capacity is out of range
   * @throws ClosedException if the store is closed
   */
  @SuppressWarnings("MustBeClosedChecker") // closed by the batch
  public StoreBatch batch(BlockPool pool, int capacity) {
    if (capacity < 1 || capacity > StoreBatch.CAPACITY_MAX) {
      throw new IllegalArgumentException("capacity must be 1 to " + StoreBatch.CAPACITY_MAX + ": " + capacity);
    }
    RegisteredSlab registered = requireFit(pool);
    Arena arena = Arena.ofShared(); // batch
    try {
      StoreBatch batch = new StoreBatch(core, pool, registered, capacity, arena);
      core.batches.add(batch);
      return batch;
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Copies a value in. Blocks for the transfer and two round trips to the master, within the bounds said at the class.
   *
   * @param key its key
   * @param value 1 byte or more, on or off the heap; free for other use on return
   * @return whether it is stored; {@code INVALID_PARAMS} without a {@linkplain PutResult.PutFailed#detail() detail} means
   *     that the library's local buffer is fragmented: retry
   * @throws IllegalArgumentException if the value is empty, larger than the library's local buffer, or of another
   *     thread's confined arena
   * @throws GateClosedException if a refit is running
   * @throws dev.gatun.backend.DeadlineException if other puts use the local buffer for too long
   */
  public PutResult put(KvKey key, MemorySegment value) {
    return singles.put(key, value, ReplicateOptions.DEFAULT);
  }

  /**
   * Copies a value in, placed as told. Blocks as {@link #put(KvKey, MemorySegment)}.
   *
   * @param key its key
   * @param value 1 byte or more, on or off the heap; free for other use on return
   * @param options replicas, pins, segments
   * @return as {@link #put(KvKey, MemorySegment)}, which also says what is thrown
   */
  public PutResult put(KvKey key, MemorySegment value, ReplicateOptions options) {
    return singles.put(key, value, options);
  }

  /**
   * Puts one page without a copy, as a batch of one. Blocks as {@link #put(KvKey, MemorySegment)}.
   *
   * @param key its key
   * @param pool whose block
   * @param block a current lease; see {@link StoreBatch#put} for what becomes of it and what is thrown
   * @return whether it is stored
   */
  public PutResult putPage(KvKey key, BlockPool pool, long block) {
    try (StoreBatch one = single(pool)) {
      return one.add(key, block).put().putResult(0);
    }
  }

  /**
   * Gets one page without a copy, as a batch of one. Blocks as {@link #get}.
   *
   * @param key its key
   * @param pool whose block
   * @param block a current lease; see {@link StoreBatch#get} for what becomes of it and what is thrown
   * @return what arrived
   */
  public GetResult getPage(KvKey key, BlockPool pool, long block) {
    try (StoreBatch one = single(pool)) {
      return one.add(key, block).get().getResult(0);
    }
  }

  /**
   * Copies a value out. Blocks for a round trip to the master and the transfer, within the bounds said at the class,
   * and while a refit runs.
   *
   * @param key its key
   * @param target room for it, 1 byte or more, on or off the heap; written only on a hit, beyond the value's end never
   * @return what arrived; {@code INVALID_PARAMS} means that the room is too small
   * @throws IllegalArgumentException if the target is empty, read-only, or of another thread's confined arena
   * @throws dev.gatun.backend.DeadlineException if a refit took longer than {@link StorePolicy#parkMax}
   */
  public GetResult get(KvKey key, MemorySegment target) {
    return singles.get(key, target);
  }

  /**
   * Asks whether a key can be read, which grants a lease. Blocks for a round trip to the master, within the bounds said
   * at the class.
   *
   * @param key what to ask for
   * @return present, absent, or that the store could not say
   */
  public Existence exists(KvKey key) {
    return questions.exists(List.of(key)).getFirst();
  }

  /**
   * Asks whether keys can be read, which grants each a lease. Blocks for a round trip to the master, within the bounds
   * said at the class.
   *
   * @param keys what to ask for, each once
   * @return an answer for each, in order
   * @throws IllegalArgumentException if a key is there twice
   * @throws StoreException if a native call fails as a whole
   */
  public List<Existence> exists(List<KvKey> keys) {
    return questions.exists(keys);
  }

  /**
   * Asks how long a value is, which grants a lease. Blocks for a round trip to the master, within the bounds said at
   * the class.
   *
   * @param key what to ask for
   * @return its length, that it is absent, or that the store could not say
   */
  public SizeResult size(KvKey key) {
    return questions.size(key);
  }

  /**
   * Removes one key. Blocks for a round trip to the master, within the bounds said at the class.
   *
   * @param key what to remove
   * @param force remove it even if it was read or asked for moments ago; running reads of other clients may then see
   *     mixed bytes
   * @return removed, absent, or why it is still there
   * @throws GateClosedException if a refit is running
   */
  public RemoveResult remove(KvKey key, boolean force) {
    return removals.remove(key, force);
  }

  /**
   * Removes keys one by one. Blocks for a round trip to the master for each key, within the bounds said at the class.
   *
   * @param keys what to remove
   * @param force see {@link #remove(KvKey, boolean)}
   * @return how many were removed, absent, and which are still there
   * @throws GateClosedException if a refit is running
   */
  public RemoveSummary remove(List<KvKey> keys, boolean force) {
    return removals.remove(keys, force);
  }

  /**
   * Removes every key of this codec, and epoch, that begins with a text. Blocks for a round trip to the master, within
   * the bounds said at the class.
   *
   * @param prefix taken literally, 1,024 bytes at most; empty for all keys of the namespace and epoch
   * @param force see {@link #remove(KvKey, boolean)}; without it, keys with a lease are left out
   * @return keys removed, which says nothing about what is left: puts in flight are skipped
   * @throws StoreException if the call fails
   * @throws GateClosedException if a refit is running
   */
  public long removePrefix(String prefix, boolean force) {
    return removals.removePrefix(prefix, force);
  }

  /**
   * Removes every key of this codec, and epoch, that begins with a match of an ECMAScript pattern. Off unless {@link
   * StorePolicy#patterns()}: the master matches every key it has, and some masters crash on long ones. Blocks for a
   * round trip to the master, within the bounds said at the class.
   *
   * @param pattern printable ASCII, 1,024 characters at most: alternatives, groups that are not repeated, sets, and
   *     quantifiers after a character or a set; no back references, no look-around
   * @param force see {@link #remove(KvKey, boolean)}; without it, keys with a lease are left out
   * @return keys removed
   * @throws IllegalStateException if patterns are off
   * @throws IllegalArgumentException if the pattern is refused, naming the place and the rule
   * @throws StoreException if the call fails
   */
  public long removeMatching(String pattern, boolean force) {
    return removals.removeMatching(pattern, force);
  }

  /**
   * Removes all objects of all clients and namespaces. A refit does this and verifies it; use it for administration.
   * Blocks for a round trip to the master, within the bounds said at the class.
   *
   * @param force see {@link #remove(KvKey, boolean)}; without it, keys with a lease are left out
   * @return keys removed, which says nothing about what is left: puts in flight are skipped and may land afterwards
   * @throws StoreException if the call fails
   * @throws GateClosedException if a refit is running
   */
  public long removeAll(boolean force) {
    return removals.removeAll(force);
  }

  /**
   * Asks whether the store answers, also where the library cannot tell: it asks the master for a key that does not exist,
   * at most twice a second. Blocks for a round trip, with a dead master for seconds; one caller probes, others are told
   * the last answer.
   *
   * @return the answer and its age
   */
  public Health health() {
    return health.health();
  }

  /** {@return what a refit uses of this store; registered with the gate already} */
  public RefitStore refitPort() {
    return refitPort;
  }

  /** {@return blocks and buffers that native code may still touch after a failed transfer, kept until the store closes} */
  public int quarantined() {
    return core.quarantined.count() + staging.inDoubt();
  }

  /**
   * Refuses new operations, waits for running ones, unregisters, and destroys the native store. Idempotent; after a
   * deadline it can be called again.
   *
   * @param deadline when to give up
   * @return what is still pending, one line each; empty once all is closed. Memory that native code may touch is not freed
   */
  public synchronized List<String> close(Deadline deadline) {
    if (closed) return List.of();
    core.activities.close();
    List<String> pending = core.activities.awaitNone(Activity::busy, deadline);
    if (!pending.isEmpty()) return pending;
    registrations.closeBeforeBackend(deadline);
    staging.unregister();
    pending = core.backend.close(deadline);
    if (!pending.isEmpty()) return pending;
    registrations.closeAfterBackend();
    core.quarantined.end();
    for (StoreBatch batch : core.batches)
      batch.close();
    staging.close();
    core.arena.close();
    core.gate.unregister(refitPort);
    closed = true;
    return List.of();
  }

  /** Closes with the options' close timeout, and logs what is pending if that is not enough. */
  @Override
  public void close() {
    List<String> pending = close(Deadline.after(closeTimeout));
    if (!pending.isEmpty()) LOG.warn("store {} is not closed, pending: {}", name(), pending);
  }

  StoreCore core() {
    return core;
  }

  @SuppressWarnings("MustBeClosedChecker") // closed by the batch
  private StoreBatch single(BlockPool pool) {
    return new StoreBatch(core, pool, requireFit(pool), 1, Arena.ofConfined()); // per call
  }

  private RegisteredSlab requireFit(BlockPool pool) {
    if (pool.gate() != core.gate) {
      throw new IllegalArgumentException("pool must be under the store's gate: " + pool.name());
    }
    int needed = core.codec.headerBytes();
    if (needed > 0 && pool.headerBytes() != needed) {
      throw new IllegalArgumentException("pool must have headerBytes " + needed + " for verify " + core.codec.verify()
          + ": " + pool.headerBytes());
    }
    return registrations.require(pool.slab());
  }

  private static StoreBackendProvider provider(String library) {
    for (StoreBackendProvider provider : ServiceLoader.load(StoreBackendProvider.class)) {
      if (provider.library().equals(library)) return provider;
    }
    throw new GatunException("no backend for library " + library + " on the module path");
  }
}

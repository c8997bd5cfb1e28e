package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.backend.TransferRequests;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes that go out together; the hot path of an engine. Made once by {@link TransferEngine#batch}, owned and
 * reused by the caller: {@link #clear}, add requests, {@link #submit}, {@link #await}, look at the outcomes by index,
 * which is that of adding. Nothing is allocated on the heap in steady state.
 *
 * <p>A batch serves one thread at a time and may be handed on; use while it is in flight is refused with
 * {@link IllegalStateException}, but for {@link #await} and {@link #isDone}. Blocks stay the caller's. From submit to end
 * they cannot become free, whoever releases them; a request that has not ended at the deadline keeps its block in
 * quarantine until native code is known to be done, and the batch can be used again at once.
 *
 * <p>Longer than most classes because each small operation carries its contract.
 *
 * <p>A read fills the block, which is usable only if the request {@link TransferOutcome#COMPLETED}; a write leaves it as
 * it is.
 */
public final class TransferBatch implements AutoCloseable {
  private static final int IDLE = 0;
  private static final int FLYING = 1;
  private static final int BUSY = 2;
  private static final int CLOSED = 3;
  /** Landed, but its blocks stay marked until {@link #settle}. */
  private static final int HELD = 4;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(TransferBatch.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final EngineCore core;
  private final BlockPool pool;
  private final RegisteredMemory memory;
  private final Arena arena;
  private final TransferRequests requests;
  private final long[] blocks;
  private final Destinations destinations;
  private final Outcomes outcomes;
  private final Pins pins;
  private final Backoff backoff = new Backoff();
  private final long firstPageAddress;
  private final long strideBytes;
  private final long pageBytes;

  private volatile int state;
  private @Nullable EngineFlight flight;
  private byte @Nullable [] message;
  private boolean writes;
  private boolean notified;
  private boolean ran;
  private boolean hold;
  private @Nullable Doubtful doubtful;
  private int ticket;
  private long submittedNanos;
  private @Nullable RuntimeException failure;

  TransferBatch(EngineCore core, BlockPool pool, RegisteredMemory memory, int capacity, Arena arena) {
    this.core = core;
    this.pool = pool;
    this.memory = memory;
    this.arena = arena;
    requests = new TransferRequests(capacity, arena);
    blocks = new long[capacity];
    destinations = new Destinations(capacity);
    outcomes = new Outcomes(capacity);
    pins = new Pins(pool, requests, blocks);
    flight = BoundFlight.of(core.backend.flight(capacity), pool.slab());
    firstPageAddress = pool.baseAddress() + pool.headerBytes();
    strideBytes = pool.layout().strideBytes();
    pageBytes = pool.pageBytes();
  }

  /**
   * Forgets all requests, outcomes and the message.
   *
   * @return this
   * @throws IllegalStateException if the batch is in flight
   */
  public TransferBatch clear() {
    requireIdle("clear");
    destinations.clear(requests.size());
    requests.clear();
    message = null;
    writes = false;
    ran = false;
    return this;
  }

  /**
   * Adds a write of a whole page.
   *
   * @param block a lease of the batch's pool, read until the batch has ended
   * @param segment where to
   * @param remoteAddress absolute address in the peer
   * @return this
   * @throws IllegalArgumentException naming the request, the field, the value and what is allowed
   * @throws IllegalStateException if the batch is full or in flight
   * @throws ClosedException if the segment is closed
   */
  public TransferBatch write(long block, Segment segment, long remoteAddress) {
    return add(TransferRequests.WRITE, block, 0, pageBytes, segment, remoteAddress);
  }

  /**
   * Adds a write of a part of a page.
   *
   * @param block a lease of the batch's pool, read until the batch has ended
   * @param offset where in the page the part begins
   * @param bytes its length, 1 or more, ending within the page
   * @param segment where to
   * @param remoteAddress absolute address in the peer
   * @return this; see {@link #write(long, Segment, long)} for what is thrown
   */
  public TransferBatch write(long block, long offset, long bytes, Segment segment, long remoteAddress) {
    return add(TransferRequests.WRITE, block, offset, bytes, segment, remoteAddress);
  }

  /**
   * Adds a read of a whole page.
   *
   * @param block a lease of the batch's pool, written until the batch has ended
   * @param segment where from
   * @param remoteAddress absolute address in the peer
   * @return this; see {@link #write(long, Segment, long)} for what is thrown
   */
  public TransferBatch read(long block, Segment segment, long remoteAddress) {
    return add(TransferRequests.READ, block, 0, pageBytes, segment, remoteAddress);
  }

  /**
   * Adds a read into a part of a page. Reads into one block must be added side by side; the block then holds something
   * usable only if all of them complete.
   *
   * @param block a lease of the batch's pool, written until the batch has ended
   * @param offset where in the page the part begins
   * @param bytes its length, 1 or more, ending within the page
   * @param segment where from
   * @param remoteAddress absolute address in the peer
   * @return this; see {@link #write(long, Segment, long)} for what is thrown
   */
  public TransferBatch read(long block, long offset, long bytes, Segment segment, long remoteAddress) {
    return add(TransferRequests.READ, block, offset, bytes, segment, remoteAddress);
  }

  private TransferBatch add(int opcode, long block, long offset, long bytes, Segment segment, long remoteAddress) {
    requireIdle("add");
    int index = requests.size();
    if (index == blocks.length) throw new IllegalStateException("add refused: the batch is full with " + index);
    if (bytes < 1 || offset < 0 || offset > pageBytes - bytes) throw outside(index, offset, bytes);
    if (!segment.isOf(core)) {
      throw new IllegalArgumentException("request " + index + ": segment must be of this engine: " + segment.name());
    }
    segment.requireRange(index, remoteAddress, bytes);
    if (block == 0) throw new IllegalArgumentException("request " + index + ": block must be a lease: 0");
    blocks[index] = block;
    destinations.set(index, segment);
    requests.add(opcode, firstPageAddress + pool.blockIndex(block) * strideBytes + offset, segment.id(), remoteAddress,
        bytes);
    writes |= opcode == TransferRequests.WRITE;
    ran = false;
    return this;
  }

  private IllegalArgumentException outside(int index, long offset, long bytes) {
    return new IllegalArgumentException("request " + index + ": offset and bytes must lie within a page of " + pageBytes
        + " bytes, at least 1: offset " + offset + ", bytes " + bytes);
  }

  /**
   * Sends a message to the segment of the first request once all requests have completed, never if one has not. The
   * batch ends when the message was delivered or could not be.
   *
   * @param bytes what to send, copied; within {@link dev.gatun.backend.EngineCapabilities#notificationBytesMax}
   * @return this
   * @throws IllegalArgumentException if it is too long
   * @throws IllegalStateException if the batch is in flight
   */
  public TransferBatch message(byte[] bytes) {
    requireIdle("message");
    core.requireMessage(bytes);
    message = bytes.clone();
    return this;
  }

  /**
   * Sends all requests out. Does not wait for them, but connecting to a peer may block for the engine's connect timeout.
   * Follow with {@link #await}. Requests stay for another submit; what it refuses, it refuses before anything is sent.
   *
   * @return this
   * @throws GateClosedException if a refit is running or has disabled transfers
   * @throws EpochChangedException if a block was leased before an earlier refit
   * @throws IllegalStateException if the batch is empty or in flight, or a block is in another transfer, naming the request
   * @throws TooManyRequestsException if more would be in flight to a segment than the engine takes
   * @throws EngineException if the library refuses; nothing was sent
   * @throws ClosedException if the engine, the batch, a segment or the pool is closed or the pool's slab is not registered
   */
  public TransferBatch submit() {
    hold = false;
    return begin();
  }

  /** Submits, and keeps the blocks marked when all has landed, until {@link #settle} says what they are worth. */
  TransferBatch submitHeld() {
    hold = true;
    return begin();
  }

  /** Ends a flight that was held. {@code good} says whether what was read is what was wanted. */
  void settle(boolean good) {
    if (!STATE.compareAndSet(this, HELD, BUSY)) return;
    if (!good) outcomes.replace(requests.size(), TransferOutcome.COMPLETED, TransferOutcome.SOURCE_CHANGED);
    letGo();
    state = IDLE;
  }

  private TransferBatch begin() {
    claim("submit", IDLE);
    int next = IDLE;
    try {
      if (requests.size() == 0) throw new IllegalStateException("submit refused: the batch is empty");
      core.requireOpen("submit");
      ticket = core.gate.enter("submit");
      try {
        prepare();
      } finally {
        core.gate.exit(ticket);
      }
      // connecting may take long: a refit finds the batch in flight, and the gate empty
      launch();
      next = FLYING;
    } finally {
      state = next;
    }
    // closing looks at the state after it has shut the door: one of the two sees the other
    return this;
  }

  /** Counts everything in, or nothing. */
  private void prepare() {
    if (flight == null) flight = BoundFlight.of(core.backend.flight(blocks.length), pool.slab());
    outcomes.fill(requests.size(), TransferOutcome.NOT_SENT);
    ran = true;
    notified = false;
    failure = null;
    doubtful = null;
    memory.begin("submit");
    boolean reserved = false;
    boolean pinned = false;
    try {
      destinations.reserve(requests.size());
      reserved = true;
      pins.begin();
      pinned = true;
    } finally {
      if (!pinned) {
        if (reserved) destinations.release(requests.size());
        memory.end();
      }
    }
  }

  private void launch() {
    boolean sent = false;
    try {
      submittedNanos = System.nanoTime();
      current().submit(requests, message);
      sent = true;
    } finally {
      if (!sent) {
        destinations.release(requests.size());
        letGo();
      }
    }
    outcomes.fill(requests.size(), TransferOutcome.RUNNING);
  }

  /**
   * Waits until everything has ended. First it looks again and again, for the lowest latency, then ever more rarely. An
   * interrupt does not cut the wait short; it is pending again afterwards.
   *
   * @param deadline when to give up
   * @return whether all requests have ended, however: see {@link #allCompleted} and {@link #outcome}. If not, those that
   *     have not are {@link TransferOutcome#IN_DOUBT} and their blocks in quarantine
   * @throws EngineException if the library cannot tell how requests stand: they are in doubt
   * @throws IllegalStateException if nothing was submitted
   * @throws ClosedException if the batch is closed
   */
  public boolean await(Deadline deadline) {
    if (state == CLOSED) throw new ClosedException("await refused: the batch is closed");
    if (!ran) throw new IllegalStateException("await refused: nothing was submitted");
    boolean interrupted = false;
    backoff.reset();
    try {
      while (true) {
        if (step()) break;
        long left = deadline.remainingNanos();
        if (left == 0 && giveUp("its deadline came")) break;
        backoff.pause(left);
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
    if (failure != null) throw failure;
    return inDoubt() == 0;
  }

  /**
   * Submits, and lets the engine's own thread wait.
   *
   * @param deadline when to give up
   * @return ends with this batch once all requests have ended; with {@link dev.gatun.backend.DeadlineException} if some
   *     had not at the deadline, and with whatever {@link #submit} throws beyond what it refuses. Its dependents run on
   *     the thread that polls: hand long work to another
   */
  public CompletableFuture<TransferBatch> submitAsync(Deadline deadline) {
    try {
      submit();
    } catch (EngineException notSent) {
      return CompletableFuture.failedFuture(notSent);
    }
    AwaitedBatch awaited = new AwaitedBatch(this, deadline);
    core.poller.add(awaited);
    return awaited.future;
  }

  /** {@return whether nothing is in flight; looks, does not wait} */
  public boolean isDone() {
    return step();
  }

  /** {@return requests added since the last {@link #clear}} */
  public int size() {
    return requests.size();
  }

  /** {@return most requests it can hold} */
  public int capacity() {
    return blocks.length;
  }

  /** {@return the pool whose blocks it takes} */
  public BlockPool pool() {
    return pool;
  }

  /**
   * {@return the block of a request}
   *
   * @param index place of the request
   */
  public long block(int index) {
    return blocks[Objects.checkIndex(index, requests.size())];
  }

  /**
   * {@return how a request stands or ended}
   *
   * @param index place of the request
   */
  public TransferOutcome outcome(int index) {
    Objects.checkIndex(index, requests.size());
    return ran ? outcomes.get(index) : TransferOutcome.NOT_SENT;
  }

  /**
   * {@return the library's own number behind {@link #outcome}, 0 where it has not said}
   *
   * @param index place of the request
   */
  public long rawStatus(int index) {
    return outcomes.rawStatus(Objects.checkIndex(index, requests.size()));
  }

  /** {@return whether every request has completed, in the epoch in which it was submitted} */
  public boolean allCompleted() {
    return count(TransferOutcome.COMPLETED) == requests.size();
  }

  /** {@return requests that had not ended when their deadline came} */
  public int inDoubt() {
    return count(TransferOutcome.IN_DOUBT);
  }

  /** {@return whether the message was delivered; false if there was none} */
  public boolean notified() {
    return notified;
  }

  /**
   * Frees what the batch holds. Idempotent; closing the engine does it too.
   *
   * @throws IllegalStateException if it is in flight: await it first
   */
  @Override
  public void close() {
    if (state == CLOSED) return;
    settle(false);
    claim("close", IDLE);
    state = CLOSED;
    core.batches.remove(this);
    EngineFlight idle = flight;
    if (idle != null) idle.close();
    if (arena.scope().isAlive()) arena.close();
  }

  /** Looks at the flight, if no other thread does at this moment. {@return whether nothing is in flight} */
  boolean step() {
    if (state != FLYING || !STATE.compareAndSet(this, FLYING, BUSY)) return isOver(state);
    int next = FLYING;
    try {
      if (current().poll() == 0) next = land();
    } catch (EngineException | ClosedException unknown) {
      failure = unknown;
      doubt(unknown.getMessage());
      next = IDLE;
    } finally {
      state = next;
    }
    return isOver(next);
  }

  private static boolean isOver(int state) {
    return state == IDLE || state == CLOSED || state == HELD;
  }

  /** Looks once more and leaves the rest in doubt. {@return false if another thread was just looking: try again} */
  boolean giveUp(String reason) {
    if (!STATE.compareAndSet(this, FLYING, BUSY)) return isOver(state);
    int next = IDLE;
    try {
      if (current().pollAll() == 0) next = land();
      else
        doubt(reason);
    } catch (EngineException | ClosedException unknown) {
      failure = unknown;
      doubt(unknown.getMessage());
    } finally {
      state = next;
    }
    return true;
  }

  boolean isFlying() {
    int now = state;
    return now == FLYING || now == BUSY;
  }

  @Nullable
  RuntimeException failure() {
    return failure;
  }

  private EngineFlight current() {
    return Objects.requireNonNull(flight);
  }

  /** {@return the next state} */
  private int land() {
    notified = current().notified();
    look();
    destinations.release(requests.size());
    if (hold) return HELD;
    letGo();
    return IDLE;
  }

  private void letGo() {
    pins.end(outcomes);
    memory.end();
  }

  /** {@return the flight of the last submit if it is in doubt, which tells when it is over} */
  @Nullable
  Doubtful doubtful() {
    return doubtful;
  }

  private void doubt(@Nullable String reason) {
    EngineFlight given = current();
    int count = requests.size();
    look();
    outcomes.doubtTheRest(count);
    // nobody will confirm what has arrived of it
    if (hold) outcomes.replace(count, TransferOutcome.COMPLETED, TransferOutcome.SOURCE_CHANGED);
    String description = this + ", in doubt because " + reason;
    long[] quarantined = pins.endOrQuarantine(outcomes);
    Runnable uncount = destinations.releaseLater(count);
    flight = null;
    Doubtful left = new Doubtful(core, given, pool, quarantined, count, writes, () -> {
      uncount.run();
      memory.end();
    }, description);
    doubtful = left;
    core.addDoubtful(left);
  }

  private void look() {
    outcomes.take(current(), requests.size(), core.gate.isCurrent(ticket));
  }

  private int count(TransferOutcome wanted) {
    return ran ? outcomes.count(requests.size(), wanted) : 0;
  }

  private void claim(String operation, int from) {
    if (!STATE.compareAndSet(this, from, BUSY)) throw refused(operation);
  }

  private void requireIdle(String operation) {
    if (state != IDLE) throw refused(operation);
  }

  private RuntimeException refused(String operation) {
    if (state == CLOSED) return new ClosedException(operation + " refused: the batch is closed");
    return new IllegalStateException(operation + " refused: " + this + " is in flight; await it first");
  }

  @Override
  public String toString() {
    int size = requests.size();
    double seconds = submittedNanos == 0 ? 0 : (System.nanoTime() - submittedNanos) / 1e9;
    return String.format(Locale.ROOT, "%d %s with %s for %.1f s", size, writes ? "writes" : "reads", destinations,
        seconds);
  }
}

package dev.gatun.device;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.memory.BlockPool;

/**
 * Pages that move together between an engine's paged cache and blocks of a pool, by {@link StagingPipeline}. Made once,
 * filled and sent many times: clear, add, send, await. Sending allocates nothing and does not wait for the GPU, unless some
 * hundred operations are queued (see {@link DeviceStream}); two batches in turn keep the link busy.
 *
 * <p>One thread at a time; a refit may await it from another. From sending until it is awaited, its blocks are marked as
 * being read or written, so nobody frees or puts them.
 */
public final class StagedBatch implements AutoCloseable {
  private final StagingPipeline pipeline;
  private final Direction direction;
  private final FragmentTable table;
  private final WorkDone done;
  private final long[] blocks;
  private final long[] offsets;
  private int size;
  private long sent;
  private long turn; // in the ring, of what was sent last
  private boolean running;
  private boolean sending; // being queued, which may wait for room
  private boolean closed;
  private boolean refused; // the driver did, in the middle: part of it may run, and done says nothing

  /** Which way pages move. */
  public enum Direction {
    /** From the engine's cache into blocks of the pool, to be put. */
    SAVE,
    /** From blocks of the pool, which were got, into the engine's cache. */
    LOAD
  }

  StagedBatch(StagingPipeline pipeline, Direction direction, FragmentTable table, DeviceEvent done, int capacity) {
    this.pipeline = pipeline;
    this.direction = direction;
    this.table = table;
    this.done = new WorkDone(done);
    blocks = new long[capacity];
    offsets = new long[capacity];
  }

  /** {@return which way its pages move} */
  public Direction direction() {
    return direction;
  }

  /** {@return pages added} */
  public synchronized int size() {
    return size;
  }

  /**
   * Empties the batch. Blocks until the GPU has read the list of fragments that was sent last.
   *
   * @param deadline when to give up
   * @return this
   * @throws IllegalStateException if it was sent and not awaited
   * @throws ClosedException if it is closed; as with {@link #add} and {@link #send}
   * @throws DeadlineException if the GPU has not by then
   */
  public synchronized StagedBatch clear(Deadline deadline) {
    requireIdle("clear");
    table.clear(deadline);
    size = 0;
    return this;
  }

  /**
   * Adds a page.
   *
   * @param cacheBlock block of the engine's cache, not its null block
   * @param block a lease of the pipeline's pool
   * @return this
   * @throws IllegalStateException if the batch is full, or was sent and not awaited
   * @throws IllegalArgumentException if either block is not one
   */
  public synchronized StagedBatch add(int cacheBlock, long block) {
    requireIdle("add");
    if (size == blocks.length) throw new IllegalStateException("batch is full: capacity " + blocks.length);
    long offset = pipeline.pageOffset(block);
    table.addBlock(pipeline.layout(), cacheBlock);
    blocks[size] = block;
    offsets[size] = offset;
    size++;
    return this;
  }

  /**
   * Queues the move of all pages and returns. It starts when {@code after} is done: for a save when the kernels that make
   * the pages have run, for a load when nothing reads or writes the blocks of the cache any more.
   *
   * @param after recorded before, on the engine's stream; there is no default, since reading pages too early shows much
   *     later and in no log
   * @return this
   * @throws IllegalStateException if it was sent and not awaited, or a block's lease has ended or is in use; nothing is
   *     queued then
   * @throws EpochChangedException if a refit came in between: the pages are of old weights
   * @throws dev.gatun.backend.GateClosedException if a refit is running or has disabled the store: what the cache holds
   *     now may be of old weights, whenever its block was leased
   * @throws DeadlineException if the GPU has ended nothing for a minute and its queue is full; as with the next
   * @throws DeviceException if the driver refuses: a part may be queued, so the blocks stay marked until {@link #await}
   *     has seen the GPU at rest; no page counts as moved
   */
  public StagedBatch send(Completion after) {
    DeviceEvent start = DeviceEvent.of(after);
    start.requireOn(done.device());
    start.enter();
    try {
      beginSending();
      boolean queued = false;
      try {
        pipeline.queue(this, start); // without the lock: a refit that waits meanwhile keeps to its own deadline
        queued = true;
      } finally {
        endSending(queued);
      }
    } finally {
      start.exit();
    }
    return this;
  }

  private synchronized void beginSending() {
    requireIdle("send");
    EpochGate gate = pipeline.pool().gate();
    int ticket = gate.enter("send");
    try {
      begin();
      if (!gate.isCurrent(ticket)) { // a block may have been renewed since
        unmark(size);
        throw new EpochChangedException("send refused: a refit began meanwhile; compute the pages again");
      }
    } finally {
      gate.exit(ticket); // marked: a refit that begins now finds it by its blocks
    }
    sent++;
    running = true;
    sending = true;
  }

  private synchronized void endSending(boolean queued) {
    sending = false;
    refused = !queued;
  }

  /**
   * {@return done once all pages sent last have moved} A stream of the engine waits for it in place of a thread.
   */
  public Completion done() {
    return done;
  }

  /** The event behind {@link #done}, for who queues the batch. */
  DeviceEvent doneEvent() {
    return done.event();
  }

  /**
   * Waits until all pages sent have moved, and lets their blocks go: after a save the blocks hold the pages, unless the
   * driver refused to send them all. Blocks. Does nothing if nothing was sent.
   *
   * @param deadline when to give up
   * @return this
   * @throws DeadlineException if they have not by then; they move on and their blocks stay marked
   * @throws DeviceException if the GPU failed; the blocks' content is invalid
   */
  public StagedBatch await(Deadline deadline) {
    long awaited;
    boolean partly;
    for (int round = 0;; round++) {
      synchronized (this) {
        if (!running) return this;
        awaited = sent;
        partly = refused;
        if (!sending) break;
      }
      if (deadline.reached()) throw new DeadlineException(done + " is not done: the batch is still being sent");
      Pause.before(round, deadline.remainingNanos());
    }
    try {
      // without the lock: a refit that waits too keeps to its own deadline
      if (partly) pipeline.awaitStreams(direction, deadline);
      else
        done.await(deadline);
    } catch (DeviceException failed) {
      settle(awaited, false);
      throw failed;
    } catch (ClosedException closing) {
      if (isRunning(awaited)) throw closing;
      return this; // another thread has awaited it, and closed the batch
    }
    settle(awaited, !partly);
    return this;
  }

  private synchronized boolean isRunning(long awaited) {
    return running && sent == awaited;
  }

  /** Ends what was awaited, unless another thread that awaited it has. */
  private synchronized void settle(long awaited, boolean moved) {
    if (!isRunning(awaited)) return;
    running = false;
    if (moved) pipeline.ended(direction, turn);
    end(size, moved);
  }

  /** {@return whether it was sent and not awaited} */
  public synchronized boolean isRunning() {
    return running;
  }

  /** Marks all blocks, or none. */
  private void begin() {
    int begun = 0;
    try {
      for (; begun < size; begun++) {
        if (direction == Direction.SAVE) pipeline.pool().beginWrite(blocks[begun]);
        else
          pipeline.pool().beginRead(blocks[begun]);
      }
    } finally {
      if (begun < size) unmark(begun);
    }
  }

  /** Nothing was sent: the blocks are as they were. */
  private void unmark(int count) {
    BlockPool pool = pipeline.pool();
    for (int i = 0; i < count; i++) {
      if (direction == Direction.SAVE) pool.cancelWrite(blocks[i]);
      else
        pool.endRead(blocks[i]);
    }
  }

  private void end(int count, boolean moved) {
    BlockPool pool = pipeline.pool();
    for (int i = 0; i < count; i++) {
      if (direction == Direction.SAVE) pool.endWrite(blocks[i], moved);
      else
        pool.endRead(blocks[i]);
    }
  }

  private void requireIdle(String call) {
    if (closed) throw new ClosedException(call + " refused: the batch is closed");
    if (running) throw new IllegalStateException(call + " refused: the batch was sent; await it first");
  }

  /** Called while it is being sent. */
  void turn(long taken) {
    turn = taken;
  }

  FragmentTable table() {
    return table;
  }

  /** Where in the pinned slab the page of an entry begins. */
  long offset(int index) {
    return offsets[index];
  }

  /**
   * Frees it. Blocks as {@link DeviceResource#close()} does. Idempotent; goes on where it stopped if it was refused before.
   *
   * @throws IllegalStateException if it was sent and not awaited
   * @throws dev.gatun.backend.InUseException if the GPU does not let go of it in time
   * @throws DeviceException if the driver refuses
   */
  @Override
  public void close() {
    synchronized (this) {
      if (!closed) requireIdle("close");
      closed = true;
    }
    // without the lock: a refit that awaits it meanwhile keeps to its own deadline
    table.close();
    done.event().close();
    pipeline.forget(this);
  }
}

package dev.gatun.store;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreException;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.Arena;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Keys and blocks that are put, got or asked for together; the hot path of a store. Made once by {@link KvStore#batch},
 * owned and reused by the caller: {@link #clear}, {@link #add} entries, run, read the outcomes by index, which is that
 * of adding. Nothing is allocated in steady state; keys longer than 64 bytes, a new epoch, a batch above the limits of
 * {@link StorePolicy}, waiting for a refit, and errors allocate.
 *
 * <p>A batch serves one thread at a time and may be handed on; use by a second thread while an operation runs is
 * refused with {@link IllegalStateException}. It keeps the keys it was given until they are overwritten or it is closed.
 * Blocks stay the caller's. While an operation runs they cannot become free, whoever releases them; after
 * {@link StoreCode#TRANSFER_FAIL} not before the store is closed, since native code may still touch them.
 *
 * <p>The operations block as long as the library does, within the bounds said at {@link KvStore}, for each of the native
 * calls that {@link StorePolicy} splits them into: run them on platform threads, or through {@link AsyncKvStore}, whose
 * futures end at a deadline of their own.
 */
public final class StoreBatch implements AutoCloseable {
  /** Most entries a batch can hold: some 300 MB of its own memory, above any engine's blocks; unmeasured default. */
  public static final int CAPACITY_MAX = 1 << 20;

  private final StoreCore core;
  private final BlockPool pool;
  private final RegisteredSlab registered;
  private final Arena arena;
  private final Activity activity;
  private final BatchEntries entries;
  private final BatchRun run;
  private final Placement placement;
  private final long pageBytes;
  private final int headerBytes;

  StoreBatch(StoreCore core, BlockPool pool, RegisteredSlab registered, int capacity, Arena arena) {
    this.core = core;
    this.pool = pool;
    this.registered = registered;
    this.arena = arena;
    // the large part first: if there is no memory for it, nothing else has been begun
    entries = new BatchEntries(arena, capacity, core.codec, core.gate);
    activity = core.activities.open("batch", registered);
    run = new BatchRun(core, entries, pool, registered, activity, arena);
    placement = new Placement(core);
    pageBytes = pool.pageBytes();
    headerBytes = core.codec.headerBytes();
  }

  /**
   * Forgets all entries and outcomes.
   *
   * @return this
   * @throws IllegalStateException if an operation runs
   */
  public StoreBatch clear() {
    activity.requireIdle("clear");
    entries.clear();
    return this;
  }

  /**
   * Adds an entry for a whole page.
   *
   * @param key not yet in this batch
   * @param block a lease of the batch's pool: the page to put, or the place to get into
   * @return this
   * @throws IllegalArgumentException if the key is here already (naming both entries) or the block is 0
   * @throws IllegalStateException if the batch is full, or an operation runs
   */
  public StoreBatch add(KvKey key, long block) {
    return add(key, block, pageBytes);
  }

  /**
   * Adds an entry for the first bytes of a page.
   *
   * @param key not yet in this batch
   * @param block a lease of the batch's pool
   * @param bytes how many to put, or the room to get into: 1 to the pool's page size
   * @return this
   * @throws IllegalArgumentException if the key is here already (naming both entries), the block is 0 or the bytes are
   *     out of range
   * @throws IllegalStateException if the batch is full, or an operation runs
   */
  public StoreBatch add(KvKey key, long block, long bytes) {
    activity.requireIdle("add");
    if (block == 0) throw new IllegalArgumentException(entry(key) + ": block must be a lease: 0");
    if (bytes < 1 || bytes > pageBytes) {
      throw new IllegalArgumentException(entry(key) + ": bytes must be 1 to " + pageBytes + ": " + bytes);
    }
    entries.add(key, block, headerBytes + bytes);
    return this;
  }

  /**
   * Adds an entry without a block, of which only {@link #exists} can be asked.
   *
   * @param key not yet in this batch
   * @return this
   * @throws IllegalArgumentException if the key is here already (naming both entries)
   * @throws IllegalStateException if the batch is full, or an operation runs
   */
  public StoreBatch add(KvKey key) {
    activity.requireIdle("add");
    entries.add(key, 0, 0);
    return this;
  }

  /**
   * Places the objects of later puts as told; stays until the next call.
   *
   * @param options replicas, pins, segments
   * @return this
   * @throws IllegalStateException if an operation runs
   */
  public StoreBatch replicate(ReplicateOptions options) {
    activity.requireIdle("replicate");
    placement.set(options);
    return this;
  }

  /**
   * Puts every entry's page under its key. A key that is there already keeps its bytes and counts as stored, unless the
   * store probes before it puts. Blocks are read until this returns. Entries keep their place for another operation.
   *
   * @return this; {@link #isStored}, {@link #code} and {@link #putResult} tell the outcome of each entry
   * @throws GateClosedException if a refit is running or has disabled the store: compute again afterwards
   * @throws EpochChangedException if a refit came since the first {@link #add} or since a block was leased: the bytes
   *     are of old weights, compute again
   * @throws IllegalStateException if an entry has no block, or a block cannot be read, naming the entry
   * @throws InUseException if a block is being put under another key by somebody else, under a codec with stamps
   * @throws ClosedException if the store, the batch or the pool is closed or the pool's slab is not registered
   * @throws StoreException if a native call fails as a whole; its entries and those after it are failed with its code,
   *     those before it have their outcomes
   */
  public StoreBatch put() {
    run.put(placement.encoded());
    return this;
  }

  /**
   * Gets every entry's page into its block. While a refit runs it waits, at most {@link StorePolicy#parkMax}, then asks
   * under the new epoch and takes the blocks along; with the store disabled every entry misses at once. A block whose
   * entry is not a hit holds nothing usable: {@link BlockPool#rewrite} it or release it.
   *
   * @return this; {@link #isHit}, {@link #bytes}, {@link #code} and {@link #getResult} tell the outcome of each entry
   * @throws EpochChangedException if a block was leased before an earlier refit
   * @throws dev.gatun.backend.DeadlineException if a refit took longer than {@link StorePolicy#parkMax}
   * @throws IllegalStateException if an entry has no block, or a block is in another transfer, naming the entry
   * @throws ClosedException if the store, the batch or the pool is closed or the pool's slab is not registered
   * @throws StoreException if a native call fails as a whole; its entries and those after it are failed with its code,
   *     those before it have their outcomes
   */
  public StoreBatch get() {
    run.get(false);
    return this;
  }

  /** The same for a lane, which holds each block beside the caller. */
  StoreBatch getHeld() {
    run.get(true);
    return this;
  }

  /**
   * Asks whether every entry's key can be read, which grants each a lease. Waits for a running refit as {@link #get}.
   *
   * @return this; {@link #existence} tells the outcome of each entry
   * @throws dev.gatun.backend.DeadlineException if a refit took longer than {@link StorePolicy#parkMax}
   * @throws ClosedException if the store or the batch is closed
   * @throws StoreException if a native call fails as a whole; see {@link #get}
   */
  public StoreBatch exists() {
    run.exists();
    return this;
  }

  /** {@return entries added since the last {@link #clear}} */
  public int size() {
    return entries.size;
  }

  /** {@return most entries it can hold} */
  public int capacity() {
    return entries.keys.length;
  }

  /** {@return the pool whose blocks it takes} */
  public BlockPool pool() {
    return pool;
  }

  /**
   * {@return the key of an entry}
   *
   * @param index place of the entry
   */
  public KvKey key(int index) {
    return entries.keys[Objects.checkIndex(index, entries.size)];
  }

  /**
   * {@return the block of an entry, 0 if it was added without}
   *
   * @param index place of the entry
   */
  public long block(int index) {
    return entries.blocks[Objects.checkIndex(index, entries.size)];
  }

  /**
   * {@return the outcome of an entry: {@link StoreCode#OK} if stored, hit or present; {@link StoreCode#OBJECT_NOT_FOUND}
   * if missed or absent; {@link StoreCode#OBJECT_ALREADY_EXISTS} if known to be there before a put;
   * {@link StoreCode#PAGE_REJECTED} if the bytes are not those of the page; else why it failed}
   *
   * @param index place of the entry
   * @throws IllegalStateException if no operation has run
   */
  public StoreCode code(int index) {
    long outcome = outcome(index);
    if (outcome == 0 && entries.ran == BatchEntries.Ran.EXISTS) return StoreCode.OBJECT_NOT_FOUND;
    return outcome >= 0 ? StoreCode.OK : StoreCode.of(Outcome.rawCode(outcome));
  }

  /**
   * {@return the number behind {@link #code}: 0, or the negative code of the library, also where this version of Gatun
   * does not know it}
   *
   * @param index place of the entry
   * @throws IllegalStateException if no operation has run
   */
  public long rawCode(int index) {
    return Outcome.rawCode(outcome(index));
  }

  /**
   * {@return length of the page that arrived, 0 unless {@link #isHit}}
   *
   * @param index place of the entry
   * @throws IllegalStateException if the last operation was not a get
   */
  public long bytes(int index) {
    return Math.max(0, outcomeOf(BatchEntries.Ran.GET, index));
  }

  /**
   * {@return whether the block of the entry now holds the page of its key}
   *
   * @param index place of the entry
   * @throws IllegalStateException if the last operation was not a get
   */
  public boolean isHit(int index) {
    return outcomeOf(BatchEntries.Ran.GET, index) > 0;
  }

  /**
   * {@return how many entries, counted from the first, are hits without a gap: the prefix that can be used}
   *
   * @throws IllegalStateException if the last operation was not a get
   */
  public int leadingHits() {
    int count = 0;
    while (count < entries.size && isHit(count))
      count++;
    return count;
  }

  /**
   * {@return whether the page was stored or was there before}
   *
   * @param index place of the entry
   * @throws IllegalStateException if the last operation was not a put
   */
  public boolean isStored(int index) {
    long outcome = outcomeOf(BatchEntries.Ran.PUT, index);
    return outcome == 0 || outcome == StoreCode.OBJECT_ALREADY_EXISTS.raw();
  }

  /**
   * {@return why the bytes that arrived are not the page, null if they are or none arrived}
   *
   * @param index place of the entry
   * @throws IllegalStateException if the last operation was not a get
   */
  public @Nullable Rejection rejection(int index) {
    return Outcome.rejection(outcomeOf(BatchEntries.Ran.GET, index));
  }

  /**
   * {@return the answer for an entry}
   *
   * @param index place of the entry
   * @throws IllegalStateException if the last operation was not an existence query
   */
  public Existence existence(int index) {
    return Questions.answer(outcomeOf(BatchEntries.Ran.EXISTS, index));
  }

  /**
   * {@return the outcome of putting an entry, as an object}
   *
   * @param index place of the entry
   * @throws IllegalStateException if the last operation was not a put
   */
  public PutResult putResult(int index) {
    long outcome = outcomeOf(BatchEntries.Ran.PUT, index);
    if (outcome == 0) return new PutResult.Stored();
    if (outcome == StoreCode.OBJECT_ALREADY_EXISTS.raw()) return new PutResult.AlreadyPresent();
    return new PutResult.PutFailed(code(index), rawCode(index), entries.detail(index));
  }

  /**
   * {@return the outcome of getting an entry, as an object}
   *
   * @param index place of the entry
   * @throws IllegalStateException if the last operation was not a get
   */
  public GetResult getResult(int index) {
    return Singles.result(outcomeOf(BatchEntries.Ran.GET, index));
  }

  /**
   * Frees the columns. Idempotent; closing the store does it too.
   *
   * @throws IllegalStateException if an operation runs
   */
  @Override
  public synchronized void close() {
    if (!activity.close()) activity.requireIdle("close");
    core.activities.forget(activity);
    core.batches.remove(this);
    placement.close();
    if (arena.scope().isAlive()) arena.close();
  }

  void requireOf(StoreCore wanted) {
    if (core != wanted) throw new IllegalArgumentException("batch must be of this store: of " + core.backend.name());
  }

  /** Gives the batch to a lane, with a hold on its blocks. {@return what takes both back} */
  Runnable handOver(String operation) {
    activity.handOver(operation, entries.size);
    try {
      Runnable drop = HeldBlocks.hold(pool, entries.blocks.clone(), entries.size);
      return () -> {
        takeBack();
        drop.run();
      };
    } catch (RuntimeException refused) {
      takeBack();
      throw refused;
    }
  }

  /** Ends the waiting for a lane, if it has not ended. */
  StoreBatch takeBack() {
    activity.takeBack();
    return this;
  }

  /** {@return whether its pool is still registered} */
  boolean isUsable() {
    return registered.isOpen();
  }

  /** {@return native memory of the columns, in bytes} */
  long nativeBytes() {
    return entries.columns.nativeBytes();
  }

  private long outcome(int index) {
    Objects.checkIndex(index, entries.size);
    if (entries.ran == BatchEntries.Ran.NOTHING) throw new IllegalStateException("the batch has not run");
    return entries.outcomes[index];
  }

  private long outcomeOf(BatchEntries.Ran operation, int index) {
    if (entries.ran != operation) {
      throw new IllegalStateException("the outcomes are of " + entries.ran + ", not of " + operation);
    }
    return entries.outcomes[Objects.checkIndex(index, entries.size)];
  }

  private String entry(KvKey key) {
    return "entry " + entries.size + " (" + key + ')';
  }
}

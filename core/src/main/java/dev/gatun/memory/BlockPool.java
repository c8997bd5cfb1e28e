package dev.gatun.memory;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.Quiescable;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/**
 * Blocks of equal size on a slab, lent out by handle. A handle is one {@code long}, never 0: it names one lease of one
 * block, and every call refuses it once that lease has ended. A block belongs to the weight epoch in which it was
 * leased; after a refit it can only be released, or renewed for new content.
 *
 * <p>Leasing, retaining, releasing and marking transfers take no lock and allocate nothing. Every method may be called
 * by any thread; only those that say so block.
 *
 * <p>Longer than most classes here because each small operation carries its contract; what it does stands in
 * {@code PoolLeases}, {@code PoolTransfers} and {@code PoolClosing}.
 */
public final class BlockPool implements AutoCloseable, Quiescable {
  private final PoolLeases leases;
  private final PoolTransfers transfers;
  private final PoolLayout layout;
  private final PoolOptions options;
  private final EpochGate gate;
  private final Slab slab;
  private final boolean ownsSlab;
  private final Quarantine quarantine = new Quarantine();
  private final PoolCensus census;
  private final PoolClosing closing;
  private final Refusals refusals = new Refusals(this);

  private BlockPool(Slab slab, boolean ownsSlab, PoolLayout layout, EpochGate gate, PoolOptions options) {
    this.slab = slab;
    this.ownsSlab = ownsSlab;
    this.layout = layout;
    this.options = options;
    this.gate = gate;
    leases = new PoolLeases(slab, layout, gate, options, refusals);
    transfers = new PoolTransfers(leases, quarantine);
    census = new PoolCensus(leases.states, quarantine, leases.tracker, gate, leases.poolBits);
    closing = new PoolClosing(this, leases, census, options.name());
  }

  /**
   * Cuts the next free part of a slab into blocks and registers the pool with the gate.
   *
   * @param slab where the blocks lie; must stay open, and stays the caller's
   * @param layout sizes and count
   * @param gate whose refits end the leases
   * @return a pool with all blocks free; the caller closes it
   * @throws IllegalArgumentException if the slab has not enough room left
   * @throws ClosedException if the slab is closed
   */
  public static BlockPool over(Slab slab, PoolLayout layout, EpochGate gate) {
    return over(slab, layout, gate, PoolOptions.named(slab.name()));
  }

  /**
   * As {@link #over(Slab, PoolLayout, EpochGate)}, with options.
   *
   * @param slab where the blocks lie; must stay open, and stays the caller's
   * @param layout sizes and count
   * @param gate whose refits end the leases
   * @param options name, lease tracking, poison, which must be off for memory that Java cannot touch
   * @return a pool with all blocks free; the caller closes it
   */
  public static BlockPool over(Slab slab, PoolLayout layout, EpochGate gate, PoolOptions options) {
    BlockPool pool = new BlockPool(slab, false, layout, gate, options);
    gate.register(pool);
    return pool;
  }

  /**
   * Allocates a slab of ordinary pages and cuts it into blocks; the pool closes it too.
   *
   * @param layout sizes and count
   * @param gate whose refits end the leases
   * @return a pool with all blocks free; the caller closes it
   * @throws MemoryBudgetException if the process's budget does not allow it
   * @throws SlabException if the system refuses the memory
   */
  public static BlockPool allocate(PoolLayout layout, EpochGate gate) {
    return allocate(layout, gate, PoolOptions.named("pool"));
  }

  /**
   * As {@link #allocate(PoolLayout, EpochGate)}, with options.
   *
   * @param layout sizes and count
   * @param gate whose refits end the leases
   * @param options name, lease tracking, poison
   * @return a pool with all blocks free; the caller closes it
   */
  public static BlockPool allocate(PoolLayout layout, EpochGate gate, PoolOptions options) {
    Slab slab = Slab.allocate(SlabOptions.of(options.name(), layout.totalBytes()));
    try {
      BlockPool pool = new BlockPool(slab, true, layout, gate, options);
      gate.register(pool);
      return pool;
    } catch (RuntimeException | Error e) {
      slab.close();
      throw e;
    }
  }

  /**
   * Leases a free block for the epoch in force. Its bytes are whatever was there before.
   *
   * @return the handle, with one reference; the caller releases it
   * @throws PoolExhaustedException if no block is free; nothing is waited for
   * @throws ClosedException if the pool is closed
   */
  public long lease() {
    long block = tryLease();
    if (block == 0) throw refusals.exhausted();
    return block;
  }

  /**
   * Leases a free block for the epoch in force, if there is one. Does not block.
   *
   * @return the handle, with one reference, or 0 if no block is free
   * @throws ClosedException if the pool is closed
   */
  public long tryLease() {
    return leaseFor(gate.ordinal());
  }

  /** Leases for an epoch that may have passed: the block then refuses to be saved. */
  long leaseFor(int ordinal) {
    long block = leases.lease(ordinal);
    if (block == 0 && closing.hasBegun()) throw refusals.closed("lease");
    return block;
  }

  /**
   * Adds a reference: somebody else needs the block too and will release it.
   *
   * @param block a current lease
   * @throws EpochChangedException if a refit came in between
   * @throws IllegalStateException if the lease has ended, or has 2047 references
   */
  public void retain(long block) {
    leases.retain(block);
  }

  /**
   * Drops a reference, in any epoch. With the last one the lease ends; the block becomes free at once, or, if transfers
   * use it, exactly once when the last of them ends.
   *
   * @param block a lease
   * @throws IllegalStateException if the lease has ended: a double release
   */
  public void release(long block) {
    leases.release(block);
  }

  /**
   * {@return the page of a block: the bytes after its header}
   *
   * <p>The segment may be used until the block is released; afterwards it shows another lease's bytes, which poison makes
   * visible. Release only when done.
   *
   * @param block a current lease
   * @throws EpochChangedException if a refit came in between; the bytes are of old weights
   * @throws IllegalStateException if the lease has ended, a transfer is writing, or the last write failed
   */
  public MemorySegment page(long block) {
    return leases.page(block);
  }

  /**
   * {@return the page of a block, to be written anew} Content marked invalid by a failed write counts as gone.
   *
   * @param block a current lease, with no transfer running
   * @throws EpochChangedException if a refit came in between
   * @throws IllegalStateException if the lease has ended, or a transfer uses the block
   */
  public MemorySegment rewrite(long block) {
    return leases.rewrite(block);
  }

  /**
   * Moves a lease of an earlier epoch to the epoch in force. Its old content is marked invalid: it must be got or
   * written anew.
   *
   * @param block a lease with one reference and no transfer
   * @throws IllegalStateException if the lease has ended, is shared, or a transfer uses the block
   */
  public void renew(long block) {
    leases.renew(block, 1);
  }

  /**
   * As {@link #renew(long)}, for somebody who answers for several references, such as one that keeps the block for an
   * operation.
   *
   * @param block a lease with no transfer
   * @param references most references it may have
   * @throws IllegalStateException if the lease has ended, has more references, or a transfer uses the block
   */
  public void renew(long block, int references) {
    leases.renew(block, references);
  }

  /**
   * {@return whether the lease has not ended and no refit came in between}
   *
   * @param block any number
   */
  public boolean isCurrent(long block) {
    return leases.isCurrent(block);
  }

  /**
   * Declares the block to stand for "no state", all zero: it can be read by {@link #page} but never be transferred.
   *
   * @param block a current lease, with no transfer running; its page is filled with zeros
   * @throws IllegalArgumentException if the pool is of memory that Java cannot touch
   */
  public void reserveNull(long block) {
    leases.reserveNull(block);
  }

  /**
   * {@return whether the block was declared null in this lease}
   *
   * @param block a lease
   */
  public boolean isNull(long block) {
    return leases.isNull(block);
  }

  /**
   * Marks a transfer that reads the block, such as a put; several may run at once. Pair with {@link #endRead}.
   *
   * @param block a current lease
   * @throws EpochChangedException if a refit came in between: the bytes are of old weights
   * @throws IllegalStateException if the lease has ended, a transfer is writing, the content is invalid, the block is
   *   the null block, or 255 transfers read it
   */
  public void beginRead(long block) {
    transfers.beginRead(block);
  }

  /**
   * Ends a reading transfer, in any epoch. Frees the block if it was released meanwhile.
   *
   * @param block what {@link #beginRead} was given
   * @throws IllegalStateException if no transfer reads the block, or all that do are in quarantine
   */
  public void endRead(long block) {
    transfers.endRead(block);
  }

  /**
   * Marks the transfer that writes the block, such as a get: no other transfer may use it. Pair with {@link #endWrite}.
   *
   * @param block a current lease
   * @throws EpochChangedException if a refit came in between
   * @throws IllegalStateException if the lease has ended, another transfer uses the block, or it is the null block
   */
  public void beginWrite(long block) {
    transfers.beginWrite(block);
  }

  /**
   * Ends the writing transfer, in any epoch. Frees the block if it was released meanwhile.
   *
   * @param block what {@link #beginWrite} was given
   * @param valid whether the page now holds what was wanted; if not, {@link #page} refuses until a new write
   * @throws IllegalStateException if no transfer writes the block, or it is in quarantine
   */
  public void endWrite(long block, boolean valid) {
    transfers.endWrite(block, valid);
  }

  /**
   * Takes back {@link #beginWrite} where nothing was written: the content is valid, or not, as it was. In any epoch. Frees the
   * block if it was released meanwhile.
   *
   * @param block what {@link #beginWrite} was given
   * @throws IllegalStateException as {@link #endWrite}
   */
  public void cancelWrite(long block) {
    transfers.cancelWrite(block);
  }

  /**
   * Hands one running transfer of a block to quarantine: it timed out, and native code may still touch the block. Takes
   * the place of {@link #endRead} or {@link #endWrite}; the block does not become free before {@link #endQuarantine}.
   *
   * @param block what the transfer was begun with
   * @throws IllegalStateException if no transfer outside quarantine uses the block
   */
  public void quarantine(long block) {
    transfers.quarantine(block);
  }

  /**
   * Ends one quarantined transfer, now that native code is known to be done. A write leaves the content invalid. Frees
   * the block if it was released meanwhile.
   *
   * @param block what {@link #quarantine} was given
   * @throws IllegalStateException if no transfer of the block is in quarantine
   */
  public void endQuarantine(long block) {
    transfers.endQuarantine(block);
  }

  /**
   * {@return the address of a block, that of its header, for native calls} Valid while the block is leased or a marked
   * transfer runs.
   *
   * @param block a lease
   * @throws ClosedException if the memory was adopted and its owner has closed it
   */
  public long blockAddress(long block) {
    return leases.baseAddress + leases.offset("blockAddress", block);
  }

  /**
   * {@return header and page of a block, whatever its epoch or content, for whoever marked a transfer on it}
   *
   * @param block a lease
   */
  public MemorySegment blockSegment(long block) {
    return leases.blockAt("blockSegment", block);
  }

  /** {@return the address of the block whose place is 0; the others follow at the layout's stride} */
  public long baseAddress() {
    return leases.baseAddress;
  }

  /**
   * {@return the place of a block in its pool, from 0; the same for every lease of it}
   *
   * @param block any handle of this pool
   */
  public int blockIndex(long block) {
    return leases.index("blockIndex", block);
  }

  /** {@return bytes before each page} */
  public int headerBytes() {
    return layout.headerBytes();
  }

  /** {@return bytes a page} */
  public long pageBytes() {
    return layout.pageBytes();
  }

  /** {@return sizes and count} */
  public PoolLayout layout() {
    return layout;
  }

  /** {@return the memory under the pool} */
  public Slab slab() {
    return slab;
  }

  /** {@return the gate whose refits end the leases} */
  public EpochGate gate() {
    return gate;
  }

  /** {@return free blocks, counted one by one; a moment's figure} */
  public int available() {
    return census.free();
  }

  /** {@return transfers in quarantine} */
  public int quarantined() {
    return quarantine.size();
  }

  /** {@return every block that is not free, looked at one by one; a moment's figure} */
  public List<BlockStatus> outstanding() {
    return census.outstanding();
  }

  @Override
  public String name() {
    return "pool " + options.name();
  }

  @Override
  public int failQueued() {
    return 0;
  }

  /** Of leases of earlier epochs: what was leased since the epoch was raised holds nothing old. */
  @Override
  public List<String> drain(Deadline deadline) {
    closing.awaitOldTransfers(deadline);
    return pending(block -> !block.current());
  }

  /** {@return a line for each block with a running transfer, or a quarantined read, whose bytes may still land elsewhere} */
  public List<String> pending() {
    return pending(block -> true);
  }

  private List<String> pending(Predicate<BlockStatus> counts) {
    return census.inFlight().stream().filter(counts).filter(block -> block.readers() > 0 || !block.quarantined())
        .map(BlockStatus::toString).toList();
  }

  @Override
  public void clearLocal() {
    leases.expire();
  }

  /**
   * Ends the pool, if no transfer uses its blocks: leases that are left are revoked and reported in the log. Idempotent.
   *
   * @throws InUseException if transfers run or are in quarantine, or the pool's own slab is still registered: close again
   */
  @Override
  public void close() {
    close(Deadline.after(Duration.ZERO));
  }

  /**
   * Waits until no transfer uses the blocks, then ends the pool as {@link #close()} does. Blocks. Idempotent.
   *
   * @param deadline when to give up
   * @throws InUseException if something still uses the memory at the deadline: nothing was freed, close again
   */
  public synchronized void close(Deadline deadline) {
    closing.end(deadline, ownsSlab);
    if (ownsSlab) slab.close(deadline);
  }

  /** {@return whether it was closed} */
  public boolean isClosed() {
    return closing.hasBegun();
  }

  /** {@return the blocks that had not been released when the pool was closed; empty before} */
  public List<BlockStatus> leaked() {
    return closing.leaked();
  }

  PoolExhaustedException exhausted() {
    return refusals.exhausted();
  }
}

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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks of equal size on a slab, lent out by handle. A handle is one {@code long}, never 0: it names one lease of one
 * block, and every call refuses it once that lease has ended. A block belongs to the weight epoch in which it was
 * leased; after a refit it can only be released, or renewed for new content.
 *
 * <p>Leasing, retaining, releasing and marking transfers take no lock and allocate nothing. Every method may be called
 * by any thread; only those that say so block.
 *
 * <p>Longer than most classes here because each small operation carries its contract.
 */
public final class BlockPool implements AutoCloseable, Quiescable {
  private static final Logger LOG = LoggerFactory.getLogger(BlockPool.class);
  private static final AtomicInteger NUMBERS = new AtomicInteger();
  // 50 us: as the epoch gate polls; unmeasured default
  private static final long POLL_NANOS = 50_000;

  private final PoolLayout layout;
  private final PoolOptions options;
  private final EpochGate gate;
  private final Slab slab;
  private final boolean ownsSlab;
  private final MemorySegment memory;
  private final long baseAddress;
  private final long strideBytes;
  private final int count;
  private final boolean poison;
  private final long poolBits;
  private final BlockStates states;
  private final FreeBlocks free;
  private final @Nullable LeaseTracker tracker;
  private final Quarantine quarantine = new Quarantine();
  private final PoolCensus census;
  private final Refusals refusals = new Refusals(this);
  private volatile boolean closed;
  private boolean ended;
  private List<BlockStatus> leaked = List.of();

  private BlockPool(Slab slab, boolean ownsSlab, PoolLayout layout, EpochGate gate, PoolOptions options) {
    this.slab = slab;
    this.ownsSlab = ownsSlab;
    this.layout = layout;
    this.options = options;
    this.gate = gate;
    count = layout.pageCount();
    poison = options.poison();
    strideBytes = layout.strideBytes();
    int number = NUMBERS.incrementAndGet();
    poolBits = BlockWord.poolBits(number);
    states = new BlockStates(layout.pageCount(), BlockWord.firstFree(number));
    free = new FreeBlocks(states);
    tracker = options.trackLeases() ? new LeaseTracker(layout.pageCount()) : null;
    census = new PoolCensus(states, quarantine, tracker, gate, poolBits);
    memory = slab.carve(layout.totalBytes(), options.name());
    baseAddress = memory.address();
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
   * @param options name, lease tracking, poison
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
    long block = free.take(BlockWord.leased(ordinal));
    if (block == 0) {
      if (closed) throw refusals.closed("lease");
      return 0;
    }
    if (tracker != null) tracker.onLease(BlockWord.index(block));
    return block | poolBits;
  }

  /**
   * Adds a reference: somebody else needs the block too and will release it.
   *
   * @param block a current lease
   * @throws EpochChangedException if a refit came in between
   * @throws IllegalStateException if the lease has ended, or has 2047 references
   */
  public void retain(long block) {
    int index = index("retain", block);
    long word;
    do {
      word = states.get(index);
      if (!isCurrent(word, block)) throw refusals.ended("retain", block, word);
      if (BlockWord.references(word) == BlockWord.REFERENCES) throw refusals.full("retain", block, "references");
    } while (!states.replace(index, word, word + BlockWord.REFERENCE));
  }

  /**
   * Drops a reference, in any epoch. With the last one the lease ends; the block becomes free at once, or, if transfers
   * use it, exactly once when the last of them ends.
   *
   * @param block a lease
   * @throws IllegalStateException if the lease has ended: a double release
   */
  public void release(long block) {
    int index = index("release", block);
    long word;
    do {
      word = states.get(index);
      if (!isLeased(word, block)) throw refusals.ended("release", block, word);
    } while (!drop(index, word, word - BlockWord.REFERENCE));
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
    int index = index("page", block);
    long word = states.get(index);
    if (!isCurrent(word, block)) throw refusals.ended("page", block, word);
    if (BlockWord.has(word, BlockWord.WRITER | BlockWord.INVALID)) throw refusals.unreadable("page", block, word);
    return pageAt(index);
  }

  /**
   * {@return the page of a block, to be written anew} Content marked invalid by a failed write counts as gone.
   *
   * @param block a current lease, with no transfer running
   * @throws EpochChangedException if a refit came in between
   * @throws IllegalStateException if the lease has ended, or a transfer uses the block
   */
  public MemorySegment rewrite(long block) {
    int index = index("rewrite", block);
    long word;
    do {
      word = states.get(index);
      if (!isCurrent(word, block)) throw refusals.ended("rewrite", block, word);
      if (BlockWord.has(word, BlockWord.TRANSFERS | BlockWord.NULL)) throw refusals.busy("rewrite", block, word);
    } while (!states.replace(index, word, word & ~BlockWord.INVALID));
    return pageAt(index);
  }

  /**
   * Moves a lease of an earlier epoch to the epoch in force. Its old content is marked invalid: it must be got or
   * written anew.
   *
   * @param block a lease with one reference and no transfer
   * @throws IllegalStateException if the lease has ended, is shared, or a transfer uses the block
   */
  public void renew(long block) {
    int index = index("renew", block);
    long word;
    long next;
    do {
      word = states.get(index);
      if (!isLeased(word, block)) throw refusals.ended("renew", block, word);
      if (BlockWord.has(word, BlockWord.TRANSFERS | BlockWord.NULL)) throw refusals.busy("renew", block, word);
      if (BlockWord.references(word) > 1)
        throw refusals.because("renew", block, "it is shared by " + BlockWord.references(word));
      long epoch = BlockWord.epochBits(gate.ordinal());
      if (BlockWord.isOfEpoch(word, epoch)) return;
      next = BlockWord.withEpoch(word, epoch) | BlockWord.INVALID;
    } while (!states.replace(index, word, next));
  }

  /**
   * {@return whether the lease has not ended and no refit came in between}
   *
   * @param block any number
   */
  public boolean isCurrent(long block) {
    int index = BlockWord.index(block);
    return BlockWord.ofPool(block, poolBits) && index >= 0 && index < count
        && isCurrent(states.get(index), block);
  }

  /**
   * Declares the block to stand for "no state", all zero: it can be read by {@link #page} but never be transferred.
   *
   * @param block a current lease, with no transfer running; its page is filled with zeros
   */
  public void reserveNull(long block) {
    rewrite(block).fill((byte) 0);
    int index = BlockWord.index(block);
    long word;
    do {
      word = states.get(index);
      if (!isCurrent(word, block)) throw refusals.ended("reserveNull", block, word);
      if (BlockWord.has(word, BlockWord.TRANSFERS)) throw refusals.busy("reserveNull", block, word);
    } while (!states.replace(index, word, word | BlockWord.NULL));
  }

  /**
   * {@return whether the block was declared null in this lease}
   *
   * @param block a lease
   */
  public boolean isNull(long block) {
    int index = index("isNull", block);
    long word = states.get(index);
    if (!isLeased(word, block)) throw refusals.ended("isNull", block, word);
    return BlockWord.has(word, BlockWord.NULL);
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
    int index = index("beginRead", block);
    long word;
    do {
      word = states.get(index);
      if (!isCurrent(word, block)) throw refusals.ended("beginRead", block, word);
      if (BlockWord.has(word, BlockWord.WRITER | BlockWord.INVALID | BlockWord.NULL)) {
        throw refusals.unreadable("beginRead", block, word);
      }
      if (!BlockWord.has(~word, BlockWord.READERS)) throw refusals.full("beginRead", block, "readers");
    } while (!states.replace(index, word, word + BlockWord.READER));
    if (tracker != null) tracker.onTransfer(index);
  }

  /**
   * Ends a reading transfer, in any epoch. Frees the block if it was released meanwhile.
   *
   * @param block what {@link #beginRead} was given
   * @throws IllegalStateException if no transfer reads the block, or all that do are in quarantine
   */
  public void endRead(long block) {
    int index = index("endRead", block);
    long word;
    do {
      word = states.get(index);
      if (!BlockWord.sameLease(word, block) || !BlockWord.has(word, BlockWord.READERS)) {
        throw refusals.notRunning("endRead", block, word);
      }
      if (BlockWord.has(word, BlockWord.QUARANTINED)) {
        endReadBesideQuarantine(index, block);
        return;
      }
    } while (!drop(index, word, word - BlockWord.READER));
  }

  private void endReadBesideQuarantine(int index, long block) {
    synchronized (quarantine) {
      long word;
      do {
        word = states.get(index);
        if (quarantine.holdsAll(index, word)) {
          throw refusals.because("endRead", block, "its transfers are in quarantine; call endQuarantine");
        }
      } while (!drop(index, word, word - BlockWord.READER));
    }
  }

  /**
   * Marks the transfer that writes the block, such as a get: no other transfer may use it. Pair with {@link #endWrite}.
   *
   * @param block a current lease
   * @throws EpochChangedException if a refit came in between
   * @throws IllegalStateException if the lease has ended, another transfer uses the block, or it is the null block
   */
  public void beginWrite(long block) {
    int index = index("beginWrite", block);
    long word;
    do {
      word = states.get(index);
      if (!isCurrent(word, block)) throw refusals.ended("beginWrite", block, word);
      if (BlockWord.has(word, BlockWord.TRANSFERS | BlockWord.NULL)) throw refusals.busy("beginWrite", block, word);
    } while (!states.replace(index, word, word | BlockWord.WRITER));
    if (tracker != null) tracker.onTransfer(index);
  }

  /**
   * Ends the writing transfer, in any epoch. Frees the block if it was released meanwhile.
   *
   * @param block what {@link #beginWrite} was given
   * @param valid whether the page now holds what was wanted; if not, {@link #page} refuses until a new write
   * @throws IllegalStateException if no transfer writes the block, or it is in quarantine
   */
  public void endWrite(long block, boolean valid) {
    int index = index("endWrite", block);
    long word;
    long next;
    do {
      word = states.get(index);
      if (!BlockWord.sameLease(word, block) || !BlockWord.has(word, BlockWord.WRITER)) {
        throw refusals.notRunning("endWrite", block, word);
      }
      if (BlockWord.has(word, BlockWord.QUARANTINED)) {
        throw refusals.because("endWrite", block, "its transfer is in quarantine; call endQuarantine");
      }
      next = word & ~(BlockWord.WRITER | BlockWord.INVALID);
      if (!valid) next |= BlockWord.INVALID;
    } while (!drop(index, word, next));
  }

  /**
   * Hands one running transfer of a block to quarantine: it timed out, and native code may still touch the block. Takes
   * the place of {@link #endRead} or {@link #endWrite}; the block does not become free before {@link #endQuarantine}.
   *
   * @param block what the transfer was begun with
   * @throws IllegalStateException if no transfer outside quarantine uses the block
   */
  public void quarantine(long block) {
    int index = index("quarantine", block);
    synchronized (quarantine) {
      long word;
      do {
        word = states.get(index);
        if (!BlockWord.sameLease(word, block) || !BlockWord.has(word, BlockWord.TRANSFERS)) {
          throw refusals.notRunning("quarantine", block, word);
        }
        if (quarantine.holdsAll(index, word))
          throw refusals.because("quarantine", block, "all its transfers are there already");
      } while (!states.replace(index, word, word | BlockWord.QUARANTINED));
      quarantine.add(index);
    }
  }

  /**
   * Ends one quarantined transfer, now that native code is known to be done. A write leaves the content invalid. Frees
   * the block if it was released meanwhile.
   *
   * @param block what {@link #quarantine} was given
   * @throws IllegalStateException if no transfer of the block is in quarantine
   */
  public void endQuarantine(long block) {
    int index = index("endQuarantine", block);
    synchronized (quarantine) {
      long word;
      long next;
      do {
        word = states.get(index);
        if (!BlockWord.sameLease(word, block) || !BlockWord.has(word, BlockWord.QUARANTINED)) {
          throw refusals.notRunning("endQuarantine", block, word);
        }
        next = BlockWord.has(word, BlockWord.WRITER)
            ? (word & ~BlockWord.WRITER) | BlockWord.INVALID
            : word - BlockWord.READER;
        if (quarantine.count(index) == 1) next &= ~BlockWord.QUARANTINED;
      } while (!drop(index, word, next));
      quarantine.remove(index);
    }
  }

  /**
   * {@return the address of a block, that of its header, for native calls} Valid while the block is leased or a marked
   * transfer runs.
   *
   * @param block a lease
   * @throws ClosedException if the memory was adopted and its owner has closed it
   */
  public long blockAddress(long block) {
    return baseAddress + offset("blockAddress", block);
  }

  /**
   * {@return header and page of a block, whatever its epoch or content, for whoever marked a transfer on it}
   *
   * @param block a lease
   */
  public MemorySegment blockSegment(long block) {
    return memory.asSlice(offset("blockSegment", block), layout.headerBytes() + layout.pageBytes());
  }

  /** {@return the address of the block whose place is 0; the others follow at the layout's stride} */
  public long baseAddress() {
    return baseAddress;
  }

  /**
   * {@return the place of a block in its pool, from 0; the same for every lease of it}
   *
   * @param block any handle of this pool
   */
  public int blockIndex(long block) {
    return index("blockIndex", block);
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

  @Override
  public List<String> drain(Deadline deadline) {
    while (census.transferring() && !deadline.reached())
      LockSupport.parkNanos(this, POLL_NANOS);
    return pending();
  }

  /** {@return a line for each block with a running transfer, or a quarantined read, whose bytes may still land elsewhere} */
  public List<String> pending() {
    return census.inFlight().stream().filter(block -> block.readers() > 0 || !block.quarantined())
        .map(BlockStatus::toString).toList();
  }

  @Override
  public void clearLocal() {
    long current = BlockWord.epochBits(gate.ordinal());
    for (int i = 0; i < states.count(); i++) {
      long word;
      do {
        word = states.get(i);
      } while (BlockWord.has(word, BlockWord.HELD) && !BlockWord.isOfEpoch(word, current)
          && !states.replace(i, word, BlockWord.withEpoch(word, BlockWord.EXPIRED)));
    }
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
    if (!ended) {
      awaitIdle(deadline);
      if (ownsSlab && !slab.registrations().isEmpty()) {
        throw new InUseException("close " + name() + " refused: " + slab + " is registered with "
            + slab.registrations().getFirst().registrar().name());
      }
      if (!closed) leaked = outstanding();
      closed = true;
      // revoked leases begin no transfer; one that slipped in before is waited for
      while (!revokeAll())
        awaitIdle(deadline);
      end();
    }
    if (ownsSlab) slab.close(deadline);
  }

  private void end() {
    ended = true;
    gate.unregister(this);
    slab.giveBack(options.name());
    if (!leaked.isEmpty()) {
      LOG.warn("{} closed with {} blocks not released, first: {}", name(), leaked.size(), leaked.getFirst());
    }
  }

  /** {@return whether it was closed} */
  public boolean isClosed() {
    return closed;
  }

  /** {@return the blocks that had not been released when the pool was closed; empty before} */
  public synchronized List<BlockStatus> leaked() {
    return leaked;
  }

  private void awaitIdle(Deadline deadline) {
    List<BlockStatus> busy = census.inFlight();
    while (!busy.isEmpty()) {
      if (deadline.reached()) {
        throw new InUseException(
            "close " + name() + " refused: " + busy.size() + " blocks in flight, first: " + busy.getFirst());
      }
      LockSupport.parkNanos(this, POLL_NANOS);
      busy = census.inFlight();
    }
  }

  /** Ends all leases. False if transfers run on some of them still. */
  private boolean revokeAll() {
    boolean all = true;
    for (int i = 0; i < states.count(); i++) {
      long word;
      long next;
      do {
        word = states.get(i);
        next = BlockWord.has(word, BlockWord.TRANSFERS) ? word & ~BlockWord.REFERENCES : BlockWord.closed(word);
      } while (!BlockWord.isClosed(word) && !states.replace(i, word, next));
      all &= !BlockWord.has(next, BlockWord.TRANSFERS);
    }
    return all;
  }

  private boolean isCurrent(long word, long block) {
    return isLeased(word, block) && BlockWord.isOfEpoch(word, BlockWord.epochBits(gate.ordinal()));
  }

  private static boolean isLeased(long word, long block) {
    return BlockWord.sameLease(word, block) && BlockWord.has(word, BlockWord.REFERENCES);
  }

  /** Takes away a hold; if it was the last, the block becomes free. False if the word has changed. */
  private boolean drop(int index, long word, long next) {
    if (BlockWord.has(next, BlockWord.HELD)) return states.replace(index, word, next);
    long freed = BlockWord.freed(next);
    if (!poison) return free.give(index, word, freed);
    // the lease has ended, and the writer's bit keeps the block from being leased until it is filled
    if (!states.replace(index, word, freed | BlockWord.WRITER)) return false;
    try {
      if (memory.scope().isAlive()) pageAt(index).fill(PoolOptions.POISON);
    } finally {
      free.give(index, freed | BlockWord.WRITER, freed);
    }
    return true;
  }

  private MemorySegment pageAt(int index) {
    return memory.asSlice(index * strideBytes + layout.headerBytes(), layout.pageBytes());
  }

  private long offset(String operation, long block) {
    int index = index(operation, block);
    long word = states.get(index);
    if (!BlockWord.sameLease(word, block) || !BlockWord.has(word, BlockWord.HELD)) {
      throw refusals.ended(operation, block, word);
    }
    if (!memory.scope().isAlive())
      throw new ClosedException(operation + " refused: the memory of " + slab + " is gone");
    return index * strideBytes;
  }

  private int index(String operation, long block) {
    int index = BlockWord.index(block);
    if (BlockWord.ofPool(block, poolBits) && index >= 0 && index < count) return index;
    throw refusals.foreign(operation, block);
  }

  PoolExhaustedException exhausted() {
    return refusals.exhausted();
  }
}

package dev.gatun.memory;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EpochGate;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The leases of a pool: the word of each block, and where its bytes lie. What each operation means to callers stands at
 * {@link BlockPool}.
 */
final class PoolLeases {
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  final BlockStates states;
  final Refusals refusals;
  final @Nullable LeaseTracker tracker;
  final long poolBits;
  final long baseAddress;
  private final EpochGate gate;
  private final Slab slab;
  private final MemorySegment memory;
  private final PoolLayout layout;
  private final FreeBlocks free;
  private final long strideBytes;
  private final int count;
  private final boolean poison;

  PoolLeases(Slab slab, PoolLayout layout, EpochGate gate, PoolOptions options, Refusals refusals) {
    if (options.poison() && !slab.isHost()) {
      throw new IllegalArgumentException("poison must be off for memory that Java cannot touch: " + slab);
    }
    this.slab = slab;
    this.layout = layout;
    this.gate = gate;
    this.refusals = refusals;
    count = layout.pageCount();
    poison = options.poison();
    strideBytes = layout.strideBytes();
    int number = NUMBERS.incrementAndGet();
    poolBits = BlockWord.poolBits(number);
    states = new BlockStates(count, BlockWord.firstFree(number));
    free = new FreeBlocks(states);
    tracker = options.trackLeases() ? new LeaseTracker(count) : null;
    memory = slab.carve(layout.totalBytes(), options.name());
    baseAddress = memory.address();
  }

  /** Leases for an epoch that may have passed. {@return the handle, 0 if no block is free} */
  long lease(int ordinal) {
    long block = free.take(BlockWord.leased(ordinal));
    if (block == 0) return 0;
    if (tracker != null) tracker.onLease(BlockWord.index(block));
    return block | poolBits;
  }

  void retain(long block) {
    int index = index("retain", block);
    long word;
    do {
      word = states.get(index);
      if (!isCurrent(word, block)) throw refusals.ended("retain", block, word);
      if (BlockWord.references(word) == BlockWord.REFERENCES) throw refusals.full("retain", block, "references");
    } while (!states.replace(index, word, word + BlockWord.REFERENCE));
  }

  void release(long block) {
    int index = index("release", block);
    long word;
    do {
      word = states.get(index);
      if (!isLeased(word, block)) throw refusals.ended("release", block, word);
    } while (!drop(index, word, word - BlockWord.REFERENCE));
  }

  MemorySegment page(long block) {
    int index = index("page", block);
    long word = states.get(index);
    if (!isCurrent(word, block)) throw refusals.ended("page", block, word);
    if (BlockWord.has(word, BlockWord.WRITER | BlockWord.INVALID)) throw refusals.unreadable("page", block, word);
    return pageAt(index);
  }

  MemorySegment rewrite(long block) {
    int index = index("rewrite", block);
    long word;
    do {
      word = states.get(index);
      if (!isCurrent(word, block)) throw refusals.ended("rewrite", block, word);
      if (BlockWord.has(word, BlockWord.TRANSFERS | BlockWord.NULL)) throw refusals.busy("rewrite", block, word);
    } while (!states.replace(index, word, word & ~BlockWord.INVALID));
    return pageAt(index);
  }

  void renew(long block, int references) {
    int index = index("renew", block);
    long word;
    long next;
    do {
      word = states.get(index);
      if (!isLeased(word, block)) throw refusals.ended("renew", block, word);
      if (BlockWord.has(word, BlockWord.TRANSFERS | BlockWord.NULL)) throw refusals.busy("renew", block, word);
      if (BlockWord.references(word) > references)
        throw refusals.because("renew", block, "it is shared by " + BlockWord.references(word));
      long epoch = BlockWord.epochBits(gate.ordinal());
      if (BlockWord.isOfEpoch(word, epoch)) return;
      next = BlockWord.withEpoch(word, epoch) | BlockWord.INVALID;
    } while (!states.replace(index, word, next));
  }

  boolean isCurrent(long block) {
    int index = BlockWord.index(block);
    return BlockWord.ofPool(block, poolBits) && index >= 0 && index < count
        && isCurrent(states.get(index), block);
  }

  void reserveNull(long block) {
    if (!slab.isHost()) {
      throw new IllegalArgumentException("reserveNull needs memory that Java can fill with zeros: " + slab);
    }
    rewrite(block).fill((byte) 0);
    int index = BlockWord.index(block);
    long word;
    do {
      word = states.get(index);
      if (!isCurrent(word, block)) throw refusals.ended("reserveNull", block, word);
      if (BlockWord.has(word, BlockWord.TRANSFERS)) throw refusals.busy("reserveNull", block, word);
    } while (!states.replace(index, word, word | BlockWord.NULL));
  }

  boolean isNull(long block) {
    int index = index("isNull", block);
    long word = states.get(index);
    if (!isLeased(word, block)) throw refusals.ended("isNull", block, word);
    return BlockWord.has(word, BlockWord.NULL);
  }

  /** Makes leases of earlier epochs stay of an earlier one, however many epochs follow. */
  void expire() {
    long current = BlockWord.epochBits(gate.ordinal());
    for (int i = 0; i < states.count(); i++) {
      long word;
      do {
        word = states.get(i);
      } while (BlockWord.has(word, BlockWord.HELD) && !BlockWord.isOfEpoch(word, current)
          && !states.replace(i, word, BlockWord.withEpoch(word, BlockWord.EXPIRED)));
    }
  }

  /** Ends all leases. False if transfers run on some of them still. */
  boolean revokeAll() {
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

  /** Header and page of a block. */
  MemorySegment blockAt(String operation, long block) {
    return memory.asSlice(offset(operation, block), layout.headerBytes() + layout.pageBytes());
  }

  /** Where the block lies in the pool's memory; refuses one that nobody holds. */
  long offset(String operation, long block) {
    int index = index(operation, block);
    long word = states.get(index);
    if (!BlockWord.sameLease(word, block) || !BlockWord.has(word, BlockWord.HELD)) {
      throw refusals.ended(operation, block, word);
    }
    if (!memory.scope().isAlive())
      throw new ClosedException(operation + " refused: the memory of " + slab + " is gone");
    return index * strideBytes;
  }

  int index(String operation, long block) {
    int index = BlockWord.index(block);
    if (BlockWord.ofPool(block, poolBits) && index >= 0 && index < count) return index;
    throw refusals.foreign(operation, block);
  }

  boolean isCurrent(long word, long block) {
    return isLeased(word, block) && BlockWord.isOfEpoch(word, BlockWord.epochBits(gate.ordinal()));
  }

  static boolean isLeased(long word, long block) {
    return BlockWord.sameLease(word, block) && BlockWord.has(word, BlockWord.REFERENCES);
  }

  /** Takes away a hold; if it was the last, the block becomes free. False if the word has changed. */
  boolean drop(int index, long word, long next) {
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
}

package dev.gatun.memory;

/**
 * The state of a block in one 64-bit word, and the handle that names a lease of it. Both carry the generation in the
 * same bits, so one XOR tells whether a handle is stale.
 *
 * <pre>
 * word    63 quarantined | 62..35 generation | 34..22 epoch | 21 null | 20 invalid | 19 writer | 18..11 readers | 10..0 references
 * handle  63 zero        | 62..35 generation | 34..26 pool  | 25..0 index + 1
 * </pre>
 *
 * <p>A word that holds its generation and nothing else is a free block. The generation moves on when a block becomes
 * free, so every handle of an ended lease is refused until the block was leased 2^28 more times.
 */
final class BlockWord {
  static final long REFERENCE = 1;
  static final long REFERENCES = 0x7FF;
  static final long READER = 1L << 11;
  static final long READERS = 0xFFL << 11;
  static final long WRITER = 1L << 19;
  static final long INVALID = 1L << 20;
  static final long NULL = 1L << 21;
  static final long QUARANTINED = 1L << 63;

  /** What keeps a block from becoming free. A quarantined transfer still counts as reader or writer. */
  static final long HELD = REFERENCES | READERS | WRITER;
  static final long TRANSFERS = READERS | WRITER;

  private static final int EPOCH_SHIFT = 22;
  private static final long EPOCH = 0x1FFFL << EPOCH_SHIFT;
  /** Epoch ordinals are kept modulo 4096, plus 1; the field's 0 means "expired", set on old blocks at each refit. */
  private static final int EPOCHS_MASK = 0xFFF;
  static final long EXPIRED = 0;

  private static final int GENERATION_SHIFT = 35;
  static final long GENERATION = 0xFFF_FFFFL << GENERATION_SHIFT;
  private static final long NEXT_GENERATION = 1L << GENERATION_SHIFT;

  private static final int POOL_SHIFT = 26;
  private static final long POOL = 0x1FFL << POOL_SHIFT;
  private static final long INDEX = (1L << POOL_SHIFT) - 1;

  private BlockWord() {}

  /** {@return the word of a block of a closed pool: never free, of no lease} */
  static long closed(long word) {
    return freed(word) | NULL;
  }

  static boolean isClosed(long word) {
    return (word & (HELD | NULL)) == NULL;
  }

  static boolean isFree(long word) {
    return (word & ~GENERATION) == 0;
  }

  /** {@return the word of the free block, one generation on} */
  static long freed(long word) {
    return (word + NEXT_GENERATION) & GENERATION;
  }

  /** {@return what a lease adds to a free word} */
  static long leased(int ordinal) {
    return epochBits(ordinal) | REFERENCE;
  }

  static long epochBits(int ordinal) {
    return (long) ((ordinal & EPOCHS_MASK) + 1) << EPOCH_SHIFT;
  }

  static boolean isOfEpoch(long word, long epochBits) {
    return (word & EPOCH) == epochBits;
  }

  static long withEpoch(long word, long epochBits) {
    return (word & ~EPOCH) | epochBits;
  }

  static boolean sameLease(long word, long handle) {
    return ((word ^ handle) & GENERATION) == 0;
  }

  static int references(long word) {
    return (int) (word & REFERENCES);
  }

  static int readers(long word) {
    return (int) ((word & READERS) >>> 11);
  }

  static boolean has(long word, long flag) {
    return (word & flag) != 0;
  }

  /**
   * {@return the word of the free blocks of a new pool} Handles have room for 512 pool numbers: pools that share one begin at
   * generations far apart, so that an old handle of the one is no lease of the other.
   */
  static long firstFree(int poolNumber) {
    long sharing = (long) poolNumber >>> Long.bitCount(POOL);
    // steps of the golden ratio of all generations: the first thousand pools lie 2^16 apart or more
    return (sharing * 0x9E3779BL) << GENERATION_SHIFT & GENERATION;
  }

  /** {@return the pool's part of its handles} */
  static long poolBits(int poolNumber) {
    return ((long) poolNumber << POOL_SHIFT) & POOL;
  }

  static long handle(long word, long poolBits, int index) {
    return (word & GENERATION) | poolBits | (index + 1);
  }

  /** {@return the index, or -1 in the handle 0} */
  static int index(long handle) {
    return (int) (handle & INDEX) - 1;
  }

  static boolean ofPool(long handle, long poolBits) {
    return (handle & (POOL | Long.MIN_VALUE)) == poolBits;
  }

  static long generation(long wordOrHandle) {
    return (wordOrHandle & GENERATION) >>> GENERATION_SHIFT;
  }
}

package dev.gatun.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * Where the bytes of each logical KV block lie in an engine's paged cache, and in which order a page holds them.
 *
 * <p>A page is the canonical value of a block: layer after layer, keys before values, and inside of a part in the order of
 * memory (the dimension with the longer stride outside), without padding. That is the order in which vLLM's store connector
 * lays out a block, so that equal layouts exchange pages; layouts of another {@link #order()} do not, even if their sizes
 * agree.
 *
 * <p>A page's pieces that lie together in memory are one <i>fragment</i>. All fragments have {@link #fragmentBytes()}, so
 * that one kernel moves any number of them: with keys and values in one tensor and no gaps a layer is one fragment, with
 * padded tokens every token is.
 *
 * <p>Immutable; it knows addresses and never reads them. Whoever owns the cache keeps it alive.
 */
public final class PagedKvLayout {
  /** No block is reserved. */
  public static final int NO_NULL_BLOCK = -1;

  /** Which dimension is outside in a part of a block. */
  public enum Order {
    /** Token after token, each with all heads (NHD). */
    TOKENS_FIRST,
    /** Head after head, each with all tokens (HND). */
    HEADS_FIRST
  }

  private final KvShape shape;
  private final KvStrides strides;
  private final Order order;
  private final long[] parts;
  private final int blocks;
  private final int nullBlock;
  private final Runs runs;

  /**
   * Describes a cache.
   *
   * @param shape sizes of a block
   * @param strides distances inside each tensor; the same for all
   * @param partAddresses address of block 0 of each part, layer after layer, keys before values: {@code layers * parts}
   *     of them, none 0. In a fused tensor the values' address lies behind the keys'
   * @param blocks blocks of the cache
   * @param nullBlock a block that the engine reserves as empty and whose page must never be stored, or
   *     {@link #NO_NULL_BLOCK}
   * @throws IllegalArgumentException if a number is out of range, or if strides make two blocks, tokens or heads overlap
   */
  public PagedKvLayout(KvShape shape, KvStrides strides, List<Long> partAddresses, int blocks, int nullBlock) {
    this.shape = shape;
    this.strides = strides;
    this.order = strides.tokenBytes() >= strides.headBytes() ? Order.TOKENS_FIRST : Order.HEADS_FIRST;
    this.parts = partAddresses.stream().mapToLong(Long::longValue).toArray();
    this.blocks = blocks;
    this.nullBlock = nullBlock;
    if (blocks <= 0) throw new IllegalArgumentException("blocks must be positive: " + blocks);
    if (nullBlock < NO_NULL_BLOCK || nullBlock >= blocks) {
      throw new IllegalArgumentException("nullBlock must be a block of " + blocks + ", or -1 for none: " + nullBlock);
    }
    checkParts();
    runs = Runs.of(shape, strides, order, parts);
    if (runs.outerCount() == 1 && runs.innerCount() == 1) checkPartsApart();
  }

  /** {@return sizes of a block} */
  public KvShape shape() {
    return shape;
  }

  /** {@return which dimension is outside in a part of a page} */
  public Order order() {
    return order;
  }

  /** {@return blocks of the cache} */
  public int blocks() {
    return blocks;
  }

  /** {@return distances inside each tensor} */
  public KvStrides strides() {
    return strides;
  }

  /** {@return addresses of block 0 of each part, layer after layer, keys before values} */
  public List<Long> partAddresses() {
    return Arrays.stream(parts).boxed().toList();
  }

  /** {@return the block that the engine reserves as empty, or {@link #NO_NULL_BLOCK}} */
  public int nullBlock() {
    return nullBlock;
  }

  /**
   * Describes some of the heads of each block as if they were a cache of their own: what two ranks of different
   * tensor-parallel degree have in common, see {@link HeadRange#common}. Nothing is moved.
   *
   * @param heads of this layout's shape
   * @return a layout over the same memory; the other heads are as padding to it
   * @throws IllegalArgumentException if the heads are not of this layout
   */
  public PagedKvLayout of(HeadRange heads) {
    if (heads.count() > shape.kvHeads() - heads.first()) {
      throw new IllegalArgumentException("heads must be of its " + shape.kvHeads() + ": " + heads);
    }
    KvShape part = new KvShape(shape.layers(), shape.parts(), heads.count(), shape.headSize(), shape.blockTokens(),
        shape.elementBytes());
    List<Long> places = Arrays.stream(parts).mapToObj(address -> address + heads.first() * strides.headBytes())
        .toList();
    return new PagedKvLayout(part, strides, places, blocks, nullBlock);
  }

  /** {@return bytes of a page, the sum of its fragments} */
  public long valueBytes() {
    return shape.valueBytes();
  }

  /** {@return fragments of each block} */
  public int fragments() {
    return runs.fragments();
  }

  /** {@return bytes of each fragment} */
  public long fragmentBytes() {
    return runs.bytes();
  }

  /**
   * Writes the addresses of a block's fragments, in the order of the page. Allocates nothing, does not block, and may be
   * called by any number of threads.
   *
   * @param block a logical block, 0 to {@link #blocks()} - 1
   * @param table receives {@link #fragments()} addresses of 8 bytes; stays the caller's
   * @param at where in the table to begin, in addresses
   * @throws IndexOutOfBoundsException if the block or the place is outside
   * @throws IllegalArgumentException if it is the null block, whose page means nothing, or the table is of another
   *     thread's confined arena
   */
  public void addresses(int block, MemorySegment table, long at) {
    requireBlock(block);
    if (!table.isAccessibleBy(Thread.currentThread())) {
      throw new IllegalArgumentException("table must be of an arena that this thread, "
          + Thread.currentThread().getName() + ", may use: it is of a confined one of another thread");
    }
    write(block, table, at);
  }

  /** Refuses what is no block of the cache, or the null block. */
  void requireBlock(int block) {
    if (block < 0 || block >= blocks) {
      throw new IndexOutOfBoundsException("block must be 0 to " + (blocks - 1) + ": " + block);
    }
    if (block == nullBlock) {
      throw new IllegalArgumentException("block " + block + " is the engine's null block and has no page");
    }
  }

  /** The addresses of a block of the cache, of the null block too. */
  void write(int block, MemorySegment table, long at) {
    long next = at;
    for (int part = 0; part < parts.length; part += runs.partsTogether()) {
      long start = parts[part] + block * strides.blockBytes();
      for (int outer = 0; outer < runs.outerCount(); outer++) {
        for (int inner = 0; inner < runs.innerCount(); inner++) {
          long address = start + outer * runs.outerStride() + inner * runs.innerStride();
          table.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, next++, address);
        }
      }
    }
  }

  /** Where a head of a token lies in block 0. */
  long headAddress(int part, int token, int head) {
    return parts[part] + token * strides.tokenBytes() + head * strides.headBytes();
  }

  /** From a block to the next. */
  long blockBytes() {
    return strides.blockBytes();
  }

  private void checkParts() {
    int wanted = shape.layers() * shape.parts();
    if (parts.length != wanted) {
      throw new IllegalArgumentException("partAddresses must have " + wanted + " entries, " + shape.parts()
          + " for each of " + shape.layers() + " layers: " + parts.length);
    }
    long extent = apart("heads", shape.headBytes(), strides.headBytes(), shape.kvHeads(), "tokens",
        strides.tokenBytes(), shape.blockTokens());
    if (strides.blockBytes() < extent && blocks > 1) {
      throw new IllegalArgumentException(
          "blockBytes must be " + extent + " or more, else blocks overlap: " + strides.blockBytes());
    }
    for (long address : parts) {
      if (address == 0) throw new IllegalArgumentException("partAddresses must not be 0");
      try {
        Math.addExact(address, Math.addExact(Math.multiplyExact(strides.blockBytes(), (long) blocks - 1), extent));
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException("the last of " + blocks + " blocks lies behind the address space: 0x"
            + Long.toHexString(address), e);
      }
    }
  }

  /** Blocks of one part may lie between those of another (a cache that is block-first over all layers), never on them. */
  private void checkPartsApart() {
    long stride = strides.blockBytes();
    long span = stride * (blocks - 1L) + shape.partBytes();
    for (int i = 0; i < parts.length; i++) {
      for (int j = i + 1; j < parts.length; j++) {
        long apart = Math.abs(parts[j] - parts[i]);
        long behind = apart % stride;
        boolean before = blocks > 1 && stride - behind < shape.partBytes();
        if (apart < span && (behind < shape.partBytes() || before)) {
          throw new IllegalArgumentException("partAddresses " + i + " and " + j + " must not overlap: 0x"
              + Long.toHexString(parts[i]) + " and 0x" + Long.toHexString(parts[j]) + " with blocks of "
              + shape.partBytes() + " bytes every " + stride);
        }
      }
    }
  }

  /** Checks that heads and tokens do not overlap. {@return bytes from the first to behind the last of a part} */
  private long apart(String heads, long headBytes, long headStride, int headCount, String tokens, long tokenStride,
      int tokenCount) {
    boolean tokensOutside = order == Order.TOKENS_FIRST;
    long inner = extent(tokensOutside ? heads : tokens, headBytes, tokensOutside ? headStride : tokenStride,
        tokensOutside ? headCount : tokenCount);
    return extent(tokensOutside ? tokens : heads, inner, tokensOutside ? tokenStride : headStride,
        tokensOutside ? tokenCount : headCount);
  }

  private static long extent(String what, long bytes, long stride, int count) {
    if (count > 1 && stride < bytes) {
      throw new IllegalArgumentException(what + " must be " + bytes + " bytes apart or more, else they overlap: "
          + stride);
    }
    try {
      return Math.addExact(Math.multiplyExact(stride, (long) count - 1), bytes);
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(count + " " + what + " must end within the address space, they are " + stride
          + " bytes apart", e);
    }
  }

  @Override
  public String toString() {
    return blocks + " blocks of " + fragments() + " fragments of " + fragmentBytes() + " bytes, " + order;
  }
}

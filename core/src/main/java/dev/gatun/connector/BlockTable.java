package dev.gatun.connector;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Leases of the leading blocks of a request, in order: an immutable snapshot that owns none of them. */
public final class BlockTable {
  /** No blocks. */
  public static final BlockTable EMPTY = new BlockTable(new long[0]);

  private final long[] blocks;

  private BlockTable(long[] blocks) {
    this.blocks = blocks;
  }

  /**
   * {@return a table of these leases}
   *
   * @param blocks handles of one pool, in the order of the request's keys; copied
   * @throws IllegalArgumentException if one is 0, which is no lease
   */
  public static BlockTable of(long... blocks) {
    for (int i = 0; i < blocks.length; i++) {
      if (blocks[i] == 0) throw new IllegalArgumentException("block " + i + " must be a lease: 0");
    }
    return new BlockTable(blocks.clone());
  }

  /** {@return number of blocks} */
  public int size() {
    return blocks.length;
  }

  /**
   * {@return a lease}
   *
   * @param index its place in the request
   */
  public long get(int index) {
    return blocks[Objects.checkIndex(index, blocks.length)];
  }

  /** {@return all leases, in order} */
  public LongStream stream() {
    return Arrays.stream(blocks);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof BlockTable table && Arrays.equals(blocks, table.blocks);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(blocks);
  }

  @Override
  public String toString() {
    return blocks.length + " blocks";
  }
}

package dev.gatun.cli.replay;

import java.util.Arrays;

/**
 * A request trace in memory: requests in order of time, each a chain of KV blocks. Blocks are numbered 0 to
 * {@link #distinctBlocks} in order of first appearance. Immutable, usable by any thread.
 *
 * <p>A hash id names a prefix, so a block has one predecessor: the one it first appears after. A later request that
 * has it after another block is counted in {@link #contradictions}, and served all the same.
 */
public final class Trace {
  /** Predecessor of a block that starts a prompt. */
  static final int NONE = -1;

  private final String source;
  private final long[] timestampsMillis;
  private final int[] offsets;
  private final int[] blocks;
  private final long[] hashIds;
  private final int[] predecessors;
  private final long contradictions;

  private Trace(Builder builder) {
    source = builder.source;
    timestampsMillis = Arrays.copyOf(builder.timestampsMillis, builder.requests);
    offsets = Arrays.copyOf(builder.offsets, builder.requests + 1);
    blocks = Arrays.copyOf(builder.blocks, offsets[builder.requests]);
    hashIds = builder.index.values();
    predecessors = Arrays.copyOf(builder.predecessors, hashIds.length);
    contradictions = builder.contradictions;
  }

  /** {@return where it came from, for reports} */
  public String source() {
    return source;
  }

  /** {@return requests} */
  public int requests() {
    return timestampsMillis.length;
  }

  /** {@return blocks of all requests together} */
  public long blocks() {
    return blocks.length;
  }

  /** {@return different blocks} */
  public int distinctBlocks() {
    return hashIds.length;
  }

  /** {@return how often a block stands after another one than at its first appearance} */
  public long contradictions() {
    return contradictions;
  }

  /** {@return milliseconds of trace time from the first request to the last} */
  public long durationMillis() {
    return requests() == 0 ? 0 : timestampsMillis[requests() - 1] - timestampsMillis[0];
  }

  /** {@return milliseconds of trace time between the first request and this one} */
  long offsetMillis(int request) {
    return timestampsMillis[request] - timestampsMillis[0];
  }

  long timestampMillis(int request) {
    return timestampsMillis[request];
  }

  int blockCount(int request) {
    return offsets[request + 1] - offsets[request];
  }

  /** {@return the number of block {@code position} of a request} */
  int block(int request, int position) {
    return blocks[offsets[request] + position];
  }

  long hashId(int block) {
    return hashIds[block];
  }

  /** {@return the block before this one in every prompt, or {@link #NONE}} */
  int predecessor(int block) {
    return predecessors[block];
  }

  /** Collects requests in order of time. One thread. */
  static final class Builder {
    private final String source;
    private final LongIndex index = new LongIndex();
    private long[] timestampsMillis = new long[64];
    private int[] offsets = new int[65];
    private int[] blocks = new int[1024];
    private int[] predecessors = new int[1024];
    private int[] lastRequest = new int[1024];
    private int requests;
    private long contradictions;

    Builder(String source) {
      this.source = source;
    }

    /**
     * Adds a request.
     *
     * @throws IllegalArgumentException if it is earlier than the one before, names a block twice, or the trace is full
     */
    void add(long timestampMillis, long[] ids, int count) {
      if (requests > 0 && timestampMillis < timestampsMillis[requests - 1]) {
        throw new IllegalArgumentException(
            "timestamp " + timestampMillis + " is before the " + timestampsMillis[requests
                - 1] + " of the request above it; sort the trace by time");
      }
      if (count > Integer.MAX_VALUE - 8 - offsets[requests]) {
        throw new IllegalArgumentException("more than " + (Integer.MAX_VALUE - 8) + " blocks; split the trace");
      }
      reserve(count);
      int previous = NONE;
      for (int position = 0; position < count; position++)
        previous = append(ids[position], previous, position);
      timestampsMillis[requests++] = timestampMillis;
      offsets[requests] = offsets[requests - 1] + count;
    }

    private int append(long id, int previous, int position) {
      int known = index.size();
      int block = index.numberOf(id);
      if (block == known) {
        if (block == predecessors.length) {
          predecessors = Arrays.copyOf(predecessors, block * 2);
          lastRequest = Arrays.copyOf(lastRequest, block * 2);
        }
        predecessors[block] = previous;
      } else {
        if (lastRequest[block] == requests) {
          throw new IllegalArgumentException("hash_ids holds " + id + " twice; the blocks of a request are distinct");
        }
        if (predecessors[block] != previous) contradictions++;
      }
      lastRequest[block] = requests;
      blocks[offsets[requests] + position] = block;
      return block;
    }

    private void reserve(int count) {
      if (requests == timestampsMillis.length) {
        timestampsMillis = Arrays.copyOf(timestampsMillis, requests * 2);
        offsets = Arrays.copyOf(offsets, requests * 2 + 1);
      }
      int needed = offsets[requests] + count;
      if (needed > blocks.length) {
        blocks = Arrays.copyOf(blocks, (int) Math.min(Integer.MAX_VALUE - 8, Math.max(needed, blocks.length * 2L)));
      }
    }

    Trace build() {
      return new Trace(this);
    }
  }
}

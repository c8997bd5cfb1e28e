package dev.gatun.cli.replay;

import java.util.Arrays;

/** The digest that each page must have under a weight version, worked out along its predecessors and kept. One thread. */
final class ExpectedDigests {
  private final Trace trace;
  private final long[] digests;
  private final boolean[] known;
  private int[] path = new int[64];
  private long version = -1;

  ExpectedDigests(Trace trace) {
    this.trace = trace;
    digests = new long[trace.distinctBlocks()];
    known = new boolean[trace.distinctBlocks()];
  }

  /** {@return the digest of a block's page; of {@link Trace#NONE} the root's} */
  long of(int block, long wanted) {
    if (wanted != version) {
      Arrays.fill(known, false);
      version = wanted;
    }
    if (block == Trace.NONE) return PageContent.ROOT_DIGEST;
    int depth = 0;
    for (int at = block; at != Trace.NONE && !known[at]; at = trace.predecessor(at)) {
      if (depth == path.length) path = Arrays.copyOf(path, depth * 2);
      path[depth++] = at;
    }
    while (depth > 0)
      learn(path[--depth]);
    return digests[block];
  }

  private void learn(int block) {
    int predecessor = trace.predecessor(block);
    long before = predecessor == Trace.NONE ? PageContent.ROOT_DIGEST : digests[predecessor];
    digests[block] = PageContent.digest(before, version, trace.hashId(block));
    known[block] = true;
  }
}

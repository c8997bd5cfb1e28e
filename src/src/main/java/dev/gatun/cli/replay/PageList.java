package dev.gatun.cli.replay;

/** Pages of one batch and what each must hold, in the order of the batch. One thread. */
final class PageList {
  private final long[] blocks;
  private final long[] digests;
  private final long[] hashIds;
  private long version;
  private int size;

  /**
   * Makes an empty list.
   *
   * @param blocks of the pool, one an entry; the caller's, read when a page is made or checked
   */
  PageList(long[] blocks) {
    this.blocks = blocks;
    digests = new long[blocks.length];
    hashIds = new long[blocks.length];
  }

  /** Empties the list; pages to come are of this weight version. */
  void clear(long next) {
    version = next;
    size = 0;
  }

  /** Appends the page of a block. */
  void add(long digest, long hashId) {
    digests[size] = digest;
    hashIds[size] = hashId;
    size++;
  }

  int size() {
    return size;
  }

  long version() {
    return version;
  }

  /** {@return the pool's block of an entry} */
  long block(int index) {
    return blocks[index];
  }

  long digest(int index) {
    return digests[index];
  }

  long hashId(int index) {
    return hashIds[index];
  }
}

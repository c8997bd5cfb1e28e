package dev.gatun.connector;

import java.time.Duration;

/**
 * How a {@link StoreConnector} stores pages. Everybody who shares pages uses the same {@code blocksPerGroup}: others find
 * only what lies outside full groups.
 *
 * @param blocksPerGroup consecutive blocks of a prefix that are stored as one object, 1 to 1,024; 1 for single pages
 * @param stagingBytes memory through which groups are gathered and scattered, above 0; at least two groups are taken. Not
 *     used with single pages
 * @param lookupAsync whether lookups answer {@link PrefixLookup.Pending} first and ask in the background
 * @param queuedSavesMax saves that may wait, 1 to 65,536; one more is not begun and reported as failed, since a cache may
 *     be left unfilled
 * @param closeTimeout how long closing waits for what runs, at most an hour
 */
public record StoreTransferOptions(int blocksPerGroup, long stagingBytes, boolean lookupAsync, int queuedSavesMax,
    Duration closeTimeout) {
  private static final int GROUP_MAX = 1024;
  private static final int QUEUED_LIMIT = 65_536;
  private static final Duration CLOSE_LIMIT = Duration.ofHours(1);

  /** 256 KiB: in a trial over TCP, objects that large gained nothing from being joined any more, smaller ones did. */
  private static final long GROUP_BYTES = 256 << 10;

  /**
   * Single pages, 8 MiB of staging, lookups at once, 1,024 saves waiting, 30 s to close; all but the first are unmeasured
   * defaults.
   */
  public static final StoreTransferOptions SINGLE_PAGES = new StoreTransferOptions(1, 8L << 20, false, 1024,
      Duration.ofSeconds(30));

  /** Refuses numbers outside their ranges. */
  public StoreTransferOptions {
    if (blocksPerGroup < 1 || blocksPerGroup > GROUP_MAX) {
      throw new IllegalArgumentException("blocksPerGroup must be 1 to " + GROUP_MAX + ": " + blocksPerGroup);
    }
    if (stagingBytes < 1) throw new IllegalArgumentException("stagingBytes must be positive: " + stagingBytes);
    if (queuedSavesMax < 1 || queuedSavesMax > QUEUED_LIMIT) {
      throw new IllegalArgumentException("queuedSavesMax must be 1 to " + QUEUED_LIMIT + ": " + queuedSavesMax);
    }
    if (closeTimeout.isNegative() || closeTimeout.compareTo(CLOSE_LIMIT) > 0) {
      throw new IllegalArgumentException("closeTimeout must be 0 to 1 hour: " + closeTimeout);
    }
  }

  /**
   * {@return defaults for pages of a size: groups of as many as make up 256 KiB, single pages from there on}
   *
   * @param pageBytes bytes a page, above 0
   */
  public static StoreTransferOptions forPages(long pageBytes) {
    if (pageBytes < 1) throw new IllegalArgumentException("pageBytes must be positive: " + pageBytes);
    long blocks = Math.clamp(GROUP_BYTES / pageBytes, 1, GROUP_MAX);
    return SINGLE_PAGES.withBlocksPerGroup((int) Long.highestOneBit(blocks));
  }

  /**
   * {@return the same with other groups}
   *
   * @param blocks see the record
   */
  public StoreTransferOptions withBlocksPerGroup(int blocks) {
    return new StoreTransferOptions(blocks, stagingBytes, lookupAsync, queuedSavesMax, closeTimeout);
  }

  /**
   * {@return the same with other staging}
   *
   * @param bytes see the record
   */
  public StoreTransferOptions withStagingBytes(long bytes) {
    return new StoreTransferOptions(blocksPerGroup, bytes, lookupAsync, queuedSavesMax, closeTimeout);
  }

  /** {@return the same with lookups in the background} */
  public StoreTransferOptions withLookupAsync() {
    return new StoreTransferOptions(blocksPerGroup, stagingBytes, true, queuedSavesMax, closeTimeout);
  }

  /**
   * {@return the same with another bound for waiting saves}
   *
   * @param saves see the record
   */
  public StoreTransferOptions withQueuedSavesMax(int saves) {
    return new StoreTransferOptions(blocksPerGroup, stagingBytes, lookupAsync, saves, closeTimeout);
  }

  /**
   * {@return the same with another time to close}
   *
   * @param wait see the record
   */
  public StoreTransferOptions withCloseTimeout(Duration wait) {
    return new StoreTransferOptions(blocksPerGroup, stagingBytes, lookupAsync, queuedSavesMax, wait);
  }
}

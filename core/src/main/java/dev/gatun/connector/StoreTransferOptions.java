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

  // in a trial over TCP, 16 pages of 64 KiB in one object moved twice as much as single ones, 16 to 128 of 4 KiB 8 to 12
  // times, and pages of 256 KiB gained nothing; no more than 64, since prompts share whole groups only
  private static final long GROUP_BYTES = 1 << 20;
  private static final int DEFAULT_GROUP_MAX = 64;
  private static final long LARGE_PAGE_BYTES = 256 << 10;

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
   * {@return defaults for pages of a size: groups of 1 MiB, of 64 blocks at most; single pages from 256 KiB on}
   *
   * @param pageBytes bytes a page, above 0
   */
  public static StoreTransferOptions forPages(long pageBytes) {
    if (pageBytes < 1) throw new IllegalArgumentException("pageBytes must be positive: " + pageBytes);
    if (pageBytes >= LARGE_PAGE_BYTES) return SINGLE_PAGES;
    long blocks = Math.min(DEFAULT_GROUP_MAX, GROUP_BYTES / pageBytes);
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

package dev.gatun.connector;

import dev.gatun.backend.ReplicateOptions;
import java.time.Duration;
import java.util.List;

/**
 * How a {@link StoreConnector} stores pages. Everybody who shares pages uses the same {@code blocksPerGroup}: others find
 * only what lies outside full groups.
 *
 * @param blocksPerGroup consecutive blocks of a prefix that are stored as one object, 1 to 1,024; 1 for single pages
 * @param stagingBytes memory through which groups are gathered and scattered, above 0; at least two groups are taken. Not
 *     used with single pages
 * @param lookups whether prefixes are looked up; if not, everything is a miss
 * @param lookupAsync whether lookups answer {@link PrefixLookup.Pending} first and ask in the background
 * @param saves whether blocks are saved
 * @param placement replicas, pins and segments of what is saved
 * @param queuedSavesMax saves that may wait, 1 to 65,536; one more is not begun and reported as failed, since a cache may
 *     be left unfilled
 * @param closeTimeout how long closing waits for what runs, at most an hour
 */
public record StoreTransferOptions(int blocksPerGroup, long stagingBytes, boolean lookups, boolean lookupAsync,
    boolean saves, ReplicateOptions placement, int queuedSavesMax, Duration closeTimeout) {
  private static final int GROUP_MAX = 1024;
  private static final int QUEUED_LIMIT = 65_536;
  private static final Duration CLOSE_LIMIT = Duration.ofHours(1);

  // 8 MiB over TCP on two busy cores, us a put / a get: objects of 64 KiB 6052 / 5894, 128 KiB 5050 / 4501, 256 KiB
  // 4405 / 3841, 512 KiB 10103 / 3822, 1 MiB 9271 / 8884. No more than 64 blocks, since prompts share whole groups only
  private static final long GROUP_BYTES = 256 << 10;
  private static final int DEFAULT_GROUP_MAX = 64;

  /**
   * Single pages, 8 MiB of staging, lookups at once, 1,024 saves waiting, 30 s to close; all but the first are unmeasured
   * defaults.
   */
  public static final StoreTransferOptions SINGLE_PAGES = new StoreTransferOptions(1, 8L << 20, true, false,
      true, ReplicateOptions.DEFAULT, 1024, Duration.ofSeconds(30));

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
   * {@return defaults for pages of a size: groups of 256 KiB, of 64 blocks at most; single pages from there on}
   *
   * @param pageBytes bytes a page, above 0
   */
  public static StoreTransferOptions forPages(long pageBytes) {
    if (pageBytes < 1) throw new IllegalArgumentException("pageBytes must be positive: " + pageBytes);
    long blocks = Math.clamp(GROUP_BYTES / pageBytes, 1, DEFAULT_GROUP_MAX);
    return SINGLE_PAGES.withBlocksPerGroup((int) Long.highestOneBit(blocks));
  }

  /**
   * {@return what a {@code MooncakeStoreConnector}'s configuration says, and the defaults for pages of a size} A consumer
   * saves nothing, unless it shall save what it generates.
   *
   * @param config of a store connector
   * @param pageBytes bytes a page, above 0
   * @throws IllegalStateException if it is the configuration of another connector
   */
  public static StoreTransferOptions of(KvTransferConfig config, long pageBytes) {
    StoreConnectorOptions said = config.storeOptions();
    StoreTransferOptions base = forPages(pageBytes);
    ReplicateOptions placement = said.preferredSegment()
        .map(segment -> new ReplicateOptions(1, false, false, List.of(segment))).orElse(ReplicateOptions.DEFAULT);
    return new StoreTransferOptions(base.blocksPerGroup, base.stagingBytes, said.enableLookup(), said.lookupAsync(),
        config.produces() || said.saveDecodeCache(), placement, base.queuedSavesMax, base.closeTimeout);
  }

  /**
   * {@return the same with other groups}
   *
   * @param blocks see the record
   */
  public StoreTransferOptions withBlocksPerGroup(int blocks) {
    return new StoreTransferOptions(blocks, stagingBytes, lookups, lookupAsync, saves, placement, queuedSavesMax,
        closeTimeout);
  }

  /**
   * {@return the same with other staging}
   *
   * @param bytes see the record
   */
  public StoreTransferOptions withStagingBytes(long bytes) {
    return new StoreTransferOptions(blocksPerGroup, bytes, lookups, lookupAsync, saves, placement, queuedSavesMax,
        closeTimeout);
  }

  /** {@return the same with lookups in the background} */
  public StoreTransferOptions withLookupAsync() {
    return new StoreTransferOptions(blocksPerGroup, stagingBytes, lookups, true, saves, placement, queuedSavesMax,
        closeTimeout);
  }

  /**
   * {@return the same with another bound for waiting saves}
   *
   * @param waiting see the record
   */
  public StoreTransferOptions withQueuedSavesMax(int waiting) {
    return new StoreTransferOptions(blocksPerGroup, stagingBytes, lookups, lookupAsync, saves, placement, waiting,
        closeTimeout);
  }

  /**
   * {@return the same with another time to close}
   *
   * @param wait see the record
   */
  public StoreTransferOptions withCloseTimeout(Duration wait) {
    return new StoreTransferOptions(blocksPerGroup, stagingBytes, lookups, lookupAsync, saves, placement,
        queuedSavesMax,
        wait);
  }
}

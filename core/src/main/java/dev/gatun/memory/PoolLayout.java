package dev.gatun.memory;

/**
 * How a pool is cut: blocks of equal size, each a header (for the store's stamp, may be empty) followed by a page.
 *
 * @param pageBytes bytes a page, any positive size; the stride is rounded up to 64 bytes
 * @param pageCount blocks in the pool, never grown
 * @param headerBytes bytes before each page: 0, or a multiple of 64 up to 4096
 */
public record PoolLayout(long pageBytes, int pageCount, int headerBytes) {
  /** Blocks a pool can hold: a handle has 26 bits for the index, and index 0 is kept for "no block". */
  public static final int PAGE_COUNT_MAX = (1 << 26) - 1;

  // 64: cache line of x86-64 and of most aarch64; pages of different blocks never share one
  private static final int ALIGN_BYTES = 64;
  private static final int HEADER_BYTES_MAX = 4096;

  /** Refuses sizes that are not positive, headers that would misalign pages, and totals beyond 63 bits. */
  public PoolLayout {
    if (pageBytes <= 0) throw new IllegalArgumentException("pageBytes must be positive: " + pageBytes);
    if (pageCount <= 0 || pageCount > PAGE_COUNT_MAX) {
      throw new IllegalArgumentException("pageCount must be 1 to " + PAGE_COUNT_MAX + ": " + pageCount);
    }
    if (headerBytes < 0 || headerBytes > HEADER_BYTES_MAX || headerBytes % ALIGN_BYTES != 0) {
      throw new IllegalArgumentException("headerBytes must be a multiple of 64 from 0 to 4096: " + headerBytes);
    }
    if (pageBytes > (Long.MAX_VALUE - headerBytes - ALIGN_BYTES) / pageCount - headerBytes - ALIGN_BYTES) {
      throw new IllegalArgumentException(
          "pageBytes * pageCount must stay below 2^63: " + pageBytes + " * " + pageCount);
    }
  }

  /**
   * Creates a layout without headers.
   *
   * @param pageBytes bytes a page
   * @param pageCount blocks in the pool
   */
  public PoolLayout(long pageBytes, int pageCount) {
    this(pageBytes, pageCount, 0);
  }

  /** {@return bytes from one block to the next: header and page, rounded up to 64} */
  public long strideBytes() {
    return Math.ceilDiv(headerBytes + pageBytes, ALIGN_BYTES) * ALIGN_BYTES;
  }

  /** {@return bytes of the whole pool} */
  public long totalBytes() {
    return strideBytes() * pageCount;
  }
}

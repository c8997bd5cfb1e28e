package dev.gatun.cli.replay;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * The bytes of a page: a function of weight version, block and the page before it. A page begins with its digest, which
 * mixes those three; then come version, block and a seal of all three; and every further word is the digest plus a
 * pseudo-random word of its position. A page of other weights, another block, other ancestors, or torn from two pages therefore differs, and since
 * the next page's digest is made from the digest in the page before, so do all that descend from it.
 *
 * <p>Filling and checking run at memory speed: both loops vectorise. Pages are 8-byte aligned, any length from
 * {@link #BYTES_MIN}. Stateless; any thread.
 */
public final class PageContent {
  /** Digest, version, block and seal. */
  public static final int BYTES_MIN = 32;
  /** Digest that precedes the first page of a prompt. */
  public static final long ROOT_DIGEST = 0;

  private static final int HEADER_WORDS = BYTES_MIN / Long.BYTES;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  // 512 words: stay in the first-level cache beside the page
  private static final long[] PATTERN = new long[512];

  static {
    for (int i = 0; i < PATTERN.length; i++)
      PATTERN[i] = Mix.mix((i + 1) * GOLDEN);
  }

  /** What a page turned out to be. */
  public enum Verdict {
    /** Every byte is as it must be. */
    RIGHT,
    /** A page of this block, whole, but made with older weights. */
    STALE,
    /** Anything else, such as a page made from a stale one. */
    WRONG
  }

  private PageContent() {}

  /**
   * {@return the digest of a page}
   *
   * @param digestBefore of the page before it, {@link #ROOT_DIGEST} for the first
   * @param version of the weights
   * @param hashId of the block
   */
  public static long digest(long digestBefore, long version, long hashId) {
    return Mix.mix(Mix.mix(Mix.mix(digestBefore + GOLDEN) + version) + hashId);
  }

  /** {@return the digest that a page carries, right or wrong} */
  static long carriedDigest(MemorySegment page) {
    return page.get(JAVA_LONG, 0);
  }

  /**
   * Writes a page.
   *
   * @param page 8-byte aligned, {@link #BYTES_MIN} or more
   * @param digest of the page
   * @param version of the weights
   * @param hashId of the block
   */
  public static void fill(MemorySegment page, long digest, long version, long hashId) {
    page.setAtIndex(JAVA_LONG, 0, digest);
    page.setAtIndex(JAVA_LONG, 1, version);
    page.setAtIndex(JAVA_LONG, 2, hashId);
    page.setAtIndex(JAVA_LONG, 3, digest(digest, version, hashId));
    long words = page.byteSize() >>> 3;
    for (long from = HEADER_WORDS; from < words; from += PATTERN.length) {
      fillWords(page, from, (int) Math.min(PATTERN.length, words - from), base(digest, from));
    }
    long last = base(digest, words);
    for (long i = words << 3; i < page.byteSize(); i++)
      page.set(JAVA_BYTE, i, tail(last, i));
  }

  /**
   * {@return what a page is, every byte of it compared}
   *
   * @param page 8-byte aligned
   * @param digest that it must have
   * @param version of the weights in force
   * @param hashId of the block
   */
  public static Verdict check(MemorySegment page, long digest, long version, long hashId) {
    if (isPage(page, digest, version, hashId)) return Verdict.RIGHT;
    long carriedVersion = page.getAtIndex(JAVA_LONG, 1);
    boolean older = carriedVersion >= 0 && carriedVersion < version;
    return older && isPage(page, carriedDigest(page), carriedVersion, hashId) ? Verdict.STALE : Verdict.WRONG;
  }

  private static boolean isPage(MemorySegment page, long digest, long version, long hashId) {
    long difference = (page.getAtIndex(JAVA_LONG, 0) ^ digest) | (page.getAtIndex(JAVA_LONG, 1) ^ version)
        | (page.getAtIndex(JAVA_LONG, 2) ^ hashId)
        | (page.getAtIndex(JAVA_LONG, 3) ^ digest(digest, version, hashId));
    long words = page.byteSize() >>> 3;
    for (long from = HEADER_WORDS; from < words; from += PATTERN.length) {
      difference |= compareWords(page, from, (int) Math.min(PATTERN.length, words - from), base(digest, from));
    }
    long last = base(digest, words);
    for (long i = words << 3; i < page.byteSize(); i++)
      difference |= page.get(JAVA_BYTE, i) ^ tail(last, i);
    return difference == 0;
  }

  private static void fillWords(MemorySegment page, long from, int count, long base) {
    long offset = from << 3;
    for (int i = 0; i < count; i++)
      page.set(JAVA_LONG, offset + ((long) i << 3), PATTERN[i] + base);
  }

  private static long compareWords(MemorySegment page, long from, int count, long base) {
    long offset = from << 3;
    long difference = 0;
    for (int i = 0; i < count; i++) {
      difference |= page.get(JAVA_LONG, offset + ((long) i << 3)) ^ (PATTERN[i] + base);
    }
    return difference;
  }

  private static long base(long digest, long word) {
    return digest + word * GOLDEN;
  }

  private static byte tail(long base, long index) {
    return (byte) (base >>> ((index & 7) << 3));
  }
}

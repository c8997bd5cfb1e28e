package dev.gatun.store;

import dev.gatun.backend.WeightEpoch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The 64 bytes that Gatun's own codec stores before a page, little endian:
 *
 * <pre>
 *  0 magic             8 namespace hash   16 run hash        24 weight version
 * 32 key hash         40 page bytes       48 flags (int)     52 CRC-32C of the page (int, 0 without)
 * 56 zero (int)       60 CRC-32C of bytes 0 to 59 (int)
 * </pre>
 *
 * One instance serves one thread at a time and one segment of memory; it allocates nothing.
 */
final class Stamp {
  static final int BYTES = 64;

  /** "GATUNKV1", read as a little-endian number; the last digit is the version of this layout. */
  private static final long MAGIC = 0x31564B4E55544147L;
  private static final int HAS_PAGE_CRC = 1;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int NAMESPACE = 8;
  private static final int RUN = 16;
  private static final int VERSION = 24;
  private static final int KEY = 32;
  private static final int PAGE_BYTES = 40;
  private static final int FLAGS = 48;
  private static final int PAGE_CRC = 52;
  private static final int ZERO = 56;
  private static final int STAMP_CRC = 60;

  private final boolean full;
  private final MemorySegment memory;
  private final Checksum checksum;
  private final MemorySegment encoded;
  private final Checksum encodedChecksum;
  private final long namespaceHash;
  private @Nullable WeightEpoch epoch;
  private long runHash;
  private long version;

  /** Prepares to stamp pages in {@code memory}; the arena lives as long as the stamp is used. */
  Stamp(KeyCodec codec, MemorySegment memory, Arena arena) {
    this.full = codec.verify() == Verify.FULL;
    this.memory = memory;
    this.checksum = new Checksum(memory);
    this.encoded = arena.allocate(BYTES, Long.BYTES);
    this.encodedChecksum = new Checksum(encoded);
    this.namespaceHash = StableHash.of(codec.namespace());
  }

  /** Sets the epoch that {@link #encode} stamps and {@link #check} demands. */
  void epoch(WeightEpoch next) {
    if (next.equals(epoch)) return;
    epoch = next;
    runHash = StableHash.of(next.run());
    version = next.version();
  }

  /** Makes the stamp for the {@code pageBytes} that lie {@link #BYTES} after {@code offset}. */
  void encode(long offset, long keyHash, long pageBytes) {
    encoded.set(LONG, 0, MAGIC);
    encoded.set(LONG, NAMESPACE, namespaceHash);
    encoded.set(LONG, RUN, runHash);
    encoded.set(LONG, VERSION, version);
    encoded.set(LONG, KEY, keyHash);
    encoded.set(LONG, PAGE_BYTES, pageBytes);
    encoded.set(INT, FLAGS, full ? HAS_PAGE_CRC : 0);
    encoded.set(INT, PAGE_CRC, full ? checksum.of(offset + BYTES, pageBytes) : 0);
    encoded.set(INT, ZERO, 0);
    encoded.set(INT, STAMP_CRC, encodedChecksum.of(0, STAMP_CRC));
  }

  /** Writes the stamp made last. */
  void copyTo(long offset) {
    MemorySegment.copy(encoded, 0, memory, offset, BYTES);
  }

  /** {@return whether the stamp made last stands there already} */
  boolean isAt(long offset) {
    return MemorySegment.mismatch(encoded, 0, BYTES, memory, offset, offset + BYTES) < 0;
  }

  /** {@return what is wrong with the {@code bytes} that arrived at {@code offset}, stamp included; null if nothing} */
  @Nullable
  Rejection check(long offset, long keyHash, long bytes) {
    if (bytes < BYTES || memory.get(LONG, offset) != MAGIC) return Rejection.FOREIGN;
    if (memory.get(INT, offset + STAMP_CRC) != checksum.of(offset, STAMP_CRC)) return Rejection.TORN;
    if (memory.get(LONG, offset + NAMESPACE) != namespaceHash) return Rejection.FOREIGN;
    if (memory.get(LONG, offset + RUN) != runHash || memory.get(LONG, offset + VERSION) != version) {
      return Rejection.STALE;
    }
    if (memory.get(LONG, offset + KEY) != keyHash) return Rejection.SWAPPED;
    long pageBytes = memory.get(LONG, offset + PAGE_BYTES);
    if (pageBytes != bytes - BYTES) return Rejection.TORN;
    if (pageBytes == 0) return Rejection.EMPTY;
    if (!full) return null;
    if ((memory.get(INT, offset + FLAGS) & HAS_PAGE_CRC) == 0) return Rejection.FOREIGN;
    return memory.get(INT, offset + PAGE_CRC) == checksum.of(offset + BYTES, pageBytes) ? null : Rejection.TORN;
  }
}

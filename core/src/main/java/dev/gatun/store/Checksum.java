package dev.gatun.store;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * CRC-32C over ranges of one off-heap segment of any size. Allocates nothing after construction: the JDK's fast path
 * wants byte buffers, which end at 2 GiB, so a view of each GiB is made once. One thread at a time.
 */
final class Checksum {
  private static final int WINDOW_SHIFT = 30;
  private static final long WINDOW_BYTES = 1L << WINDOW_SHIFT;

  private final ByteBuffer[] windows;
  private final CRC32C crc = new CRC32C();

  Checksum(MemorySegment memory) {
    int count = (int) ((memory.byteSize() + WINDOW_BYTES - 1) >>> WINDOW_SHIFT);
    windows = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      long from = (long) i << WINDOW_SHIFT;
      windows[i] = memory.asSlice(from, Math.min(WINDOW_BYTES, memory.byteSize() - from)).asByteBuffer();
    }
  }

  int of(long offset, long bytes) {
    crc.reset();
    long at = offset;
    long left = bytes;
    while (left > 0) {
      ByteBuffer window = windows[(int) (at >>> WINDOW_SHIFT)];
      int from = (int) (at & (WINDOW_BYTES - 1));
      int take = (int) Math.min(left, window.capacity() - from);
      window.limit(from + take).position(from);
      crc.update(window);
      at += take;
      left -= take;
    }
    return (int) crc.getValue();
  }
}

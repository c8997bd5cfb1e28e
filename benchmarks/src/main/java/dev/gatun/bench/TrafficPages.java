package dev.gatun.bench;

import dev.gatun.codec.VllmKey;
import dev.gatun.codec.VllmRelease;
import dev.gatun.store.KvKey;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;

/** The pages that everybody writes and reads while refits run: each word is the version of the weights behind it. */
final class TrafficPages {
  static final int COUNT = 64;
  static final int BYTES = 4_096;
  /** As an engine names them, without weights or epoch. */
  static final List<KvKey> KEYS = IntStream.range(0, COUNT)
      .mapToObj(i -> KvKey.of(VllmKey.of("traffic", String.format("%064x", i)).text(VllmRelease.V0_32))).toList();

  private TrafficPages() {}

  static void fill(MemorySegment page, long version) {
    for (long at = 0; at < BYTES; at += Long.BYTES)
      page.set(ValueLayout.JAVA_LONG_UNALIGNED, at, version);
  }

  /** {@return the oldest version in a page; a torn one has several} */
  static long oldest(MemorySegment page) {
    long oldest = Long.MAX_VALUE;
    for (long at = 0; at < BYTES; at += Long.BYTES)
      oldest = Math.min(oldest, page.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
    return oldest;
  }
}

package dev.gatun.store;

import java.nio.charset.StandardCharsets;

/** A 64-bit hash that is the same in every process and on every machine, unlike {@link Object#hashCode()}. */
final class StableHash {
  // FNV-1a, 64 bit: offset basis and prime of its definition
  private static final long BASIS = 0xCBF29CE484222325L;
  private static final long PRIME = 0x100000001B3L;

  private StableHash() {}

  static long of(byte[] bytes, int count) {
    long hash = BASIS;
    for (int i = 0; i < count; i++)
      hash = (hash ^ (bytes[i] & 0xFF)) * PRIME;
    return mix(hash);
  }

  static long of(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return of(bytes, bytes.length);
  }

  /** The finalizer of MurmurHash3: FNV alone leaves the high bits of short keys poor. */
  private static long mix(long hash) {
    long h = (hash ^ (hash >>> 33)) * 0xFF51AFD7ED558CCDL;
    h = (h ^ (h >>> 33)) * 0xC4CEB9FE1A85EC53L;
    return h ^ (h >>> 33);
  }
}

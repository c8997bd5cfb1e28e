package dev.gatun.store;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A logical key, encoded and hashed once so that a batch only copies it. The store's {@link KeyCodec} puts namespace and
 * epoch before it. Immutable, usable by any thread; two keys are equal when their bytes are.
 */
public final class KvKey {
  /** Longest logical key in bytes: far below the lengths at which a master's pattern matching fails. */
  public static final int BYTES_MAX = 1024;

  private final byte[] terminated;
  private final long hash;

  private KvKey(byte[] terminated) {
    this.terminated = terminated;
    this.hash = StableHash.of(terminated, terminated.length - 1);
  }

  /**
   * {@return the key whose bytes are the UTF-8 form of a text}
   *
   * @param text 1 to {@value #BYTES_MAX} bytes in UTF-8, without NUL
   * @throws IllegalArgumentException if empty, too long, with a NUL or an unpaired surrogate
   */
  public static KvKey of(String text) {
    try {
      ByteBuffer utf8 = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] terminated = new byte[utf8.remaining() + 1];
      utf8.get(terminated, 0, terminated.length - 1);
      return checked(terminated);
    } catch (CharacterCodingException unpaired) {
      throw new IllegalArgumentException("key must not hold unpaired surrogates: two such keys would be one", unpaired);
    }
  }

  /**
   * {@return the key of these bytes, in any encoding}
   *
   * @param bytes 1 to {@value #BYTES_MAX} bytes without NUL; copied
   * @throws IllegalArgumentException if empty, too long or with a NUL
   */
  public static KvKey of(byte[] bytes) {
    return checked(Arrays.copyOf(bytes, bytes.length + 1));
  }

  private static KvKey checked(byte[] terminated) {
    int length = terminated.length - 1;
    if (length < 1 || length > BYTES_MAX) {
      throw new IllegalArgumentException("key must be 1 to " + BYTES_MAX + " bytes: " + length);
    }
    for (int i = 0; i < length; i++) {
      if (terminated[i] == 0) throw new IllegalArgumentException("key must not hold NUL: found at byte " + i);
    }
    return new KvKey(terminated);
  }

  /** {@return length in bytes} */
  public int length() {
    return terminated.length - 1;
  }

  /**
   * {@return whether the key begins with these bytes}
   *
   * @param prefix any bytes
   */
  public boolean startsWith(byte[] prefix) {
    return prefix.length <= length() && Arrays.equals(terminated, 0, prefix.length, prefix, 0, prefix.length);
  }

  /** {@return the bytes, a copy} */
  public byte[] toBytes() {
    return Arrays.copyOf(terminated, length());
  }

  /** The bytes and a NUL; not to be changed. */
  byte[] terminated() {
    return terminated;
  }

  /** The same in every process. */
  long hash() {
    return hash;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof KvKey key && hash == key.hash && Arrays.equals(terminated, key.terminated);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(hash);
  }

  /** The key as text, with whatever is not printable ASCII as {@code \xNN}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(length());
    for (int i = 0; i < length(); i++) {
      int b = terminated[i] & 0xFF;
      if (b >= ' ' && b < 0x7F) text.append((char) b);
      else
        text.append(String.format("\\x%02x", b));
    }
    return text.toString();
  }
}

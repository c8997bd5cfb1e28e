package dev.gatun.codec;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** What the parts of keys may hold. */
final class Text {
  // the longest key that a store of Gatun takes
  static final int KEY_BYTES_MAX = 1024;
  static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  private static final Pattern HEX = Pattern.compile("(?:[0-9a-f]{2}){8,64}");
  private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,9}");

  private Text() {}

  static String required(String field, String value) {
    if (value.isEmpty()) throw new IllegalArgumentException(field + " must not be empty");
    return value;
  }

  /** Refuses what a list of keys, one a line, or another encoding would change. */
  static String printable(String field, String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c < ' ' || c > '~') {
        throw new IllegalArgumentException(
            field + " must be printable ASCII: character " + i + " is U+" + String.format("%04X", (int) c));
      }
    }
    return value;
  }

  static void matching(String field, String value, Pattern pattern, String rule) {
    if (!pattern.matcher(value).matches()) {
      throw new IllegalArgumentException(field + " must be " + rule + ": \"" + value + '"');
    }
  }

  static void name(String field, String value) {
    matching(field, value, NAME, "1 to 64 of [A-Za-z0-9._-]");
  }

  static void hash(String value) {
    matching("hash", value, HEX, "8 to 64 bytes in lower-case hex");
  }

  static void natural(String field, int value) {
    if (value < 0) throw new IllegalArgumentException(field + " must be 0 or more: " + value);
  }

  /** A number as a key writes it, without leading zeros; -1 for anything else. */
  static int number(String digits) {
    if (!NUMBER.matcher(digits).matches()) return -1;
    long value = Long.parseLong(digits);
    return value > Integer.MAX_VALUE ? -1 : (int) value;
  }

  /** Empty where the parts of a text are not those of a key. */
  static <T> Optional<T> ifSound(Supplier<T> key) {
    try {
      return Optional.of(key.get());
    } catch (IllegalArgumentException foreign) {
      return Optional.empty();
    }
  }

  static String key(String text) {
    if (text.length() > KEY_BYTES_MAX) {
      throw new IllegalArgumentException("key must be at most " + KEY_BYTES_MAX + " bytes: " + text.length());
    }
    return text;
  }

  /** Whether it can be a key that this package writes. */
  static boolean isKey(String text) {
    return !text.isEmpty() && text.length() <= KEY_BYTES_MAX && text.chars().allMatch(c -> c >= ' ' && c <= '~');
  }

  /** The bytes that are hashed; two texts never have the same. */
  static byte[] utf8(String field, String value) {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(value));
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException unpaired) {
      throw new IllegalArgumentException(field + " must not hold unpaired surrogates", unpaired);
    }
  }
}

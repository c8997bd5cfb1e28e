package dev.gatun.store;

import java.nio.charset.StandardCharsets;

/**
 * ECMAScript patterns for removal, always anchored at the start of the key and behind the codec's own prefix, so that
 * keys of others fail within their first bytes; what they may hold is said by {@link PatternGrammar}.
 */
final class KeyPattern {
  private static final String SPECIAL = "\\^$.*+?()[]{}|";

  private KeyPattern() {}

  /** Matches every key that begins with these texts, taken literally. */
  static byte[] prefix(byte[] codecPrefix, String prefix) {
    byte[] literal = prefix.isEmpty() ? new byte[0] : encoded("prefix", prefix);
    if (codecPrefix.length == 0 && literal.length == 0) {
      throw new IllegalArgumentException("prefix must not be empty without a namespace: use removeAll");
    }
    return bytes('^' + escaped(codecPrefix) + escaped(literal));
  }

  /** Matches every key whose logical part begins with a match of the pattern. */
  static byte[] restricted(byte[] codecPrefix, String pattern) {
    encoded("pattern", pattern);
    PatternGrammar.require(pattern);
    return bytes('^' + escaped(codecPrefix) + '(' + pattern + ')');
  }

  private static byte[] encoded(String field, String text) {
    try {
      return KvKey.of(text).toBytes();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(field + " must be like a key: " + e.getMessage(), e);
    }
  }

  /** Bytes as Latin-1 characters, one each, so that any encoding passes through unchanged. */
  private static String escaped(byte[] literal) {
    StringBuilder text = new StringBuilder(literal.length + 16);
    for (byte b : literal) {
      char c = (char) (b & 0xFF);
      if (SPECIAL.indexOf(c) >= 0) text.append('\\');
      text.append(c);
    }
    return text.toString();
  }

  private static byte[] bytes(String latin1) {
    return latin1.getBytes(StandardCharsets.ISO_8859_1);
  }
}

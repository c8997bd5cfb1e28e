package dev.gatun.store;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * ECMAScript patterns for removal, always anchored at the start of the key and behind the codec's own prefix, so that
 * keys of others fail within their first bytes. Masters have crashed on quantified groups against long keys: groups with
 * a quantifier, back references and look-around are refused.
 */
final class KeyPattern {
  private static final String SPECIAL = "\\^$.*+?()[]{}|";
  private static final Pattern REFUSED = Pattern.compile("\\)\\s*[*+?{]|\\\\[1-9]|\\(\\?|[^ -~]");

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
    if (REFUSED.matcher(pattern).find()) {
      throw new IllegalArgumentException("pattern must be printable ASCII without quantified groups, back references "
          + "and (? groups: \"" + pattern + '"');
    }
    requireClosed(pattern);
    return bytes('^' + escaped(codecPrefix) + '(' + pattern + ')');
  }

  /** Refuses a pattern that could end the group it is put into, and with it the anchor. */
  private static void requireClosed(String pattern) {
    int depth = 0;
    boolean inClass = false;
    for (int i = 0; i < pattern.length() && depth >= 0; i++) {
      char c = pattern.charAt(i);
      if (c == '\\') i++;
      else if (inClass) inClass = c != ']';
      else if (c == '[') inClass = true;
      else if (c == '(') depth++;
      else if (c == ')') depth--;
    }
    if (depth != 0 || inClass || pattern.matches(".*(?<!\\\\)(?:\\\\\\\\)*\\\\")) {
      throw new IllegalArgumentException("pattern must have balanced groups, classes and escapes: \"" + pattern + '"');
    }
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

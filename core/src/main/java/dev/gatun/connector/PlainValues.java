package dev.gatun.connector;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Values as JSON has them, copied so that nobody can change them: maps, lists, text, long, double, boolean, null. */
final class PlainValues {
  // 32: configurations nest 4 deep; a map that contains itself must end in a message, not in a stack overflow
  private static final int DEPTH_MAX = 32;
  private static final int SHOWN_MAX = 200;

  private PlainValues() {}

  /** Copies an object; numbers become long or double, so that a map and the JSON made from it are equal. */
  static Map<String, @Nullable Object> object(String path, Map<?, ?> source) {
    return object(path, source, 1);
  }

  /** Copies the outermost map as it is, null values included. */
  static Map<String, ? extends @Nullable Object> shallow(Map<String, ? extends @Nullable Object> source) {
    return Collections.unmodifiableMap(new LinkedHashMap<>(source));
  }

  /** A value as messages show it. */
  static String shown(@Nullable Object value) {
    String text = value instanceof CharSequence ? "\"" + value + '"' : String.valueOf(value);
    text = text.replace("\0", "\\0");
    return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "...";
  }

  private static Map<String, @Nullable Object> object(String path, Map<?, ?> source, int depth) {
    Map<String, @Nullable Object> copy = new LinkedHashMap<>();
    source.forEach((key, value) -> {
      if (!(key instanceof String name)) {
        throw new IllegalArgumentException(
            (path.isEmpty() ? "field names" : "names in " + path) + " must be text: " + shown(key));
      }
      copy.put(name, value(path.isEmpty() ? name : path + '.' + name, value, depth));
    });
    return Collections.unmodifiableMap(copy);
  }

  private static @Nullable Object value(String path, @Nullable Object value, int depth) {
    return switch (value) {
      case null -> null;
      case Map<?, ?> map -> object(path, map, deeper(path, depth));
      case List<?> list -> list(path, list, deeper(path, depth));
      case CharSequence text -> text.toString();
      case Boolean truth -> truth;
      case Number number -> number(path, number);
      default -> throw new IllegalArgumentException(
          path + " must be text, a number, true, false, null, a list or a map: " + value.getClass().getName());
    };
  }

  private static List<@Nullable Object> list(String path, List<?> source, int depth) {
    List<@Nullable Object> copy = new ArrayList<>(source.size());
    for (Object element : source)
      copy.add(value(path + '[' + copy.size() + ']', element, depth));
    return Collections.unmodifiableList(copy);
  }

  private static Number number(String path, Number number) {
    if (number instanceof Integer || number instanceof Long || number instanceof Short || number instanceof Byte) {
      return number.longValue();
    }
    if (number instanceof BigInteger whole && whole.bitLength() < Long.SIZE) return whole.longValue();
    if (number instanceof Double || number instanceof Float || number instanceof BigDecimal) {
      double real = number.doubleValue();
      if (Double.isFinite(real)) return real;
    }
    throw new IllegalArgumentException(path + " must be a finite number of 64 bits: " + shown(number));
  }

  private static int deeper(String path, int depth) {
    if (depth < DEPTH_MAX) return depth + 1;
    throw new IllegalArgumentException(shown(path) + " must not nest deeper than " + DEPTH_MAX + " levels");
  }
}

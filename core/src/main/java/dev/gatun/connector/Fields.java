package dev.gatun.connector;

import dev.gatun.backend.OptionText;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields of one object of a configuration. A refusal names the field with the path that leads to it, shows its
 * value and says what is allowed. Text is taken for numbers and truth values, as vLLM takes it.
 *
 * @param path where the object stands, empty for the outermost
 * @param values its fields, as {@link PlainValues} made them
 */
record Fields(String path, Map<String, @Nullable Object> values) {

  static Fields of(String path, Map<?, ?> source) {
    return new Fields(path, PlainValues.object(path, source));
  }

  String name(String field) {
    return path.isEmpty() ? field : path + '.' + field;
  }

  boolean has(String field) {
    return values.containsKey(field);
  }

  /** Whether a field holds a map that is not empty. */
  boolean isGiven(String field) {
    return !object(field).values().isEmpty();
  }

  IllegalArgumentException refused(String field, String rule) {
    return new IllegalArgumentException(
        name(field) + ' ' + rule + ": " + (has(field) ? PlainValues.shown(values.get(field)) : "absent"));
  }

  void requireKnown(Collection<String> known) {
    for (String field : values.keySet()) {
      if (!known.contains(field)) {
        throw refused(field, "must be absent (" + OptionText.unknown("field", field, known).getMessage() + ')');
      }
    }
  }

  /** Text, or null where the field is absent or null. */
  @Nullable
  String textOrNull(String field) {
    Object value = values.get(field);
    if (value == null) return null;
    if (!(value instanceof String text)) throw refused(field, "must be text");
    if (text.indexOf('\0') >= 0) throw refused(field, "must be text without NUL");
    return text;
  }

  String text(String field, String absent) {
    requireNotNull(field, "text");
    String text = textOrNull(field);
    return text == null ? absent : text;
  }

  /** Text that says something, or null where the field is absent or null. */
  @Nullable
  String wordOrNull(String field) {
    String text = textOrNull(field);
    if (text != null && text.isBlank()) throw refused(field, "must not be empty");
    return text;
  }

  String word(String field, String absent) {
    requireNotNull(field, "text");
    String text = wordOrNull(field);
    return text == null ? absent : text;
  }

  @Nullable
  Long integerOrNull(String field, long min, long max) {
    Object value = values.get(field);
    if (value == null) return null;
    if (value instanceof Long || value instanceof String) {
      return OptionText.integer(name(field), value.toString(), min, max);
    }
    throw refused(field, "must be a whole number from " + min + " to " + max);
  }

  long integer(String field, long absent, long min, long max) {
    requireNotNull(field, "a whole number from " + min + " to " + max);
    Long value = integerOrNull(field, min, max);
    return value == null ? absent : value;
  }

  boolean bool(String field, boolean absent) {
    if (!has(field)) return absent;
    Object value = values.get(field);
    if (value instanceof Boolean truth) return truth;
    if (value instanceof String || value instanceof Long) return OptionText.bool(name(field), value.toString());
    throw refused(field, "must be true or false");
  }

  double positive(String field, double absent) {
    if (!has(field)) return absent;
    double value = number(field);
    if (value > 0) return value;
    throw refused(field, "must be a number above 0");
  }

  double number(String field) {
    double value = switch (values.get(field)) {
      case Long whole -> whole.doubleValue();
      case Double real -> real;
      case String text -> parsed(field, text);
      case null, default -> throw refused(field, "must be a number");
    };
    if (Double.isFinite(value)) return value;
    throw refused(field, "must be a finite number");
  }

  /** A number of seconds, fractions allowed. */
  Duration seconds(String field, double absent) {
    double seconds = positive(field, absent);
    // a year: longer is a mistake in the unit, and nanoseconds still fit a long
    if (seconds > Duration.ofDays(365).toSeconds()) throw refused(field, "must be at most a year, in seconds");
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }

  <E extends Enum<E>> @Nullable E choiceOrNull(String field, List<E> choices) {
    String text = textOrNull(field);
    if (text == null) return null;
    for (E choice : choices) {
      if (choice.toString().equals(text)) return choice;
    }
    throw refused(field, "must be " + choices.stream().map(Enum::toString).collect(Collectors.joining(" or ")));
  }

  /** An object, empty where the field is absent. */
  Fields object(String field) {
    if (!has(field)) return new Fields(name(field), Map.of());
    if (values.get(field) instanceof Map<?, ?> map) return of(name(field), map);
    throw refused(field, "must be a map");
  }

  /** The elements of a list as fields {@code name[0]}, {@code name[1]}, ...; none where the field is absent. */
  Fields elements(String field) {
    Map<String, @Nullable Object> elements = new LinkedHashMap<>();
    if (has(field)) {
      if (!(values.get(field) instanceof List<?> list)) throw refused(field, "must be a list");
      for (Object element : list)
        elements.put(field + '[' + elements.size() + ']', element);
    }
    return new Fields(path, Collections.unmodifiableMap(elements));
  }

  private void requireNotNull(String field, String allowed) {
    if (has(field) && values.get(field) == null) throw refused(field, "must be " + allowed);
  }

  private double parsed(String field, String text) {
    try {
      // stricter than parseDouble, which takes "1d", " 1" and "Infinity"
      return new BigDecimal(text).doubleValue();
    } catch (NumberFormatException e) {
      throw refused(field, "must be a number");
    }
  }
}

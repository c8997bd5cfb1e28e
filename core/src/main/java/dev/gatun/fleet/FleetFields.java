package dev.gatun.fleet;

import dev.gatun.backend.OptionText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Fields of one object of a configuration, each a text, a number or a truth value; a refusal names the field with the
 * path that leads to it, its value, and what is allowed.
 *
 * @param path where the object stands, empty for the outermost
 */
record FleetFields(String path, Map<String, Object> values) {

  static FleetFields of(String path, Map<?, ?> source) {
    Map<String, Object> values = new LinkedHashMap<>();
    source.forEach((name, value) -> {
      if (value != null) values.put(String.valueOf(name), value);
    });
    return new FleetFields(path, values);
  }

  String name(String field) {
    return path.isEmpty() ? field : path + '.' + field;
  }

  IllegalArgumentException refused(String field, String rule) {
    Object value = values.get(field);
    return new IllegalArgumentException(
        name(field) + ' ' + rule + ": " + (value == null ? "absent" : "\"" + value + '"'));
  }

  void requireKnown(Collection<String> known) {
    for (String field : values.keySet()) {
      if (!known.contains(field)) throw OptionText.unknown("field", name(field), known);
    }
  }

  boolean has(String field) {
    return values.containsKey(field);
  }

  @Nullable
  String textOrNull(String field) {
    Object value = values.get(field);
    if (value == null) return null;
    if (value instanceof Map || value instanceof List) throw refused(field, "must be one value");
    String text = value.toString().strip();
    if (text.isEmpty()) throw refused(field, "must not be empty");
    return text;
  }

  String text(String field, String absent) {
    String text = textOrNull(field);
    return text == null ? absent : text;
  }

  String required(String field, String what) {
    String text = textOrNull(field);
    if (text == null) throw refused(field, "must be " + what);
    return text;
  }

  int integer(String field, int absent, int min, int max) {
    String text = textOrNull(field);
    return text == null ? absent : Math.toIntExact(OptionText.integer(name(field), text, min, max));
  }

  boolean bool(String field, boolean absent) {
    String text = textOrNull(field);
    return text == null ? absent : OptionText.bool(name(field), text);
  }

  <E extends Enum<E>> E choice(String field, E absent, Class<E> type) {
    String text = textOrNull(field);
    if (text == null) return absent;
    E[] choices = type.getEnumConstants();
    for (E choice : choices) {
      if (word(choice).equals(word(text))) return choice;
    }
    throw refused(field, "must be one of "
        + Arrays.stream(choices).map(FleetFields::word).collect(Collectors.joining(", ")));
  }

  /** The objects of a list. */
  List<FleetFields> objects(String field) {
    Object value = values.get(field);
    if (!(value instanceof List<?> list) || list.isEmpty()) throw refused(field, "must be a list of one or more");
    List<FleetFields> objects = new ArrayList<>();
    for (Object element : list) {
      if (!(element instanceof Map<?, ?> map)) throw refused(field, "must be a list of objects, each with a url");
      objects.add(of(name(field) + '[' + objects.size() + ']', map));
    }
    return objects;
  }

  /** A list of texts, or texts separated by commas. */
  List<String> texts(String field) {
    Object value = values.get(field);
    if (value instanceof List<?> list) return list.stream().map(element -> String.valueOf(element).strip()).toList();
    String text = textOrNull(field);
    return text == null ? List.of() : Arrays.stream(text.split(",", -1)).map(String::strip).toList();
  }

  private static String word(Object choice) {
    return choice.toString().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}

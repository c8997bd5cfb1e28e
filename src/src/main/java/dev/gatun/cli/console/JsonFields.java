package dev.gatun.cli.console;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object read field by field; one that is missing or of another type is refused by name.
 *
 * @param map as {@link Json#parse} gives it
 */
public record JsonFields(Map<?, ?> map) {

  /** {@return a text} */
  public String text(String name) {
    return is(name, String.class);
  }

  /** {@return a number} */
  public Number number(String name) {
    return is(name, Number.class);
  }

  /** {@return yes or no} */
  public boolean flag(String name) {
    return is(name, Boolean.class);
  }

  /** {@return an object inside} */
  public JsonFields object(String name) {
    return new JsonFields(is(name, Map.class));
  }

  /** {@return a list} */
  public List<?> list(String name) {
    return is(name, List.class);
  }

  /** {@return a list of texts} */
  public List<String> texts(String name) {
    return list(name).stream().map(String::valueOf).toList();
  }

  /** {@return a list of whole numbers} */
  public long[] longs(String name) {
    return list(name).stream().mapToLong(number -> ((Number) number).longValue()).toArray();
  }

  /** {@return whether there is such a field} */
  public boolean has(String name) {
    return map.get(name) != null;
  }

  private <T> T is(String name, Class<T> type) {
    @Nullable
    Object value = map.get(name);
    if (type.isInstance(value)) return type.cast(value);
    throw new IllegalArgumentException(name + " must be a " + type.getSimpleName() + ": " + value);
  }
}

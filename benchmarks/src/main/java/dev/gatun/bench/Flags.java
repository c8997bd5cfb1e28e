package dev.gatun.bench;

import dev.gatun.backend.ByteSize;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Command-line flags of the form {@code --name value}. What nobody asked for is refused. */
final class Flags {
  private final Map<String, String> given = new HashMap<>();
  private final Set<String> known = new HashSet<>();

  Flags(String[] arguments) {
    for (int i = 0; i < arguments.length; i += 2) {
      if (!arguments[i].startsWith("--") || i + 1 == arguments.length) {
        throw new IllegalArgumentException("arguments must be --name value pairs: " + arguments[i]);
      }
      given.put(arguments[i], arguments[i + 1]);
    }
  }

  String text(String name, String unlessGiven) {
    known.add(name);
    return given.getOrDefault(name, unlessGiven);
  }

  String word(String name, List<String> allowed) {
    String text = text(name, allowed.getFirst());
    if (allowed.contains(text)) return text;
    throw new IllegalArgumentException(name + " must be one of " + String.join(", ", allowed) + ": " + text);
  }

  List<String> words(String name, List<String> unlessGiven) {
    return List.of(text(name, String.join(",", unlessGiven)).split(","));
  }

  long number(String name, long unlessGiven) {
    return number(name, text(name, Long.toString(unlessGiven)), 0);
  }

  List<Long> numbers(String name, List<Long> unlessGiven) {
    List<Long> numbers = new ArrayList<>();
    for (String text : words(name, unlessGiven.stream().map(String::valueOf).toList()))
      numbers.add(number(name, text, 1));
    return numbers;
  }

  /** {@return a size in bytes, written as a number or with k, m, g or t} */
  long bytes(String name, long unlessGiven) {
    return ByteSize.parse(name, text(name, Long.toString(unlessGiven)));
  }

  /** {@return sizes in bytes, written as {@link #bytes} and parted by commas} */
  List<Long> sizes(String name, List<Long> unlessGiven) {
    return words(name, unlessGiven.stream().map(String::valueOf).toList()).stream()
        .map(text -> ByteSize.parse(name, text)).toList();
  }

  /** Refuses flags that nothing has read. */
  void requireKnown() {
    Stream<String> unknown = given.keySet().stream().filter(name -> !known.contains(name)).sorted();
    unknown.findFirst().ifPresent(name -> {
      throw new IllegalArgumentException("unknown flag " + name + "; known: " + String.join(" ", new TreeSet<>(known)));
    });
  }

  private static long number(String name, String text, long min) {
    try {
      long value = Long.parseLong(text);
      if (value >= min) return value;
    } catch (NumberFormatException e) {
      // said below
    }
    throw new IllegalArgumentException(name + " must be a whole number of " + min + " or more: " + text);
  }
}

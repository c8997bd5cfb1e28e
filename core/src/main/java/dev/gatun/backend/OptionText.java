package dev.gatun.backend;

import java.time.Duration;
import java.util.Collection;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads option values and option names that came as text. Never guesses: what is not understood is refused. */
public final class OptionText {
  private static final Pattern INTEGER = Pattern.compile("-?\\d{1,19}");
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9}) ?(ms|s|m|h)");
  // 3: catches a transposed pair plus one wrong letter; beyond that suggestions mislead
  private static final int TYPOS_MAX = 3;

  private OptionText() {}

  /**
   * {@return the truth value of true, yes, on, 1 or false, no, off, 0, in any letter case}
   *
   * @param field name for the message
   * @param text what was written
   * @throws IllegalArgumentException for anything else
   */
  public static boolean bool(String field, String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "yes", "on", "1" -> true;
      case "false", "no", "off", "0" -> false;
      default -> throw new IllegalArgumentException(
          field + " must be true, yes, on, 1, false, no, off or 0: \"" + text + '"');
    };
  }

  /**
   * {@return a whole number}
   *
   * @param field name for the message
   * @param text what was written: digits only, no spaces, no unit
   * @param min smallest value allowed
   * @param max largest value allowed
   * @throws IllegalArgumentException if it is no number or out of range
   */
  public static long integer(String field, String text, long min, long max) {
    if (INTEGER.matcher(text).matches()) {
      try {
        long value = Long.parseLong(text);
        if (value >= min && value <= max) return value;
      } catch (NumberFormatException beyondLong) {
        // reported below like any other value out of range
      }
    }
    throw new IllegalArgumentException(
        field + " must be a whole number from " + min + " to " + max + ": \"" + text + '"');
  }

  /**
   * {@return a duration}
   *
   * @param field name for the message
   * @param text a whole number with its unit: {@code 500ms}, {@code 5s}, {@code 2m}, {@code 1h}
   * @throws IllegalArgumentException if it is not that
   */
  public static Duration duration(String field, String text) {
    Matcher match = DURATION.matcher(text.toLowerCase(Locale.ROOT));
    if (!match.matches()) {
      throw new IllegalArgumentException(
          field + " must be a whole number with ms, s, m or h (500ms, 5s): \"" + text + '"');
    }
    long number = Long.parseLong(match.group(1));
    return switch (match.group(2)) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      default -> Duration.ofHours(number);
    };
  }

  /**
   * {@return the refusal of an option that does not exist, with the closest one that does}
   *
   * @param what kind of thing it is, such as {@code option}
   * @param name what was written
   * @param known names that exist
   */
  public static IllegalArgumentException unknown(String what, String name, Collection<String> known) {
    String closest = "";
    int best = TYPOS_MAX + 1;
    for (String candidate : known) {
      int typos = distance(plain(name), plain(candidate));
      if (typos < best) {
        best = typos;
        closest = candidate;
      }
    }
    return new IllegalArgumentException(closest.isEmpty()
        ? "unknown " + what + " \"" + name + "\"; known: " + String.join(", ", known.stream().sorted().toList())
        : "unknown " + what + " \"" + name + "\"; did you mean \"" + closest + "\"?");
  }

  /** Letter case and separators are the commonest slips, so they do not count as typing errors. */
  private static String plain(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[._-]", "");
  }

  /** Levenshtein distance, one row at a time. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j < row.length; j++)
      row[j] = j;
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substituted, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}

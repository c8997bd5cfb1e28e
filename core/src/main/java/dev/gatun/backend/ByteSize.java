package dev.gatun.backend;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sizes in bytes as people write them: {@code 4096}, {@code 16 MiB}, {@code 1.5g}, {@code 256MB}. All units count in
 * steps of 1,024, as they do in the configuration files of Mooncake, vLLM, SGLang and LMCache; letter case and the space
 * do not matter.
 */
public final class ByteSize {
  private static final Pattern SHAPE = Pattern.compile("(\\d{1,19}(?:\\.\\d{1,9})?) ?([a-z]*)");
  private static final Map<String, Integer> SHIFTS = Map.ofEntries(Map.entry("", 0), Map.entry("b", 0),
      Map.entry("k", 10), Map.entry("kb", 10), Map.entry("kib", 10), Map.entry("m", 20), Map.entry("mb", 20),
      Map.entry("mib", 20), Map.entry("g", 30), Map.entry("gb", 30), Map.entry("gib", 30), Map.entry("t", 40),
      Map.entry("tb", 40), Map.entry("tib", 40));
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

  private ByteSize() {}

  /**
   * {@return the size in bytes; a fraction of a byte is cut off}
   *
   * @param field name for the message
   * @param text what was written
   * @throws IllegalArgumentException if it is negative, no size, or beyond 2^63-1, naming field, text and what is allowed
   */
  public static long parse(String field, String text) {
    Matcher match = SHAPE.matcher(text.toLowerCase(Locale.ROOT));
    Integer shift = match.matches() ? SHIFTS.get(match.group(2)) : null;
    if (shift == null) {
      throw new IllegalArgumentException(
          field + " must be bytes or a number with k, m, g or t (16777216, 16 MiB, 1.5g): \"" + text + '"');
    }
    BigDecimal bytes = new BigDecimal(match.group(1)).multiply(BigDecimal.valueOf(1L << shift));
    if (bytes.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
      throw new IllegalArgumentException(field + " must be at most " + Long.MAX_VALUE + " bytes: \"" + text + '"');
    }
    return bytes.longValue();
  }

  /**
   * {@return the size with the largest unit that loses nothing, such as {@code 16 MiB} or {@code 16777217 B}}
   *
   * @param bytes a size, 0 or more
   */
  public static String format(long bytes) {
    int unit = bytes == 0 ? 0 : Math.min(UNITS.length - 1, Long.numberOfTrailingZeros(bytes) / 10);
    return (bytes >> (10 * unit)) + " " + UNITS[unit];
  }
}

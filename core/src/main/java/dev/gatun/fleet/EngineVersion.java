package dev.gatun.fleet;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A version as engines state it, such as {@code 0.32.0+cpu} or {@code 0.23.0rc1}; of it only major and minor count.
 *
 * @param text as stated
 * @param known whether it has a major and a minor number
 */
record EngineVersion(String text, boolean known, int major, int minor) {
  private static final Pattern NUMBERS = Pattern.compile("v?(\\d{1,4})\\.(\\d{1,4})(?!\\d).*", Pattern.DOTALL);

  static EngineVersion of(String text) {
    Matcher match = NUMBERS.matcher(text);
    return match.matches()
        ? new EngineVersion(text, true, Integer.parseInt(match.group(1)), Integer.parseInt(match.group(2)))
        : new EngineVersion(text, false, 0, 0);
  }

  boolean atLeast(int otherMajor, int otherMinor) {
    return known && (major > otherMajor || (major == otherMajor && minor >= otherMinor));
  }
}

package dev.gatun.cli;

import java.util.Locale;

/** Options that are answered with yes or no. */
final class YesNo {
  private YesNo() {}

  /**
   * {@return whether the text says yes}
   *
   * @throws IllegalArgumentException unless it says yes or no
   */
  static boolean parse(String option, String text) {
    return switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "yes", "true", "on" -> true;
      case "no", "false", "off" -> false;
      default -> throw new IllegalArgumentException(option + " must be yes or no: \"" + text + '"');
    };
  }
}

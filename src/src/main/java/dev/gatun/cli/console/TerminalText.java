package dev.gatun.cli.console;

import java.util.Locale;
import java.util.regex.Pattern;

/** Text that holds keys and names of others, for people: whatever a terminal would obey stands as its number. */
public final class TerminalText {
  private static final Pattern CONTROL = Pattern.compile("\\p{Cc}");
  private static final Pattern CONTROL_IN_LINES = Pattern.compile("[\\p{Cc}&&[^\\n\\t]]");

  private TerminalText() {}

  /** {@return a text that is part of a line} */
  public static String line(String text) {
    return shown(CONTROL, text);
  }

  /** {@return a text of several lines, which stay} */
  public static String lines(String text) {
    return shown(CONTROL_IN_LINES, text);
  }

  private static String shown(Pattern control, String text) {
    return control.matcher(text)
        .replaceAll(match -> String.format(Locale.ROOT, "\\\\u%04x", (int) match.group().charAt(0)));
  }
}

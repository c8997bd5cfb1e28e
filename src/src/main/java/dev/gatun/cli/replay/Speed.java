package dev.gatun.cli.replay;

import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How fast trace time passes.
 *
 * @param factor times faster than the trace, 0 for flat out
 */
public record Speed(double factor) {
  private static final Pattern FACTOR = Pattern.compile("(\\d{1,7}(?:\\.\\d{1,6})?)x");

  /**
   * Reads it.
   *
   * @param text {@code flat}, {@code trace} or a factor such as {@code 60x}
   * @return the speed
   * @throws IllegalArgumentException for anything else
   */
  public static Speed parse(String text) {
    String plain = text.strip().toLowerCase(Locale.ROOT);
    if (plain.equals("flat")) return new Speed(0);
    if (plain.equals("trace")) return new Speed(1);
    Matcher match = FACTOR.matcher(plain);
    if (match.matches() && Double.parseDouble(match.group(1)) > 0) return new Speed(Double.parseDouble(match.group(1)));
    throw new IllegalArgumentException("--speed must be flat, trace or a factor such as 60x: \"" + text + '"');
  }

  /** Waits until a moment of the trace has come. */
  void await(long startNanos, long offsetMillis) {
    if (factor == 0) return;
    long dueNanos = startNanos + (long) (offsetMillis * 1e6 / factor);
    for (long left = dueNanos - System.nanoTime(); left > 0; left = dueNanos - System.nanoTime()) {
      if (Thread.currentThread().isInterrupted())
        throw new IllegalStateException("interrupted while waiting for " + this);
      LockSupport.parkNanos(this, left);
    }
  }

  @Override
  public String toString() {
    return factor == 0 ? "flat" : factor == 1 ? "trace" : factor + "x";
  }
}

package dev.gatun.nativelib;

import java.util.List;

/**
 * A shared library, or something needed to install one, is missing or was refused. The message lists every place that
 * was tried and ends with the line to type.
 */
public final class LibraryUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Places tried, in order. */
  private final transient List<String> tried;
  /** What mends it. */
  private final String fix;
  /** Composed of the three. */
  private final String message;

  /**
   * Creates the exception.
   *
   * @param what what is unavailable and why, one sentence without a full stop
   * @param tried places that were looked at, in order; may be empty
   * @param fix the line to type or the setting to change
   */
  public LibraryUnavailableException(String what, List<String> tried, String fix) {
    this.message = message(what, tried, fix);
    this.tried = List.copyOf(tried);
    this.fix = fix;
  }

  /**
   * Creates the exception with a cause.
   *
   * @param what what is unavailable and why, one sentence without a full stop
   * @param tried places that were looked at, in order; may be empty
   * @param fix the line to type or the setting to change
   * @param cause what was caught
   */
  public LibraryUnavailableException(String what, List<String> tried, String fix, Throwable cause) {
    super(cause);
    this.message = message(what, tried, fix);
    this.tried = List.copyOf(tried);
    this.fix = fix;
  }

  /** {@return what is unavailable and why, every place tried, and the fix, on lines of their own} */
  @Override
  public String getMessage() {
    return message;
  }

  /** {@return the places that were looked at, in order} */
  public List<String> tried() {
    return tried == null ? List.of() : tried;
  }

  /** {@return the line to type or the setting to change} */
  public String fix() {
    return fix;
  }

  private static String message(String what, List<String> tried, String fix) {
    StringBuilder text = new StringBuilder(what);
    for (String place : tried)
      text.append("\n  tried: ").append(place);
    return text.append("\n  fix: ").append(fix).toString();
  }
}

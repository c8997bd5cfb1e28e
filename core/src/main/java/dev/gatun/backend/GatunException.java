package dev.gatun.backend;

/**
 * Root of everything Gatun throws for reasons other than a bad argument ({@link IllegalArgumentException}) or a wrong
 * call order ({@link IllegalStateException}). Outcomes that a caller must expect for single keys are results, not
 * exceptions.
 */
public class GatunException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what failed and what to do about it
   */
  public GatunException(String message) {
    super(message);
  }

  /**
   * Creates the exception.
   *
   * @param message what failed and what to do about it
   * @param cause what was caught
   */
  public GatunException(String message, Throwable cause) {
    super(message, cause);
  }
}

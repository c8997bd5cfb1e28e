package dev.gatun.backend;

import java.util.Locale;

/** An engine call that failed as a whole. How single requests ended is a {@link TransferOutcome} instead. */
public final class EngineException extends GatunException {
  private static final long serialVersionUID = 1L;

  /** The call that failed. */
  private final String operation;
  /** What the number means. */
  private final EngineCode code;
  /** The number as it came. */
  private final long rawCode;

  /**
   * Creates the exception; the message holds operation, subject, code name and number.
   *
   * @param operation the call, such as {@code openSegment}
   * @param code what the number means
   * @param rawCode the number that the C function returned
   * @param subject what it was about, and where it helps, what to do
   */
  public EngineException(String operation, EngineCode code, long rawCode, String subject) {
    super(String.format(Locale.ROOT, "%s(%s) failed: %s (%d)", operation, subject, code, rawCode));
    this.operation = operation;
    this.code = code;
    this.rawCode = rawCode;
  }

  /** {@return the call that failed} */
  public String operation() {
    return operation;
  }

  /** {@return what the number means} */
  public EngineCode code() {
    return code;
  }

  /** {@return the number that the C function returned} */
  public long rawCode() {
    return rawCode;
  }
}

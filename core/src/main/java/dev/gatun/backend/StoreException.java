package dev.gatun.backend;

import java.util.Locale;

/** A store call that failed as a whole. Failures of single keys in a batch are results instead. */
public final class StoreException extends GatunException {
  private static final long serialVersionUID = 1L;

  /** The call that failed. */
  private final String operation;
  /** What the number means. */
  private final StoreCode code;
  /** The number as it came. */
  private final long rawCode;

  /**
   * Creates the exception; the message holds operation, subject, code name and number.
   *
   * @param operation the call, such as {@code removeAll}
   * @param rawCode the number that the C function returned
   * @param subject what it was about: a key, an address, a count
   */
  public StoreException(String operation, long rawCode, String subject) {
    super(String.format(Locale.ROOT, "%s(%s) failed: %s (%d)", operation, subject, StoreCode.of(rawCode), rawCode));
    this.operation = operation;
    this.code = StoreCode.of(rawCode);
    this.rawCode = rawCode;
  }

  /** {@return the call that failed} */
  public String operation() {
    return operation;
  }

  /** {@return the code, {@link StoreCode#UNKNOWN} for a number this version does not know} */
  public StoreCode code() {
    return code;
  }

  /** {@return the number that the C function returned} */
  public long rawCode() {
    return rawCode;
  }
}

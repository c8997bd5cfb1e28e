package dev.gatun.device;

import dev.gatun.backend.GatunException;

/** There is no GPU driver, or it cannot be used; everything else works without one. */
public final class DriverUnavailableException extends GatunException {
  private static final long serialVersionUID = 1L;

  /** What is missing. */
  private final String missing;
  /** What mends it. */
  private final String fix;

  /**
   * Creates the exception.
   *
   * @param missing what is missing or refused and why, without a full stop
   * @param fix what to do about it
   * @param cause what was caught
   */
  public DriverUnavailableException(String missing, String fix, Throwable cause) {
    super(missing + "; " + fix, cause);
    this.missing = missing;
    this.fix = fix;
  }

  /** {@return what is missing or refused, and why} */
  public String missing() {
    return missing;
  }

  /** {@return what to do about it} */
  public String fix() {
    return fix;
  }
}

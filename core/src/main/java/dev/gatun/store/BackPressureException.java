package dev.gatun.store;

import dev.gatun.backend.GatunException;

/** An operation that was not accepted, since as many as allowed are in flight. Nothing was sent; leave it out or retry. */
public final class BackPressureException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what was refused and why
   */
  public BackPressureException(String message) {
    super(message);
  }
}

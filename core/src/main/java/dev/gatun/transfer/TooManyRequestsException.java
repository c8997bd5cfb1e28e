package dev.gatun.transfer;

import dev.gatun.backend.GatunException;

/** More requests at once than the engine takes to one segment without failing some: wait for others to end. */
public final class TooManyRequestsException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message how many were in flight, how many were asked for, and the limit
   */
  public TooManyRequestsException(String message) {
    super(message);
  }
}

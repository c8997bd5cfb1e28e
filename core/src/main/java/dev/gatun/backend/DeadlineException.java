package dev.gatun.backend;

/** A wait that reached its deadline; the message lists what is still pending. Nothing that native code may touch was freed. */
public final class DeadlineException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what was refused, why, and what to do
   */
  public DeadlineException(String message) {
    super(message);
  }
}

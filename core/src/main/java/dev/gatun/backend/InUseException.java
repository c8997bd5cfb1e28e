package dev.gatun.backend;

/** Something that cannot be closed, released or unregistered yet, because a transfer uses it; the message lists what. */
public final class InUseException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what was refused, why, and what to do
   */
  public InUseException(String message) {
    super(message);
  }
}

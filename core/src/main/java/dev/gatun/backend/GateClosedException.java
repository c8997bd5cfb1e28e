package dev.gatun.backend;

/** An operation that a refit in progress refuses: its bytes belong to old weights. Recompute after the gate has opened. */
public final class GateClosedException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what was refused, why, and what to do
   */
  public GateClosedException(String message) {
    super(message);
  }
}

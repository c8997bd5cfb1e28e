package dev.gatun.backend;

/** Use of a store, pool, slab or batch after it was closed. */
public final class ClosedException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what was refused, why, and what to do
   */
  public ClosedException(String message) {
    super(message);
  }
}

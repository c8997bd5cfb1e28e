package dev.gatun.backend;

/** A block, sequence or batch of an earlier weight epoch was used after a refit. Drop it and compute again. */
public final class EpochChangedException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what was refused, why, and what to do
   */
  public EpochChangedException(String message) {
    super(message);
  }
}

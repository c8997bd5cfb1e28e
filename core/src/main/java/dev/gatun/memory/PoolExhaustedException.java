package dev.gatun.memory;

import dev.gatun.backend.GatunException;

/** No block of the pool is free. Release blocks, wait for transfers, or make the pool larger. */
public final class PoolExhaustedException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message which pool, and what holds its blocks
   */
  public PoolExhaustedException(String message) {
    super(message);
  }
}

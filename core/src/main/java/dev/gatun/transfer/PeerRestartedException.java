package dev.gatun.transfer;

import dev.gatun.backend.GatunException;

/**
 * Another engine has the name of a peer now: what was known of the one before, its addresses above all, is worth nothing.
 * Get a new descriptor from the peer and open that.
 */
public final class PeerRestartedException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message the name, and what was refused
   */
  public PeerRestartedException(String message) {
    super(message);
  }
}

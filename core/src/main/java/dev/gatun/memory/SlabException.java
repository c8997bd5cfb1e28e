package dev.gatun.memory;

import dev.gatun.backend.GatunException;

/** The operating system refused memory, huge pages or a NUMA node; the message names the reason and the remedy. */
public final class SlabException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what was refused, why, and what to do
   */
  public SlabException(String message) {
    super(message);
  }
}

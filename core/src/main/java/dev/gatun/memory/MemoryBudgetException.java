package dev.gatun.memory;

import dev.gatun.backend.GatunException;

/** A slab would exceed the cap on off-heap memory. Close slabs, ask for less, or raise the cap. */
public final class MemoryBudgetException extends GatunException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what was asked, what is in use, and the cap
   */
  public MemoryBudgetException(String message) {
    super(message);
  }
}

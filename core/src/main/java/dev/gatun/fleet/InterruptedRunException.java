package dev.gatun.fleet;

/** Whoever waits for a refit was told to stop. The thread's interrupt is set. */
final class InterruptedRunException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  InterruptedRunException() {
    super("the thread was interrupted");
  }
}

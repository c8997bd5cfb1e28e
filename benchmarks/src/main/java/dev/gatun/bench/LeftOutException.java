package dev.gatun.bench;

/** Something is not measured, since what it needs is not on this machine. */
final class LeftOutException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  LeftOutException(String message) {
    super(message);
  }
}

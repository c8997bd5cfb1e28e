package dev.gatun.cli.replay;

/** A trace that cannot be replayed; the message names file, line and field, and what is allowed. */
public final class TraceException extends Exception {
  private static final long serialVersionUID = 1L;

  TraceException(String message) {
    super(message);
  }
}

package dev.gatun.transfer;

/**
 * Where grants come one after the other, so that each can be accepted as it is made: the grantee remembers of a line only
 * how far it has come, begins nothing twice, and nothing that was taken back before. Made by {@link Handovers#openLine}, and
 * closed once nothing granted on it can come any more; nothing begins on it after that. Usable by any thread.
 */
public final class AttemptLine implements AutoCloseable {
  private final AttemptLines lines;
  private final Attempt first;

  AttemptLine(AttemptLines lines, Attempt first) {
    this.lines = lines;
    this.first = first;
  }

  /** {@return its first attempt, for the granter; {@link Attempt#next} leads to the others} */
  public Attempt first() {
    return first;
  }

  /** What has begun goes on. Idempotent. */
  @Override
  public void close() {
    lines.close(first.line());
  }
}

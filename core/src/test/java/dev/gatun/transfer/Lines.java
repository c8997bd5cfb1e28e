package dev.gatun.transfer;

import dev.gatun.backend.EngineInstance;

/** Lines of no engine, for tests of what hands them over. */
public final class Lines {
  /** An attempt of nobody. */
  public static final Attempt ATTEMPT = new Attempt("nobody", new EngineInstance(1, 2), 3, 4);

  private Lines() {}

  /** {@return a line of its own} */
  public static AttemptLine open() {
    return new AttemptLines().open(ATTEMPT.segment(), ATTEMPT.instance());
  }
}

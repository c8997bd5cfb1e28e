package dev.gatun.cli.console;

/** Ends a command with an exit code and one message, which says what is wrong and what to do. */
public final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  /**
   * Creates the exception.
   *
   * @param exitCode one of {@link ExitCode}
   * @param message what is wrong and what to do
   */
  public CommandException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  /** {@return the code that the command ends with} */
  public int exitCode() {
    return exitCode;
  }
}

package dev.gatun.cli.console;

/** What the command's exit codes mean; docs/cli.md repeats this table. */
public final class ExitCode {
  /** Done, and everything as it should be. */
  public static final int OK = 0;
  /** A page was stale or wrong, an operation failed, a key was not there, a refit ended FAILED. */
  public static final int FAILED = 1;
  /** The command line or an input file is wrong; nothing was done. */
  public static final int USAGE = 2;
  /** Done, but a refit ended ISOLATED or UNVERIFIED: nothing bad was seen, and nothing proves that there was nothing. */
  public static final int UNPROVEN = 3;
  /** Something that the command needs is not there: a library, the runtime, the master. */
  public static final int UNAVAILABLE = 4;

  private ExitCode() {}
}

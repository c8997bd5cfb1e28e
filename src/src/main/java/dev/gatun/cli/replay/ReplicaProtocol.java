package dev.gatun.cli.replay;

/**
 * What a parent and a replica in a process of its own say to each other over the child's standard streams, a line each.
 *
 * <p>Down: a command word and its argument. Up: {@code {"answer": …}} or {@code {"error": …, "exitCode": …}} for each
 * command, and in between {@code {"requestsDone": n}}.
 */
final class ReplicaProtocol {
  /** Opens the store; the argument is the settings as JSON. */
  static final String OPEN = "open";
  /** Replays a step; the argument is its number. Answers {@link #GOES_ON}. */
  static final String STEP = "step";
  /** Begins a refit; the argument is run and version, parted by a space. */
  static final String BEGIN = "begin";
  /** Removes and verifies. */
  static final String CLEAR = "clear";
  /** Ends the refit; answers a {@link RefitSummary}. */
  static final String END = "end";
  /** Answers {@link ReplicaFigures}. */
  static final String FIGURES = "figures";
  /** Closes the store and ends the process. */
  static final String CLOSE = "close";

  static final String ANSWER = "answer";
  static final String GOES_ON = "goesOn";
  static final String ERROR = "error";
  static final String EXIT_CODE = "exitCode";
  static final String REQUESTS_DONE = "requestsDone";

  private ReplicaProtocol() {}
}

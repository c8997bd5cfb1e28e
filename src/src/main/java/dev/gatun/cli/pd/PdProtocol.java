package dev.gatun.cli.pd;

/**
 * What {@code gatun pd} and its two processes say to each other over the children's standard streams: a command word and a
 * JSON object down, {@code {"answer": …}} or {@code {"error": …, "exitCode": …}} up.
 */
final class PdProtocol {
  /** Opens engine and connector; answers who and where the side is. With device memory: answers what the side can do. */
  static final String OPEN = "open";
  /** Connects device memory to the other side's, by a path; answers who and where the side is, or why it cannot. */
  static final String CONNECT = "connect";
  /** Finds out whether NIXL takes the side's device memory; answers why not. */
  static final String TRY_NIXL = "tryNixl";
  /** Raises the epoch. */
  static final String REFIT = "refit";
  /** Computes a prompt and offers it; answers what decode needs. */
  static final String PREFILL = "prefill";
  /** Takes a prompt over and checks it; answers how that went. */
  static final String DECODE = "decode";
  /** Answers how many blocks are free. */
  static final String BLOCKS = "blocks";
  /** Ends the process. */
  static final String CLOSE = "close";

  static final String ANSWER = "answer";
  static final String ERROR = "error";
  static final String EXIT_CODE = "exitCode";

  private PdProtocol() {}
}

package dev.gatun.cli.replay;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Ways to break a refit on purpose, to see that the replay notices. Controls for tests: with any of them a run must not
 * end well.
 */
public enum Fault {
  /** None. */
  NONE,
  /** The removal is not sent and answers that nothing was there. */
  DROP_REMOVAL,
  /** The master fails during the removal, and the code is taken for "nothing was there". */
  IGNORE_REMOVAL_CODE,
  /** A client that knows nothing of the refit puts pages of old weights after the last removal. */
  LATE_FOREIGN_PUT;

  /** {@return the word on the command line} */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * {@return the fault of that word}
   *
   * @throws IllegalArgumentException if there is none
   */
  public static Fault of(String word) {
    for (Fault fault : values()) {
      if (fault.word().equals(word)) return fault;
    }
    throw new IllegalArgumentException("--fault must be one of "
        + Arrays.stream(values()).map(Fault::word).collect(Collectors.joining(", ")) + ": \"" + word + '"');
  }
}

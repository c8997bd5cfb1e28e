package dev.gatun.cli.console;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreException;
import dev.gatun.device.DriverUnavailableException;
import dev.gatun.nativelib.LibraryUnavailableException;

/** What an exception means to the user of a command. */
public final class Failure {
  private Failure() {}

  /** {@return the exit code for an exception that ended a command} */
  public static int exitCode(Throwable failure) {
    if (failure instanceof DriverUnavailableException) return ExitCode.UNAVAILABLE;
    Throwable cause = failure instanceof GatunException && failure.getCause() != null ? failure.getCause() : failure;
    return switch (cause) {
      case CommandException stated -> stated.exitCode();
      case LibraryUnavailableException missing -> ExitCode.UNAVAILABLE;
      case StoreException refused -> unreachable(refused) ? ExitCode.UNAVAILABLE : ExitCode.FAILED;
      case LinkageError unloadable -> ExitCode.UNAVAILABLE;
      case IllegalArgumentException input -> ExitCode.USAGE;
      default -> ExitCode.FAILED;
    };
  }

  /** {@return what to tell the user} */
  public static String message(Throwable failure) {
    boolean expected = failure instanceof GatunException || failure instanceof CommandException
        || failure instanceof LibraryUnavailableException || failure instanceof IllegalArgumentException;
    if (failure instanceof OutOfMemoryError) {
      return "out of memory: " + failure.getMessage()
          + "; give the JVM more with GATUN_JAVA_OPTIONS=-Xmx8g, or ask for less";
    }
    String message = failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
    return expected
        ? message
        : "internal error, please report it with the output of --debug: "
            + failure.getClass().getSimpleName() + ": " + message;
  }

  private static boolean unreachable(StoreException refused) {
    return switch (refused.code()) {
      case RPC_FAIL, RPC_TIMEOUT -> true;
      default -> false;
    };
  }
}

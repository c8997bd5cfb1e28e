package dev.gatun.cli.console;

import dev.gatun.nativelib.Leftovers;
import dev.gatun.nativelib.NativeLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what native libraries print off the terminal: it goes to a file, which is named when something fails and removed
 * when nothing does and the user did not choose it.
 */
public final class NativeLogFile implements AutoCloseable {
  private final NativeLog log;
  private final boolean chosen;
  private boolean failed = true;

  private NativeLogFile(NativeLog log, boolean chosen) {
    this.log = log;
    this.chosen = chosen;
  }

  /**
   * Begins.
   *
   * @param chosen file to write, null for a temporary one
   * @return the redirection
   */
  public static NativeLogFile open(@Nullable Path chosen) {
    if (chosen != null) return new NativeLogFile(NativeLog.redirectTo(chosen), true);
    try {
      return new NativeLogFile(NativeLog.redirectTo(Leftovers.temporaryFile("gatun-", ".log")), false);
    } catch (IOException full) {
      throw new CommandException(ExitCode.UNAVAILABLE,
          "no temporary file for native logs: " + full.getMessage() + "; name one with --native-log");
    }
  }

  /** {@return the file} */
  public Path file() {
    return log.file();
  }

  /** Says that nothing failed, so that nobody will want to read the log. */
  public void succeeded() {
    failed = false;
  }

  /** Ends; keeps and names the file if something failed and it holds anything. */
  @Override
  public void close() {
    log.close();
    if (chosen || Leftovers.ending()) return;
    try {
      boolean empty = Files.size(file()) == 0;
      if (!failed || empty) {
        Leftovers.delete(file());
        return;
      }
      Leftovers.keep(file());
      System.err.println("gatun: native log: " + file());
    } catch (IOException gone) {
      // a log that is gone needs no removal
    }
  }
}

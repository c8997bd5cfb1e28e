package dev.gatun.cli.replay;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.nativelib.Leftovers;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Log files of the processes of a run; removed when nothing failed, unless the user chose where they go. */
public final class RunLogs implements AutoCloseable {
  private final Path folder;
  private final String prefix;
  private final boolean chosen;
  private boolean failed = true;

  private RunLogs(Path folder, String prefix, boolean chosen) {
    this.folder = folder;
    this.prefix = prefix;
    this.chosen = chosen;
  }

  /**
   * Chooses where logs go.
   *
   * @param job what runs, such as {@code replay}; in the name of the temporary folder
   * @param chosen beginning of their names, null for a temporary folder
   * @return the logs; the caller closes them
   */
  public static RunLogs open(String job, @Nullable Path chosen) {
    try {
      if (chosen == null) return new RunLogs(Leftovers.temporaryFolder("gatun-" + job + '-'), "", false);
    } catch (IOException full) {
      throw new CommandException(ExitCode.UNAVAILABLE,
          "no temporary folder for logs: " + full.getMessage() + "; name a file with --native-log");
    }
    Path file = chosen.toAbsolutePath();
    return new RunLogs(file.resolveSibling("."), file.getFileName() + ".", true);
  }

  /**
   * {@return a log file}
   *
   * @param name of the process that writes it
   */
  public Path file(String name) {
    return folder.resolve(prefix + name + ".log").normalize();
  }

  /** Nothing failed: the files are removed at the end. */
  public void succeeded() {
    failed = false;
  }

  @Override
  public void close() {
    if (chosen || Leftovers.ending()) return;
    if (failed) {
      Leftovers.keep(folder);
      System.err.println("gatun: logs of the processes: " + folder);
      return;
    }
    try {
      Leftovers.delete(folder);
    } catch (IOException busy) {
      System.err.println("gatun: cannot remove " + folder + ": " + busy.getMessage());
    }
  }
}

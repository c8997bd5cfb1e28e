package dev.gatun.cli;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.Json;
import dev.gatun.cli.console.NativeLogFile;
import dev.gatun.cli.console.TerminalText;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What every subcommand has: the options {@code --json}, {@code --debug}, {@code --native-log}, and how it answers. */
abstract class GatunCommand implements Callable<Integer> {
  private static final char UNDECODABLE = '\uFFFD';

  @Option(names = "--json", description = "print one JSON object on standard output")
  boolean json;

  @Option(names = "--debug", description = "print stack traces of errors")
  boolean debug;

  @Option(names = "--native-log", paramLabel = "FILE", description = "where native libraries log; default: a temporary file, named and kept when something fails")
  @Nullable
  Path nativeLog;

  @Option(names = {"-h", "--help"}, usageHelp = true, description = "print this help")
  boolean help;

  /** Does the work. */
  abstract int run();

  @Override
  public Integer call() {
    return run();
  }

  /** Sends native output to a file while {@code work} runs. */
  int withNativeLog(NativeWork work) {
    try (NativeLogFile log = NativeLogFile.open(nativeLog)) {
      int code = work.run(log.file());
      if (code == ExitCode.OK) log.succeeded();
      return code;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandException(ExitCode.FAILED, "interrupted");
    }
  }

  /** Work whose native output goes to a file. */
  interface NativeWork {
    /** {@return the exit code} */
    int run(Path log) throws InterruptedException;
  }

  /** Prints an answer: the map as JSON, or the text. */
  void answer(Map<String, ?> map, String text) {
    if (json) System.out.println(Json.pretty(map));
    else
      System.out.print(TerminalText.lines(text));
  }

  /**
   * {@return a part of a key as it was given} What the JVM cannot decode becomes one and the same character, and so would
   * name another key.
   */
  static String keyText(String what, String text) {
    if (text.indexOf(UNDECODABLE) < 0) return text;
    throw usage(
        what + " must be text in the encoding of the locale, " + System.getProperty("sun.jnu.encoding") + ": \"" + text
            + "\"; set LC_ALL=C.UTF-8");
  }

  /** {@return a part of a key that can be looked for among the lines in which the master lists its keys} */
  static String lineText(String what, String text) {
    if (text.indexOf('\n') < 0 && text.indexOf('\r') < 0) return keyText(what, text);
    throw usage(what + " must not hold a line end: the master's administration lists keys one a line, so such a key "
        + "cannot be told from two; gatun store get finds it");
  }

  /** {@return an error that ends the command} */
  static CommandException usage(String message) {
    return new CommandException(ExitCode.USAGE, message);
  }
}

package dev.gatun.cli;

import dev.gatun.nativelib.NativeLog;
import java.util.Arrays;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The {@code gatun} command. */
@Command(name = "gatun", description = "KV-cache transfer for the JVM: moves KV pages, and resets them on every refit.", subcommands = {
    ReplayCommand.class, MooncakeCommand.class, NixlCommand.class, StoreCommand.class, RefitCommand.class,
    PdCommand.class, DoctorCommand.class, BundleCommand.class, ReplicaCommand.class, PdSideCommand.class}, footer = {"",
        "Exit codes: 0 done; 1 failed, or a page was stale or wrong; 2 wrong usage or input; "
            + "3 a refit could not be verified; 4 something needed is not there.",
        "Each command: gatun COMMAND --help"})
public final class Gatun implements Runnable {
  @Option(names = {"-h", "--help"}, usageHelp = true, description = "print this help")
  boolean help;

  @Option(names = {"-V", "--version"}, description = "print versions of Gatun, its native library and the ABI")
  boolean version;

  @Option(names = "--json", description = "with --version: print one JSON object")
  boolean json;

  /**
   * Runs a command and ends the process with its exit code.
   *
   * @param arguments the command line
   */
  public static void main(String[] arguments) {
    int code = execute(arguments);
    NativeLog.silence(); // a library whose call hangs writes on while the process ends
    System.exit(code);
  }

  /**
   * Runs a command.
   *
   * @param arguments the command line
   * @return its exit code
   */
  static int execute(String... arguments) {
    ErrorPrinter errors = new ErrorPrinter(Arrays.asList(arguments));
    int code;
    try {
      code = new CommandLine(new Gatun()).setParameterExceptionHandler(errors).setExecutionExceptionHandler(errors)
          .setCaseInsensitiveEnumValuesAllowed(true).setUsageHelpAutoWidth(true)
          .setExpandAtFiles(false) // a key may begin with @
          .execute(arguments);
    } catch (Error failure) {
      code = errors.handle(failure);
    }
    // a print stream swallows what goes wrong, a full disk too
    return System.out.checkError() ? errors.lostOutput(code) : code;
  }

  @Override
  public void run() {
    if (!version) throw GatunCommand.usage("a command is missing; see gatun --help");
    Version.print(json);
  }
}

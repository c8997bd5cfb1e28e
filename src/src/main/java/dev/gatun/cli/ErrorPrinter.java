package dev.gatun.cli;

import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.Failure;
import dev.gatun.cli.console.Json;
import dev.gatun.cli.console.TerminalText;
import dev.gatun.nativelib.Leftovers;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says on standard error what went wrong, in one line; with {@code --json} also as an object on standard output. */
final class ErrorPrinter implements IParameterExceptionHandler, IExecutionExceptionHandler {
  private final boolean json;
  private final boolean debug;
  private final boolean fleet;

  ErrorPrinter(List<String> arguments) {
    json = isOn("--json", arguments);
    debug = isOn("--debug", arguments);
    fleet = arguments.contains("refit")
        && arguments.stream().anyMatch(argument -> argument.matches("--(fleet|engine)(=.*)?"));
  }

  /** Whether a switch is on; the arguments may be wrong otherwise. After {@code --} come no options. */
  private static boolean isOn(String option, List<String> arguments) {
    boolean on = false;
    for (String argument : arguments) {
      if (argument.equals("--")) return on;
      if (argument.equals(option)) on = true;
      else if (argument.startsWith(option + '=')) on = !argument.equalsIgnoreCase(option + "=false");
    }
    return on;
  }

  @Override
  public int handleParseException(ParameterException refusal, String[] arguments) {
    CommandLine command = refusal.getCommandLine();
    int code = fleet ? ExitCode.FAILED : ExitCode.USAGE; // of a fleet's refit, 2 says that it is not verified
    say(refusal, String.valueOf(refusal.getMessage()), code);
    UnmatchedArgumentException.printSuggestions(refusal, command.getErr());
    System.err.println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
    return code;
  }

  @Override
  public int handleExecutionException(Exception failure, CommandLine command, ParseResult parsed) {
    return handle(failure);
  }

  /** Says what ended a command. {@return the exit code} */
  int handle(Throwable failure) {
    int code = Failure.exitCode(failure);
    say(failure, Failure.message(failure), code);
    return code;
  }

  private static Map<String, Object> error(String message, int code) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("error", message);
    map.put("exitCode", code);
    return map;
  }

  /** Says that standard output does not hold what it should. {@return the exit code} */
  int lostOutput(int code) {
    System.err.println("gatun: standard output could not be written, what it holds is not whole");
    return code == ExitCode.OK ? ExitCode.FAILED : code;
  }

  private static String stackTrace(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  private void say(Throwable failure, String message, int code) {
    if (Leftovers.ending()) return; // it fails because somebody ended it
    if (debug) System.err.print(TerminalText.lines(stackTrace(failure)));
    System.err.println("gatun: " + TerminalText.lines(message));
    if (json) System.out.println(Json.pretty(error(message, code)));
  }
}

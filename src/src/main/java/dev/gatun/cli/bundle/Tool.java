package dev.gatun.cli.bundle;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.nativelib.Leftovers;
import java.io.IOException;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;

/** A program of the system that does a step. */
final class Tool {
  private Tool() {}

  /** Runs a program to its end; what it prints is shown only if it fails. */
  static void run(String program, List<String> arguments, String advice) {
    List<String> command = new ArrayList<>(List.of(program));
    command.addAll(arguments);
    Process process;
    try {
      process = Leftovers.start(new ProcessBuilder(command).redirectErrorStream(true));
    } catch (IOException e) {
      throw new CommandException(ExitCode.UNAVAILABLE, program + " cannot be started; " + advice);
    }
    try {
      process.getOutputStream().close();
      String printed = new String(process.getInputStream().readAllBytes(), Charset.defaultCharset()).strip();
      int code = process.waitFor();
      if (code != 0) {
        throw new CommandException(ExitCode.FAILED, program + " ended with " + code + ": " + printed + "; " + advice);
      }
    } catch (IOException e) {
      throw new CommandException(ExitCode.FAILED, program + " cannot be read from: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandException(ExitCode.FAILED, "interrupted");
    } finally {
      process.destroyForcibly();
    }
  }
}

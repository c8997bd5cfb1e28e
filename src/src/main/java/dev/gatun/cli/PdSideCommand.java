package dev.gatun.cli;

import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.pd.PdServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** One side of {@code gatun pd}; started by it, speaks over its standard streams. Two names, so that a process shows which. */
@Command(name = "pd-prefill", aliases = "pd-decode", hidden = true, description = "one side of gatun pd; started by it")
final class PdSideCommand implements Callable<Integer> {

  @Override
  public Integer call() throws InterruptedException {
    PrintStream answers = System.out;
    System.setOut(System.err); // nothing but answers may reach the parent
    PdServer.serve(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)), answers);
    return ExitCode.OK;
  }
}

package dev.gatun.cli;

import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.replay.ReplicaServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** One replica of a replay on a real Mooncake; started by {@code gatun replay}, speaks over its standard streams. */
@Command(name = "replica", hidden = true, description = "one replica of a replay; started by gatun replay")
final class ReplicaCommand implements Callable<Integer> {

  @Override
  public Integer call() throws InterruptedException {
    PrintStream answers = System.out;
    System.setOut(System.err); // nothing but answers may reach the parent
    ReplicaServer.serve(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)), answers);
    return ExitCode.OK;
  }
}

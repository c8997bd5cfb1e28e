package dev.gatun.cli.replay;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.Failure;
import dev.gatun.cli.console.Json;
import dev.gatun.cli.console.JsonFields;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * The child's side of {@link ReplicaProtocol}: one replica, driven by the lines of a parent process. Ends the process
 * when the parent's end of the pipe closes, so that no child outlives its parent.
 */
public final class ReplicaServer {
  // 5 a second: as often as the parent's display can use
  private static final long PROGRESS_MILLIS = 200;

  private final PrintStream out;
  private final BlockingQueue<String> commands = new LinkedBlockingQueue<>();
  private volatile @Nullable Replica replica;

  private ReplicaServer(PrintStream out) {
    this.out = out;
  }

  /**
   * Serves until told to close.
   *
   * @param in the parent's commands
   * @param out where answers go
   * @throws InterruptedException if interrupted
   */
  public static void serve(BufferedReader in, PrintStream out) throws InterruptedException {
    ReplicaServer server = new ReplicaServer(out);
    Thread.ofPlatform().daemon().name("commands").start(() -> server.read(in));
    Thread.ofPlatform().daemon().name("progress").start(server::tellProgress);
    server.run();
  }

  private void read(BufferedReader in) {
    try {
      for (String line = in.readLine(); line != null; line = in.readLine())
        commands.add(line);
    } catch (IOException broken) {
      // the same as an end: the parent is gone
    }
    Replica running = replica;
    if (running != null) running.cancel();
    System.exit(ExitCode.FAILED);
  }

  private void tellProgress() {
    try {
      while (true) {
        Thread.sleep(PROGRESS_MILLIS);
        Replica running = replica;
        if (running != null) send(Map.of(ReplicaProtocol.REQUESTS_DONE, running.requestsDone()));
      }
    } catch (InterruptedException end) {
      // nobody interrupts a daemon but the end of the process
    }
  }

  private void run() throws InterruptedException {
    while (true) {
      String command = commands.take();
      try {
        send(Map.of(ReplicaProtocol.ANSWER, obey(command)));
      } catch (RuntimeException failure) {
        failure.printStackTrace();
        send(Map.of(ReplicaProtocol.ERROR, Failure.message(failure), ReplicaProtocol.EXIT_CODE,
            Failure.exitCode(failure)));
      }
      if (command.equals(ReplicaProtocol.CLOSE)) return;
    }
  }

  private Map<String, Object> obey(String command) {
    String[] words = command.split(" ", 2);
    String argument = words.length == 1 ? "" : words[1];
    if (words[0].equals(ReplicaProtocol.OPEN)) {
      replica = LocalReplica.alone(ReplicaSettings.decode(new JsonFields(Json.parse(argument))));
    }
    Replica driven = replica;
    if (driven == null) throw new IllegalStateException("not open: " + command);
    return obey(driven, words[0], argument);
  }

  private static Map<String, Object> obey(Replica driven, String word, String argument) {
    switch (word) {
      case ReplicaProtocol.OPEN -> driven.open();
      case ReplicaProtocol.STEP -> {
        return Map.of(ReplicaProtocol.GOES_ON, driven.runStep(Long.parseLong(argument)));
      }
      case ReplicaProtocol.BEGIN -> driven.beginRefit(epoch(argument));
      case ReplicaProtocol.CLEAR -> driven.clear();
      case ReplicaProtocol.END -> {
        return driven.endRefit().encode();
      }
      case ReplicaProtocol.FIGURES -> {
        return driven.figures().encode();
      }
      case ReplicaProtocol.CLOSE -> driven.close();
      default -> throw new IllegalStateException("unknown command " + word);
    }
    return Map.of();
  }

  private static WeightEpoch epoch(String argument) {
    int space = argument.lastIndexOf(' ');
    return new WeightEpoch(argument.substring(0, space), Long.parseLong(argument.substring(space + 1)));
  }

  private synchronized void send(Map<String, ?> object) {
    out.println(Json.line(object));
    out.flush();
  }
}

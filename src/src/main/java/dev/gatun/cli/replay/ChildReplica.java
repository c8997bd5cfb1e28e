package dev.gatun.cli.replay;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.Json;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.nativelib.Leftovers;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A replica in a process of its own, as with a real store: the parent's side of {@link ReplicaProtocol}. */
final class ChildReplica implements Replica {
  // Destroying a store takes 1 to 2 s with a live master and up to 10 s with a dead one.
  private static final Duration END_LIMIT = Duration.ofSeconds(15);

  private final ReplicaSettings settings;
  private final Path log;
  private final Process process;
  private final BufferedReader answers;
  private final PrintStream commands;
  private volatile long requestsDone;

  /**
   * Starts the process.
   *
   * @param settings what it is to do
   * @param log file for what it and its native code print
   * @throws IOException if no process can be started
   */
  ChildReplica(ReplicaSettings settings, Path log) throws IOException {
    this.settings = settings;
    this.log = log;
    process = Leftovers.start(new ProcessBuilder(JavaCommand.of("replica")).redirectError(log.toFile()));
    answers = process.inputReader(StandardCharsets.UTF_8);
    commands = new PrintStream(process.getOutputStream(), false, StandardCharsets.UTF_8);
  }

  @Override
  public void open() {
    ask(ReplicaProtocol.OPEN + ' ' + Json.line(settings.encode()));
  }

  @Override
  public boolean runStep(long step) {
    return ask(ReplicaProtocol.STEP + ' ' + step).flag(ReplicaProtocol.GOES_ON);
  }

  @Override
  public void beginRefit(WeightEpoch next) {
    ask(ReplicaProtocol.BEGIN + ' ' + next.run() + ' ' + next.version());
  }

  @Override
  public void clear() {
    ask(ReplicaProtocol.CLEAR);
  }

  @Override
  public RefitSummary endRefit() {
    return RefitSummary.decode(ask(ReplicaProtocol.END));
  }

  @Override
  public ReplicaFigures figures() {
    return ReplicaFigures.decode(ask(ReplicaProtocol.FIGURES));
  }

  @Override
  public long requestsDone() {
    return requestsDone;
  }

  @Override
  public void cancel() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    commands.println(ReplicaProtocol.CLOSE);
    commands.flush();
    try {
      if (!process.waitFor(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) process.destroyForcibly().waitFor();
    } catch (InterruptedException end) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  private JsonFields ask(String command) {
    commands.println(command);
    commands.flush();
    try {
      for (String line = answers.readLine(); line != null; line = answers.readLine()) {
        JsonFields message = new JsonFields(Json.parse(line));
        if (message.has(ReplicaProtocol.ANSWER)) return message.object(ReplicaProtocol.ANSWER);
        if (message.has(ReplicaProtocol.ERROR)) throw failed(message);
        requestsDone = message.number(ReplicaProtocol.REQUESTS_DONE).longValue();
      }
    } catch (IOException broken) {
      throw ended(broken.toString());
    }
    throw ended("it closed its output");
  }

  private CommandException failed(JsonFields message) {
    return new CommandException(message.number(ReplicaProtocol.EXIT_CODE).intValue(),
        name() + ": " + message.text(ReplicaProtocol.ERROR) + " (its log: " + log + ')');
  }

  private CommandException ended(String how) {
    String code = process.isAlive() ? "still running" : "exit code " + process.exitValue();
    return new CommandException(ExitCode.FAILED,
        name() + " (process " + process.pid() + ") ended before its work did: " + how + ", " + code + "; its log: "
            + log);
  }

  private String name() {
    return "replica " + settings.index();
  }
}

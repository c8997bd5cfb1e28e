package dev.gatun.cli.pd;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.Json;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.cli.replay.JavaCommand;
import dev.gatun.nativelib.Leftovers;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** One side in a process of its own: the parent's side of {@link PdProtocol}. */
final class PdChild implements AutoCloseable {
  // destroying an engine takes a second or two
  private static final Duration END_LIMIT = Duration.ofSeconds(15);
  // no answer is an empty line
  private static final String END = "";

  private final PdSide side;
  private final Path log;
  private final Duration answerMax;
  private final Process process;
  /** Lines that it said, then {@link #END}. */
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final PrintStream commands;

  PdChild(PdSide side, Path log, Duration answerMax) throws IOException {
    this(side, JavaCommand.of("pd-" + side), log, answerMax);
  }

  PdChild(PdSide side, List<String> command, Path log, Duration answerMax) throws IOException {
    this.side = side;
    this.log = log;
    this.answerMax = answerMax;
    process = Leftovers.start(new ProcessBuilder(command).redirectError(log.toFile()));
    commands = new PrintStream(process.getOutputStream(), false, StandardCharsets.UTF_8);
    Thread.ofVirtual().name("gatun-answers " + side).start(this::read);
  }

  private void read() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine())
        answers.add(line);
    } catch (IOException broken) {
      // the same as an end
    }
    answers.add(END);
  }

  PdSide side() {
    return side;
  }

  /** Ended before its work did: killed, crashed, or out of memory. */
  static final class Ended extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Ended(String message) {
      super(message);
    }
  }

  /**
   * Asks and waits for the answer.
   *
   * @throws Ended if the process ends instead, or was ended because it did not answer in time
   * @throws CommandException if it cannot do what it was asked
   */
  JsonFields ask(String command, Map<String, ?> argument) {
    commands.println(command + ' ' + Json.line(argument));
    commands.flush();
    JsonFields message = new JsonFields(Json.parse(answer(command)));
    if (message.has(PdProtocol.ANSWER)) return message.object(PdProtocol.ANSWER);
    throw new CommandException(message.number(PdProtocol.EXIT_CODE).intValue(),
        side + ": " + message.text(PdProtocol.ERROR) + " (its log: " + log + ')');
  }

  private String answer(String command) {
    try {
      String line = answers.poll(answerMax.toNanos(), TimeUnit.NANOSECONDS);
      if (END.equals(line)) throw ended();
      if (line != null) return line;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly(); // an answer that came late would be taken for that to the next question
    throw new Ended(side + " (process " + process.pid() + ") did not answer " + command + " within " + answerMax
        + " and was ended; its log: " + log);
  }

  /** Waits a moment for the end of a process whose peer has just noticed that it is gone. */
  boolean hasEnded() {
    try {
      return process.waitFor(1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return !process.isAlive();
    }
  }

  Ended ended() {
    String code = hasEnded() ? "exit code " + process.exitValue() : "it closed its output";
    return new Ended(
        side + " (process " + process.pid() + ") ended before its work did: " + code + "; its log: " + log);
  }

  @Override
  public void close() {
    commands.println(PdProtocol.CLOSE + " {}");
    commands.flush();
    try {
      if (!process.waitFor(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) process.destroyForcibly().waitFor();
    } catch (InterruptedException end) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}

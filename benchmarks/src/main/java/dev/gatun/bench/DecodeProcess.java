package dev.gatun.bench;

import dev.gatun.bench.DecodeSide.Question;
import dev.gatun.nativelib.Leftovers;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The process that pages are pushed to, as the one that pushes sees it: {@link DecodeSide}, asked and heard through pipes. */
final class DecodeProcess implements AutoCloseable {
  private final Path log;
  private final Launcher launcher;
  private final Process process;
  private final DataInputStream answers;
  private final DataOutputStream questions;

  /**
   * Starts it.
   *
   * @param driver of its GPU
   * @param gpus of this machine: its is the second, or the only one
   */
  DecodeProcess(String driver, int gpus) throws IOException {
    log = Leftovers.temporaryFile("gatun-push", ".log");
    launcher = new Launcher(log, Map.of());
    process = launcher.startJava(DecodeSide.class, List.of(driver, gpus > 1 ? "1" : "0"));
    answers = new DataInputStream(process.getInputStream());
    questions = new DataOutputStream(new BufferedOutputStream(process.getOutputStream()));
  }

  /** {@return where questions are written, with what belongs to them, and flushed} */
  DataOutputStream questions() {
    return questions;
  }

  /** Asks something to which nothing belongs. {@return the answer} */
  long ask(Question question) throws IOException {
    questions.writeByte(question.code());
    questions.flush();
    return answer();
  }

  /** {@return the next answer; waits for it} */
  long answer() throws IOException {
    try {
      return answers.readLong();
    } catch (EOFException e) {
      throw ended(e);
    }
  }

  /** {@return bytes that it answers; waits for them} */
  byte[] answer(int bytes) throws IOException {
    byte[] answer = answers.readNBytes(bytes);
    if (answer.length < bytes) throw ended(new EOFException());
    return answer;
  }

  /** {@return whether {@link #answer} returns at once, or throws because the process has ended} */
  boolean hasAnswered() throws IOException {
    return !process.isAlive() || answers.available() > 0;
  }

  private IllegalStateException ended(EOFException cause) throws IOException {
    return new IllegalStateException("the other process has ended, and said:\n" + launcher.tail(), cause);
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    Leftovers.delete(log);
  }
}

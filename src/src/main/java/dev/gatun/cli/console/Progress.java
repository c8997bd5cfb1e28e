package dev.gatun.cli.console;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Shows on standard error how far a job has come: a bar on a terminal, a line every few seconds elsewhere, nothing where
 * the output is JSON and no terminal. The launcher says in the property {@code gatun.terminal} what standard error is.
 */
public final class Progress {
  private static final int BAR = 30;
  private static final long TERMINAL_MILLIS = 100;
  private static final long LINES_MILLIS = 5_000;

  private final PrintStream out;
  private final boolean terminal;
  private final boolean shown;
  private final String what;
  private final long total;
  private final LongSupplier done;
  private final Supplier<String> note;
  private final long startNanos = System.nanoTime();

  /**
   * Prepares to show a job.
   *
   * @param json whether standard output carries JSON
   * @param what the unit of {@code total}, in the plural
   * @param total how much there is to do
   * @param done how much is done; called from the painting thread
   * @param note a few words behind the bar; called from the painting thread
   */
  public Progress(boolean json, String what, long total, LongSupplier done, Supplier<String> note) {
    this.out = System.err;
    this.terminal = Boolean.getBoolean("gatun.terminal");
    this.shown = terminal || !json;
    this.what = what;
    this.total = total;
    this.done = done;
    this.note = note;
  }

  /** Shows the job while it runs, from a thread of its own. */
  public void during(Runnable job) {
    if (!shown) {
      job.run();
      return;
    }
    Thread painter = Thread.ofPlatform().daemon().name("progress").start(this::paint);
    try {
      job.run();
    } finally {
      painter.interrupt();
      join(painter);
    }
  }

  private void paint() {
    try {
      while (true) {
        Thread.sleep(terminal ? TERMINAL_MILLIS : LINES_MILLIS);
        show(terminal ? "\r" + bar() + "\u001b[K" : line() + System.lineSeparator());
      }
    } catch (InterruptedException closed) {
      if (terminal) show("\r\u001b[K");
    }
  }

  private void show(String text) {
    out.print(text);
    out.flush();
  }

  private String bar() {
    int filled = (int) (BAR * fraction());
    return "█".repeat(filled) + "░".repeat(BAR - filled) + " " + line();
  }

  private String line() {
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    return String.format(Locale.ROOT, "%3.0f %% %,d of %,d %s, %.0f s%s", 100 * fraction(), done.getAsLong(), total,
        what, seconds, note.get());
  }

  private double fraction() {
    return total == 0 ? 1 : Math.min(1.0, (double) done.getAsLong() / total);
  }

  private static void join(Thread painter) {
    try {
      painter.join();
    } catch (InterruptedException again) {
      Thread.currentThread().interrupt();
    }
  }
}

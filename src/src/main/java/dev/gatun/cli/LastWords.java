package dev.gatun.cli;

import dev.gatun.nativelib.Leftovers;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a command that a signal ends say what it has done so far: the signal interrupts the thread that made this, and the
 * JVM waits until that has spoken.
 */
final class LastWords {
  // 10 s: what is interrupted ends at once unless the machine is in trouble; unmeasured default
  private static final long WAIT_SECONDS = 10;

  private final Thread speaker = Thread.currentThread();
  private final CountDownLatch spoken = new CountDownLatch(1);

  private LastWords() {}

  static LastWords allow() {
    LastWords words = new LastWords();
    Leftovers.add(words, words::await);
    return words;
  }

  private void await() {
    speaker.interrupt();
    try {
      if (!spoken.await(WAIT_SECONDS, TimeUnit.SECONDS)) System.err.println("gatun: ended before its report");
    } catch (InterruptedException other) {
      Thread.currentThread().interrupt();
    }
  }

  /** Everything is said. */
  void said() {
    System.out.flush();
    spoken.countDown();
    Leftovers.forget(this);
  }
}

package dev.gatun.bench;

import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/** Two pieces of work in turn, one queued behind the one that runs, so that a link does not rest. */
final class Turns {
  private Turns() {}

  /**
   * {@return GB/s of what ended while something else ran}
   *
   * @param bytes of each piece
   * @param running whether the other still runs
   * @param send queues piece 0 or 1
   * @param done whether it has ended
   * @param settle called before it is sent again
   */
  static double gbpsWhile(long bytes, BooleanSupplier running, IntConsumer send, IntPredicate done,
      IntConsumer settle) {
    long start = System.nanoTime();
    long ended = 0;
    long endedNanos = 1;
    for (int sent = 0; running.getAsBoolean(); sent++) {
      if (sent > 1) settle.accept(sent % 2);
      send.accept(sent % 2);
      if (sent == 0) continue;
      while (!done.test((sent - 1) % 2) && running.getAsBoolean())
        Thread.onSpinWait();
      if (running.getAsBoolean()) {
        ended = sent;
        endedNanos = System.nanoTime() - start;
      }
    }
    return ended * bytes / (double) endedNanos;
  }
}

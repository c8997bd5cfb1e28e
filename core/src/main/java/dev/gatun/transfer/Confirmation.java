package dev.gatun.transfer;

import org.jspecify.annotations.Nullable;

/** A way to the granter of a pull that is shorter than the engine's messages: a connection on which it waits for a word. */
@FunctionalInterface
public interface Confirmation {
  /**
   * Has the granter asked by {@link Handovers#confirm}. Called once, when all bytes are here, on the thread that pulls.
   *
   * @return what the granter answers; null if nobody answers, and then it is asked by the engine's messages
   */
  @Nullable
  Boolean ask();
}

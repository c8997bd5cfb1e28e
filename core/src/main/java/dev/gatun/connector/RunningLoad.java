package dev.gatun.connector;

import dev.gatun.connector.P2pPlan.Load;
import org.jspecify.annotations.Nullable;

/** A load under way. It can be ended whatever it waits for: its turn, a bootstrap service, a connection, an answer. */
final class RunningLoad {
  private final Load load;
  // guarded by this
  private String ending = "";
  private @Nullable Runnable wake;

  RunningLoad(Load load) {
    this.load = load;
  }

  Load load() {
    return load;
  }

  /** Takes what ends the wait that follows, in place of what was there; runs it at once if the load was ended. */
  synchronized void waits(Runnable waker) {
    wake = waker;
    if (!ending.isEmpty()) waker.run();
  }

  /** Once this has returned, nothing of what it waited for is ended any more. */
  synchronized void waitsNoMore() {
    wake = null;
  }

  synchronized void end(String reason) {
    ending = reason;
    if (wake != null) wake.run();
  }

  /** Why it was ended; empty if it was not. */
  synchronized String ending() {
    return ending;
  }
}

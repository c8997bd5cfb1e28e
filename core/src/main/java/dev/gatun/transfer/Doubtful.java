package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineFlight;
import dev.gatun.memory.BlockPool;
import java.util.ArrayList;
import java.util.List;

/**
 * A flight that had not ended at its deadline. It keeps its native side, its registration and its blocks until it has
 * ended, or until the engine is destroyed.
 */
final class Doubtful implements Poller.Job {
  private final EngineCore core;
  private final EngineFlight flight;
  private final BlockPool pool;
  private final long[] quarantined;
  private final int count;
  private final boolean writes;
  private final Runnable giveBack;
  private final String description;
  private final List<Runnable> afterwards = new ArrayList<>();
  private boolean ended;
  private boolean failed;

  Doubtful(EngineCore core, EngineFlight flight, BlockPool pool, long[] quarantined, int count, boolean writes,
      Runnable giveBack, String description) {
    this.core = core;
    this.flight = flight;
    this.pool = pool;
    this.quarantined = quarantined;
    this.count = count;
    this.writes = writes;
    this.giveBack = giveBack;
    this.description = description;
  }

  @Override
  public boolean urgent() {
    return false;
  }

  /** Looks whether it has ended. {@return whether it is over} */
  @Override
  public synchronized boolean step() {
    if (ended) return true;
    try {
      if (flight.poll() > 0) return false;
    } catch (EngineException | ClosedException unknown) {
      // no answer is no end: it stays until the library says so or is gone
      return false;
    }
    end();
    return true;
  }

  /** The engine was destroyed, so nothing moves bytes any more. */
  synchronized void engineGone() {
    if (ended) return;
    flight.abandon();
    end();
  }

  /** {@return whether it may still change a peer's memory} */
  boolean writes() {
    return writes;
  }

  /** {@return whether a request was given up by the library; to be asked when it is over} */
  synchronized boolean failed() {
    return failed;
  }

  /** Runs something when it is over, at once if it is. */
  void whenOver(Runnable then) {
    synchronized (this) {
      if (!ended) {
        afterwards.add(then);
        return;
      }
    }
    then.run();
  }

  private void end() {
    ended = true;
    for (int i = 0; i < count; i++)
      failed |= flight.outcome(i).mayHaveMoved();
    flight.close();
    for (long block : quarantined)
      pool.endQuarantine(block);
    giveBack.run();
    afterwards.forEach(Runnable::run);
    core.doubtful.remove(this); // last: who sees none in doubt sees what has come of it
  }

  @Override
  public String toString() {
    return description;
  }
}

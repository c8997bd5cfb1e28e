package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.WeightEpoch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The base of an inference host: its four ways to drop KV, {@link #resetPrefixCache} and {@link #sleep}, each for callers
 * that wait and for callers that do not, and the end of a sleep. All of them pause the host, reset both sides of its connector and clear the host's
 * own cache. They are final and the host's own part is not public, so there is no way to have the one without the other.
 *
 * <p>A reset that failed is an exception, never a line in a log; the host then stays paused, and the same call may be made
 * again. One reset runs at a time, others wait. Usable by any thread.
 */
public abstract class InferenceEngine {
  private final Optional<KvConnector> connector;
  private final Duration pauseMax;
  private final Object resetting = new Object();
  // guarded by resetting
  private boolean unclean; // the last reset failed, so the host stays paused until one succeeds
  private boolean asleep;

  /**
   * Creates the base.
   *
   * @param connector what the host loads from and saves to, if anything; stays the host's
   * @param pauseMax how long a reset waits for the host to pause
   */
  protected InferenceEngine(Optional<KvConnector> connector, Duration pauseMax) {
    this.connector = connector;
    this.pauseMax = pauseMax;
  }

  /**
   * Drops all KV, here and behind the connector, and goes on, unless the host sleeps. Blocks.
   *
   * @param next the epoch of the weights that the host computes with from now on
   * @return what was reset
   * @throws EngineResetException if anything of earlier weights may be left; the host is paused
   * @throws IllegalArgumentException if {@code next} is lower than one that was in force; nothing was done
   */
  public final EngineReset resetPrefixCache(WeightEpoch next) {
    synchronized (resetting) {
      EngineReset reset = reset(next);
      goOn();
      return reset;
    }
  }

  /**
   * As {@link #resetPrefixCache}, on a thread of its own.
   *
   * @param next the epoch of the weights to come
   * @return ends with what was reset, or with what the other form throws
   */
  public final CompletableFuture<EngineReset> resetPrefixCacheAsync(WeightEpoch next) {
    return inBackground("reset", next, this::resetPrefixCache);
  }

  /**
   * Drops all KV, here and behind the connector, and puts the host to sleep. Blocks.
   *
   * @param depth how deep
   * @param next the epoch of the weights that the host computes with when it wakes up
   * @return what was reset
   * @throws EngineResetException if anything of earlier weights may be left; the host is paused and awake
   * @throws IllegalArgumentException if {@code next} is lower than one that was in force; nothing was done
   */
  public final EngineReset sleep(SleepDepth depth, WeightEpoch next) {
    synchronized (resetting) {
      EngineReset reset = reset(next);
      fallAsleep(depth);
      asleep = true;
      return reset;
    }
  }

  /**
   * As {@link #sleep}, on a thread of its own.
   *
   * @param depth how deep
   * @param next the epoch of the weights to come
   * @return ends with what was reset, or with what the other form throws
   */
  public final CompletableFuture<EngineReset> sleepAsync(SleepDepth depth, WeightEpoch next) {
    return inBackground("sleep", next, epoch -> sleep(depth, epoch));
  }

  /**
   * Ends a sleep, and goes on; does nothing to a host that is awake. Blocks while a reset runs.
   *
   * @throws IllegalStateException if the last reset failed: the host stays paused, reset it again
   */
  public final void wakeUp() {
    synchronized (resetting) {
      if (unclean) throw new IllegalStateException("wakeUp refused: the last reset failed, reset again");
      if (!asleep) return;
      wake();
      asleep = false;
      goOn();
    }
  }

  /** {@return the connector, for the host's own steps} */
  protected final Optional<KvConnector> connector() {
    return connector;
  }

  /**
   * Lets no step begin, and waits for the one that runs. Called again while paused, it does nothing.
   *
   * @param deadline when to give up
   * @return what still runs, one line each; empty once paused
   */
  protected abstract List<String> pause(Deadline deadline);

  /** Drops the host's own KV: its blocks, its index of prefixes, and what running requests have. Called while paused. */
  protected abstract void clearOwnCache();

  /**
   * Gives up memory. Called while paused, with the cache empty; the host stays paused.
   *
   * @param depth how much
   */
  protected abstract void fallAsleep(SleepDepth depth);

  /** Takes back what a sleep gave up. Called while paused; the host goes on afterwards. */
  protected abstract void wake();

  /** Lets steps begin again. */
  protected abstract void resume();

  private void goOn() {
    if (!unclean && !asleep) resume();
  }

  private EngineReset reset(WeightEpoch next) {
    List<String> running = pause(Deadline.after(pauseMax));
    List<ResetReport> reports = new ArrayList<>();
    try {
      connector.ifPresentOrElse(present -> {
        reports.add(present.scheduler().resetCache(next));
        reports.add(present.worker().resetCache(next));
      }, () -> reports.add(nothing(ConnectorSide.SCHEDULER)));
    } catch (IllegalArgumentException refused) {
      goOn();
      throw refused;
    }
    EngineReset reset = new EngineReset(next, ownCache(running), reports);
    unclean = !reset.succeeded();
    if (unclean) throw new EngineResetException(reset);
    return reset;
  }

  /** {@return why the host's own cache was not cleared; empty if it was} */
  private String ownCache(List<String> running) {
    // a step that still runs uses the blocks; what stands behind the connector is fenced without it
    if (!running.isEmpty()) return "still running: " + String.join("; ", running);
    try {
      clearOwnCache();
      return "";
    } catch (IllegalStateException | GatunException failed) {
      return "clearing failed: " + failed.getMessage();
    }
  }

  private static ResetReport nothing(ConnectorSide side) {
    return new ResetReport("none", side, ResetReport.Outcome.NOTHING_TO_RESET, "no connector: nothing to reset",
        Optional.empty(), List.of());
  }

  private static CompletableFuture<EngineReset> inBackground(String name, WeightEpoch next,
      Function<WeightEpoch, EngineReset> call) {
    CompletableFuture<EngineReset> future = new CompletableFuture<>();
    Thread.ofPlatform().daemon().name("gatun-engine-" + name + ' ' + next).start(() -> {
      try {
        future.complete(call.apply(next));
      } catch (RuntimeException | Error thrown) {
        future.completeExceptionally(thrown);
      }
    });
    return future;
  }
}

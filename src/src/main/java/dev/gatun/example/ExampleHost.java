package dev.gatun.example;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.connector.BlockTable;
import dev.gatun.connector.FinishedTransfers;
import dev.gatun.connector.InferenceEngine;
import dev.gatun.connector.KvConnector;
import dev.gatun.connector.SleepDepth;
import dev.gatun.memory.BlockPool;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * An inference host that serves one request at a time. What it cannot load it computes; what it computed it saves; a reset
 * reaches its cache and its connector through {@link InferenceEngine}, and in no other way.
 */
public final class ExampleHost extends InferenceEngine implements AutoCloseable {
  // far above what a request of this host takes; unmeasured default
  private static final Duration PAUSE_MAX = Duration.ofSeconds(30);

  private final PagedCache cache;
  /** Whoever has it runs a request, or keeps the host paused. */
  private final Semaphore turn = new Semaphore(1, true);
  /** Blocks of ended requests that a connector still reads. */
  private final Map<String, BlockTable> held = new HashMap<>();
  private final RequestCounts counts = new RequestCounts();
  private volatile ToyModel model;
  private volatile boolean awake = true;
  /** Whether a reset has begun and not succeeded: no request may begin. */
  private volatile boolean stopped;
  /** Whether the host's own turn is kept, so that none runs. */
  private volatile boolean paused;

  /**
   * Makes a host and gives the connector its cache.
   *
   * @param weights number of the weights
   * @param pool memory of the KV cache; stays the caller's, who closes it after the connector
   * @param connector where KV is loaded from and saved to, if anywhere; stays the caller's
   */
  public ExampleHost(long weights, BlockPool pool, Optional<KvConnector> connector) {
    super(connector, PAUSE_MAX);
    model = new ToyModel(weights);
    cache = new PagedCache(pool);
    connector.ifPresent(present -> present.worker().registerCache(pool));
  }

  /**
   * Generates tokens. Blocks, also while another thread's reset keeps the host paused.
   *
   * @param id of the request, unique among those in flight
   * @param prompt one token or more
   * @param count tokens to generate
   * @return the tokens, which depend on the prompt and the weights alone
   * @throws IllegalStateException if the host is asleep, or a reset could not pause it and must be repeated
   */
  public List<Integer> generate(String id, List<Integer> prompt, int count) {
    if (!awake) throw new IllegalStateException("the host is asleep: call wakeUp first");
    turn.acquireUninterruptibly();
    try {
      if (stopped) throw new IllegalStateException("a reset could not pause the host: reset it again");
      while (true) {
        settle();
        try (RequestRun run = new RequestRun(this, model, cache, counts, id, prompt)) {
          return run.generate(count);
        } catch (EpochChangedException refit) {
          // KV of old weights is no longer readable: begin again
          counts.restarted++;
        }
      }
    } finally {
      turn.release();
    }
  }

  /**
   * Replaces the weights, from the next request on. KV of the old ones stays until a reset, which must follow.
   *
   * @param weights number of the new weights
   */
  public void loadWeights(long weights) {
    model = new ToyModel(weights);
  }

  /** {@return where the blocks of all requests came from} */
  public RequestCounts counts() {
    return counts;
  }

  Optional<KvConnector> kv() {
    return connector();
  }

  /** Keeps blocks of an ended request until the connector is done with them. */
  void hold(String id, BlockTable blocks) {
    held.put(id, blocks);
  }

  /** Tells the scheduler side what the worker side has done, and lets go what it names. */
  FinishedTransfers settle() {
    if (connector().isEmpty()) return FinishedTransfers.NONE;
    KvConnector kv = connector().get();
    FinishedTransfers done = kv.worker().finished();
    for (String id : kv.scheduler().update(done)) {
      BlockTable blocks = held.remove(id);
      if (blocks != null) cache.release(blocks);
    }
    return done;
  }

  @Override
  protected List<String> pause(Deadline deadline) {
    if (paused) return List.of();
    stopped = true;
    try {
      paused = turn.tryAcquire(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
      return paused ? List.of() : List.of("a request");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of("a request; the wait for it was interrupted");
    }
  }

  @Override
  protected void clearOwnCache() {
    cache.clear();
    settle();
  }

  @Override
  protected void fallAsleep(SleepDepth depth) {
    awake = false;
  }

  @Override
  protected void wake() {
    awake = true;
  }

  @Override
  protected void resume() {
    stopped = false;
    if (!paused) return;
    paused = false;
    turn.release();
  }

  /** Waits for saves and gives every block back. The connector is closed after this. Blocks. */
  @Override
  public void close() {
    cache.clear();
    connector().ifPresent(kv -> {
      kv.worker().awaitSaves(Deadline.after(PAUSE_MAX));
      settle();
    });
  }
}

package dev.gatun.bench;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Somebody who puts pages without a pause and is no part of any refit. Whoever wants silence takes the turn from it, which
 * it gives away between two puts only.
 */
final class ForeignWriter implements AutoCloseable {
  private static final Duration PUT_MAX = Duration.ofMinutes(1);

  private final EpochGate gate;
  private final KvStore store;
  private final SplittableRandom random;
  private final Arena arena = Arena.ofShared(); // writer
  private final MemorySegment page = arena.allocate(TrafficPages.BYTES);
  private final Semaphore turn = new Semaphore(0, true);
  private final LongAdder puts = new LongAdder();
  private final Loop loop;

  /** Quiet until it is let go. */
  ForeignWriter(StoreOptions options, KeyCodec codec, WeightEpoch first, long seed) {
    gate = new EpochGate(first);
    random = new SplittableRandom(seed);
    store = KvStore.open(options, codec, gate, Observer.NONE);
    loop = new Loop(this::put);
  }

  private void put() {
    turn.acquireUninterruptibly();
    try {
      TrafficPages.fill(page, gate.epoch().version());
      store.put(TrafficPages.KEYS.get(random.nextInt(TrafficPages.COUNT)), page);
      puts.increment();
    } finally {
      turn.release();
    }
  }

  /** Makes it quiet; returns when its last put is through. */
  void quiesce() {
    turn.acquireUninterruptibly();
  }

  /** Makes it quiet some time from now, while others go on. */
  CompletableFuture<Void> quiesceAfter(long nanos) {
    return CompletableFuture.runAsync(() -> {
      LockSupport.parkNanos(nanos);
      quiesce();
    });
  }

  /** Gives it the new weights; it must be quiet. */
  void learn(WeightEpoch next) {
    gate.close();
    gate.awaitDrained(Deadline.after(PUT_MAX));
    gate.raise(next);
    gate.open(EpochGate.State.OPEN);
  }

  /** Lets it go on. */
  void go() {
    turn.release();
  }

  long puts() {
    loop.requireRunning();
    return puts.sum();
  }

  @Override
  public void close() {
    go(); // it may be quiet
    loop.close();
    store.close();
    arena.close();
  }
}

package dev.gatun.store;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.Quiescable;
import dev.gatun.memory.BlockPool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a store's blocking calls on a few platform threads, its lanes, so that callers, virtual threads among them, wait
 * on futures instead. What it accepts is bounded, in number and in time.
 *
 * <p>A future ends with the outcomes, or with an exception: what the operation itself threw,
 * {@link BackPressureException} if it was not accepted, {@link DeadlineException} if it took too long,
 * {@link GateClosedException} if a refit found it waiting, {@link ClosedException} if this was closed. Ending early, by
 * deadline or {@link CompletableFuture#cancel}, does not stop a native call: it takes up its lane, and its blocks stay
 * out of circulation, until the library returns. Actions on a future run on the lane unless they are asynchronous ones.
 *
 * <p>Usable by any thread. Closing the store closes nothing here; close this first.
 */
public final class AsyncKvStore implements AutoCloseable, Quiescable {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncKvStore.class);
  private static final Duration CLOSE_MAX = Duration.ofSeconds(30);

  private final KvStore store;
  private final AsyncOptions options;
  private final LinkedBlockingQueue<LaneOperation<?>> queue = new LinkedBlockingQueue<>();
  private final Semaphore places;
  private final List<Lane> lanes = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final ScheduledThreadPoolExecutor timers;
  private final AtomicLong skipped = new AtomicLong();
  private final AtomicLong timedOut = new AtomicLong();
  private volatile boolean closed;

  /**
   * Starts the lanes and registers with the store's gate.
   *
   * @param store whose calls it runs; stays the caller's
   * @param options lanes and bounds
   */
  public AsyncKvStore(KvStore store, AsyncOptions options) {
    this.store = store;
    this.options = options;
    places = new Semaphore(options.inFlightMax(), true);
    timers = new ScheduledThreadPoolExecutor(1,
        Thread.ofPlatform().daemon().name("gatun-deadlines " + store.name()).factory());
    timers.setRemoveOnCancelPolicy(true);
    for (int i = 0; i < options.lanes(); i++) {
      Lane lane = new Lane(store, queue);
      lanes.add(lane);
      threads.add(Thread.ofPlatform().daemon().name("gatun-lane-" + i + ' ' + store.name()).start(lane));
    }
    store.gate().register(this);
  }

  /**
   * Puts a batch, see {@link StoreBatch#put}. The batch belongs to the lane until the future ends, and after an early end
   * until the native call has returned.
   *
   * @param batch filled; a batch of this store
   * @return ends with the batch, whose outcomes can then be read
   */
  public CompletableFuture<StoreBatch> put(StoreBatch batch) {
    return handOver("put", batch, StoreBatch::put);
  }

  /**
   * Gets a batch, see {@link StoreBatch#get}. The batch belongs to the lane until the future ends, and after an early end
   * until the native call has returned.
   *
   * @param batch filled; a batch of this store
   * @return ends with the batch, whose outcomes can then be read
   */
  public CompletableFuture<StoreBatch> get(StoreBatch batch) {
    return handOver("get", batch, StoreBatch::getHeld);
  }

  /**
   * Asks for a batch, see {@link StoreBatch#exists}. The batch belongs to the lane until the future ends.
   *
   * @param batch filled; a batch of this store
   * @return ends with the batch, whose outcomes can then be read
   */
  public CompletableFuture<StoreBatch> exists(StoreBatch batch) {
    return handOver("exists", batch, StoreBatch::exists);
  }

  /**
   * Puts whole pages, see {@link StoreBatch#put}.
   *
   * @param pool whose blocks
   * @param keys each once
   * @param blocks one for each key; kept from becoming free until native code is done with them
   * @return ends with an outcome for each key, in order
   * @throws IllegalArgumentException if there are not as many blocks as keys
   */
  public CompletableFuture<List<PutResult>> put(BlockPool pool, List<KvKey> keys, long... blocks) {
    return pages("put", pool, keys, blocks, StoreBatch::putResult, StoreBatch::put);
  }

  /**
   * Gets whole pages, see {@link StoreBatch#get}.
   *
   * @param pool whose blocks
   * @param keys each once
   * @param blocks one for each key; kept from becoming free until native code is done with them
   * @return ends with an outcome for each key, in order
   * @throws IllegalArgumentException if there are not as many blocks as keys
   */
  public CompletableFuture<List<GetResult>> get(BlockPool pool, List<KvKey> keys, long... blocks) {
    return pages("get", pool, keys, blocks, StoreBatch::getResult, StoreBatch::getHeld);
  }

  /**
   * Asks for keys, see {@link KvStore#exists(List)}.
   *
   * @param keys each once
   * @return ends with an answer for each key, in order
   */
  public CompletableFuture<List<Existence>> exists(List<KvKey> keys) {
    List<KvKey> copy = List.copyOf(keys);
    return submit("exists", copy.size(), () -> () -> {}, lane -> store.exists(copy));
  }

  /** {@return operations accepted and not ended, those whose caller was already told of a deadline included} */
  public int inFlight() {
    return options.inFlightMax() - places.availablePermits();
  }

  /** {@return operations that were not accepted} */
  public long skipped() {
    return skipped.get();
  }

  /** {@return operations whose deadline came before their end} */
  public long timedOut() {
    return timedOut.get();
  }

  @Override
  public String name() {
    return "lanes of store " + store.name();
  }

  /** Fails what waits for a lane: puts are of old weights, and gets may be asked again. */
  @Override
  public int failQueued() {
    return failQueued(new GateClosedException("refused: a refit to " + store.gate().epoch()
        + " began while the operation waited for a lane; try again when it has opened the gate"));
  }

  /** What lanes run is the store's to wait for and to report, which takes part by itself. */
  @Override
  public List<String> drain(Deadline deadline) {
    return List.of();
  }

  /** Nothing of an epoch is kept here. */
  @Override
  public void clearLocal() {}

  /**
   * Accepts nothing more, fails what waits, and waits for what runs. Idempotent; may be called again after a deadline.
   *
   * @param deadline when to give up
   * @return what still runs, one line each; empty once all lanes have ended
   */
  public synchronized List<String> close(Deadline deadline) {
    if (!closed) {
      closed = true;
      failQueued(refusedClosed());
      for (int i = 0; i < lanes.size(); i++)
        queue.add(LaneOperation.end());
    }
    for (Thread thread : threads) {
      if (!isCurrent(thread)) join(thread, deadline);
    }
    List<String> pending = running();
    if (pending.isEmpty()) {
      timers.shutdownNow();
      store.gate().unregister(this);
    }
    return pending;
  }

  /** Closes, waiting 30 s at most (unmeasured default), and logs what still runs then. */
  @Override
  public void close() {
    List<String> pending = close(Deadline.after(CLOSE_MAX));
    if (!pending.isEmpty()) LOG.warn("{} are not closed, still running: {}", name(), pending);
  }

  private CompletableFuture<StoreBatch> handOver(String operation, StoreBatch batch, UnaryOperator<StoreBatch> work) {
    batch.requireOf(store.core());
    return submit(operation, batch.size(), () -> batch.handOver(operation), lane -> work.apply(batch.takeBack()));
  }

  private <R> CompletableFuture<List<R>> pages(String operation, BlockPool pool, List<KvKey> keys, long[] blocks,
      BiFunction<StoreBatch, Integer, R> result, UnaryOperator<StoreBatch> work) {
    List<KvKey> copy = List.copyOf(keys);
    long[] held = blocks.clone();
    if (copy.size() != held.length) {
      throw new IllegalArgumentException("blocks must be as many as keys, " + copy.size() + ": " + held.length);
    }
    return submit(operation, held.length, () -> HeldBlocks.hold(pool, held, held.length), lane -> {
      StoreBatch batch = lane.batch(pool, Math.max(1, held.length));
      for (int i = 0; i < held.length; i++)
        batch.add(copy.get(i), held[i]);
      StoreBatch done = work.apply(batch);
      return IntStream.range(0, held.length).mapToObj(i -> result.apply(done, i)).toList();
    });
  }

  /** Accepts an operation, or ends it at once. What {@code hold} takes is given back when native code is done with it. */
  private <T> CompletableFuture<T> submit(String name, int keys, Supplier<Runnable> hold, Function<Lane, T> work) {
    if (closed) return CompletableFuture.failedFuture(refusedClosed());
    if (!admit()) {
      skipped.incrementAndGet();
      store.core().observer.onSkip("back-pressure", keys);
      return CompletableFuture.failedFuture(new BackPressureException(name + " of " + keys + " keys refused: "
          + options.inFlightMax() + " operations are in flight"));
    }
    Runnable giveBack;
    try {
      giveBack = hold.get();
    } catch (RuntimeException e) {
      places.release();
      throw e;
    }
    LaneOperation<T> operation = new LaneOperation<>(name, keys, work, () -> {
      giveBack.run();
      places.release();
    });
    queue.add(operation);
    try {
      operation.timer(timers.schedule(() -> expire(operation), options.operationMax().toNanos(), TimeUnit.NANOSECONDS));
    } catch (RejectedExecutionException closedMeanwhile) {
      // refused below, like whatever comes between closing and the end of the lanes
    }
    if (closed) operation.fail(refusedClosed());
    return operation.future;
  }

  private boolean admit() {
    if (places.tryAcquire()) return true;
    if (options.backPressure() == AsyncOptions.BackPressure.SKIP) return false;
    try {
      return places.tryAcquire(options.admitMax().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void expire(LaneOperation<?> operation) {
    boolean begun = operation.isTaken();
    if (!operation.fail(new DeadlineException(operation + (begun
        ? " has not returned from native code within " + options.operationMax()
            + "; its blocks stay in use until it does"
        : " waited for a lane for " + options.operationMax() + " and was not begun")))) {
      return;
    }
    timedOut.incrementAndGet();
    if (!begun) store.core().observer.onSkip("deadline", operation.keys);
  }

  private int failQueued(RuntimeException reason) {
    List<LaneOperation<?>> waiting = new ArrayList<>();
    queue.drainTo(waiting);
    int failed = 0;
    for (LaneOperation<?> operation : waiting) {
      if (operation.fail(reason)) failed++;
    }
    return failed;
  }

  private List<String> running() {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < threads.size(); i++) {
      if (threads.get(i).isAlive() && !isCurrent(threads.get(i)))
        lines.add(threads.get(i).getName() + ": " + lanes.get(i));
    }
    return lines;
  }

  /** An action on a future may close the lanes; its own ends when the action has. */
  private static boolean isCurrent(Thread thread) {
    return thread.equals(Thread.currentThread());
  }

  private ClosedException refusedClosed() {
    return new ClosedException("refused: " + name() + " are closed");
  }

  private static void join(Thread thread, Deadline deadline) {
    try {
      thread.join(Duration.ofNanos(deadline.remainingNanos()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

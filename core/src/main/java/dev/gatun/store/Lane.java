package dev.gatun.store;

import dev.gatun.memory.BlockPool;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/** One platform thread that runs operations one after another, and the batches that it reuses for them. */
final class Lane implements Runnable {
  private final KvStore store;
  private final BlockingQueue<LaneOperation<?>> queue;
  private final Map<BlockPool, StoreBatch> batches = new HashMap<>();
  private volatile @Nullable LaneOperation<?> current;
  private boolean ended;

  Lane(KvStore store, BlockingQueue<LaneOperation<?>> queue) {
    this.store = store;
    this.queue = queue;
  }

  /** Lets the thread end; for the operation that does just that. */
  void end() {
    ended = true;
  }

  @Override
  public void run() {
    while (!ended) {
      LaneOperation<?> operation = take();
      current = operation;
      operation.run(this);
      current = null;
    }
    batches.values().forEach(StoreBatch::close);
  }

  private LaneOperation<?> take() {
    while (true) {
      try {
        return queue.take();
      } catch (InterruptedException nobodyInterruptsLanes) {
        // a caller's action on a future may have: it is not meant for the lane
      }
    }
  }

  /** {@return an empty batch of this lane for a pool's blocks} */
  StoreBatch batch(BlockPool pool, int entries) {
    batches.entrySet().removeIf(entry -> {
      boolean useless = entry.getKey().isClosed();
      if (useless) entry.getValue().close();
      return useless;
    });
    StoreBatch known = batches.get(pool);
    if (known != null && known.capacity() >= entries && known.isUsable()) return known.clear();
    if (known != null) known.close();
    // up to the next power of two, so that growing batches are not made anew each time
    int capacity = entries == 1 ? 1 : Integer.highestOneBit(entries - 1) << 1;
    StoreBatch made = store.batch(pool, Math.min(StoreBatch.CAPACITY_MAX, capacity));
    batches.put(pool, made);
    return made;
  }

  @Override
  public String toString() {
    LaneOperation<?> operation = current;
    return operation == null ? "between two operations" : operation.toString();
  }
}

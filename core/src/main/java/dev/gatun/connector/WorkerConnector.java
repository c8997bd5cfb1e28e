package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;

/**
 * The side of a connector that moves bytes between the KV cache and elsewhere. A host registers its cache once and then,
 * each step: {@link #startLoad}, computes, {@link #save}, {@link #finished}.
 *
 * <p>One thread at a time, the model's; {@link #resetCache} and {@link #stats} by any thread.
 */
public interface WorkerConnector {
  /**
   * Makes the KV cache known; its memory is registered as a whole, once. Blocks.
   *
   * @param cache the pool whose leases plans name; stays the host's and must outlive the connector
   * @throws IllegalStateException if a cache is registered already
   * @throws IllegalArgumentException if its blocks cannot be moved by this connector, saying why
   */
  void registerCache(BlockPool cache);

  /**
   * Begins the loads of a plan. Does not wait for them.
   *
   * @param plan made by the scheduler side of this connector
   * @throws IllegalStateException if no cache is registered
   * @throws IllegalArgumentException if the plan is another connector's
   */
  void startLoad(ConnectorPlan plan);

  /**
   * Waits until every load that was begun has ended, well or not; which, {@link #finished} tells.
   *
   * @param deadline when to give up
   * @return whether all have ended; if not, they go on
   */
  boolean awaitLoads(Deadline deadline);

  /**
   * Begins the saves of a plan, whose blocks have been computed. Does not wait for them; while a save runs its blocks are
   * read and cannot become free.
   *
   * @param plan made by the scheduler side of this connector
   * @throws IllegalStateException if no cache is registered
   * @throws IllegalArgumentException if the plan is another connector's
   */
  void save(ConnectorPlan plan);

  /**
   * Waits until every save that was begun has ended, well or not; which, {@link #finished} tells.
   *
   * @param deadline when to give up
   * @return whether all have ended; if not, they go on
   */
  boolean awaitSaves(Deadline deadline);

  /** {@return what has ended since the last call, each transfer once; to be handed to the scheduler side. Does not block} */
  FinishedTransfers finished();

  /**
   * Fails what has not begun, drains what has, and takes part in making all KV of earlier weights unreachable. Blocks.
   * Both sides reset and both report; what stands behind them is cleared once.
   *
   * @param next the epoch of the weights to come; the epoch in force joins the reset that is running or succeeded
   * @return what was done and proved on this side
   * @throws IllegalArgumentException if {@code next} is lower than one that was in force
   */
  ResetReport resetCache(WeightEpoch next);

  /** {@return counts since the start, by any thread} */
  ConnectorStats stats();
}

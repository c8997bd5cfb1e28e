package dev.gatun.connector;

import dev.gatun.backend.WeightEpoch;
import java.util.List;

/**
 * The side of a connector that decides what is loaded and saved. A host asks it in this order, request by request:
 * {@link #lookup}, {@link #allocated}, then once a step {@link #plan} for all requests, and {@link #finished}; what
 * workers report goes to {@link #update}.
 *
 * <p>One thread at a time, the scheduler's; {@link #resetCache} and {@link #stats} by any thread. Requests are told apart
 * by their id.
 */
public interface SchedulerConnector {
  /**
   * Asks how many leading blocks of a request this connector could load.
   *
   * @param request whose block keys, in order
   * @param computedBlocks leading blocks that the host has already; the answer counts them too
   * @return how far the prefix reaches, that the answer is not there yet, or that nobody could say: never a miss for a
   *     failure. Of a failure or a miss nothing is kept, asking again asks anew
   * @throws IllegalArgumentException if {@code computedBlocks} is not 0 to the request's number of keys
   */
  PrefixLookup lookup(KvRequest request, int computedBlocks);

  /**
   * Takes note of where the host wants the found blocks; the next {@link #plan} loads them. Does not block.
   *
   * @param request one that was looked up
   * @param blocks leases for the leading blocks of the request, in order: those to be loaded at the end. They stay the
   *     host's and must not be released before they are reported as loaded
   * @param loadBlocks leading blocks, computed ones included, that the connector shall provide; at most what it found, 0
   *     or the number computed to load nothing
   * @throws IllegalArgumentException if there are fewer blocks than that, or more was asked for than was found
   */
  void allocated(KvRequest request, BlockTable blocks, int loadBlocks);

  /**
   * Makes the plan of a step: loads of the requests that were allocated since the last plan, and saves of what is computed
   * when the step has run. Does not block.
   *
   * @param step every request that takes part in the step
   * @return what the worker side carries out; meaningful to the worker side of this connector only
   */
  ConnectorPlan plan(List<ScheduledRequest> step);

  /**
   * Ends a request, also one that was only looked up; what it still has to save goes into the next {@link #plan}. Does not
   * block.
   *
   * @param request which; one that this connector never saw may be freed now
   * @param blocks its blocks
   * @param computedBlocks how many of them, from the first on, are computed
   * @return whether the host may release the blocks now, or when {@link #update} names the request
   */
  RequestEnd finished(KvRequest request, BlockTable blocks, int computedBlocks);

  /**
   * Takes in what the worker side reported. Does not block.
   *
   * @param transfers from {@link WorkerConnector#finished}
   * @return requests whose blocks the host may release now: each that {@link #finished} said to keep, exactly once, also
   *     if its saves failed or a reset came in between
   */
  List<String> update(FinishedTransfers transfers);

  /**
   * Forgets everything and makes all KV of earlier weights unreachable in whatever stands behind this connector. Called
   * with no step running; transfers that run are drained, to a deadline. Blocks. Never throws for what a reset may meet:
   * the report tells.
   *
   * @param next the epoch of the weights to come; the epoch in force joins the reset that is running or succeeded
   * @return what was done and proved on this side
   * @throws IllegalArgumentException if {@code next} is lower than one that was in force
   */
  ResetReport resetCache(WeightEpoch next);

  /** {@return counts since the start, by any thread} */
  ConnectorStats stats();
}

package dev.gatun.backend;

import java.util.List;
import java.util.OptionalLong;

/**
 * The administrator's view of a store's master, which grants no leases and sees what clients cannot: puts in flight.
 * Usable by any thread; each call may block up to its deadline.
 */
public interface StoreCensus {

  /**
   * Reads the counters now.
   *
   * @param deadline when to give up
   * @return the counters
   * @throws GatunException if the master's administration cannot be reached, naming address and reason
   */
  Reading read(Deadline deadline);

  /**
   * Lists complete objects. Puts in flight are not listed.
   *
   * @param limit most names to return
   * @param deadline when to give up
   * @return names of keys
   * @throws GatunException if the master's administration cannot be reached
   */
  List<String> keys(int limit, Deadline deadline);

  /**
   * Asks what the counters leave out.
   *
   * @param deadline when to give up
   * @return reasons why a key count of 0 would not prove that nothing old can be read, such as objects on disk; empty if
   *     none
   * @throws GatunException if the master's administration cannot be reached
   */
  default List<String> uncounted(Deadline deadline) {
    return List.of();
  }

  /**
   * Asks how large the largest segment is, which no object can exceed.
   *
   * @param deadline when to give up
   * @return its size in bytes, used and free; empty if it cannot be told
   * @throws GatunException if the master's administration cannot be reached
   */
  default OptionalLong largestSegmentBytes(Deadline deadline) {
    return OptionalLong.empty();
  }

  /** {@return where the counters come from, for reports} */
  String source();

  /**
   * Counters of one moment.
   *
   * @param keyCount objects known to the master, complete or in flight
   * @param putStarts puts ever started, single and batch, in keys
   * @param putEnds puts ever completed
   * @param putRevokes puts ever revoked
   * @param role the master's role, such as {@code leader}
   * @param startId identifies the master's process, so that a restart shows
   */
  record Reading(long keyCount, long putStarts, long putEnds, long putRevokes, String role, String startId) {}
}

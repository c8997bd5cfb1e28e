package dev.gatun.backend;

import org.jspecify.annotations.Nullable;

/**
 * One use after another of a batch of the library: submit, poll until everything has ended, submit again. Made by
 * {@link EngineBackend#flight}. One thread at a time, in any order of threads.
 *
 * <p>The native side of a submit is used once: it is created by {@link #submit} and freed by the {@link #poll} that
 * answers 0, exactly once each. A flight that has not ended is never freed; it may be polled by whoever takes it over.
 * Nothing is allocated on the heap in steady state.
 */
public interface EngineFlight extends AutoCloseable {

  /**
   * Starts all requests. Does not wait for them; connecting to a peer may block for the library's connect timeout. The
   * rows may be overwritten on return; the memory that they name is in use until the flight has ended.
   *
   * @param requests 1 or more, checked
   * @param message delivered to the segment of the first request once all have completed; null for none
   * @throws EngineException if nothing was started; the flight may submit again
   * @throws ClosedException if the engine is closed
   * @throws IllegalStateException if the flight has not ended
   */
  void submit(TransferRequests requests, byte @Nullable [] message);

  /**
   * Looks at requests that have not ended, in order, up to the first that still runs. Does not block, and does not look
   * again at what has ended.
   *
   * @return how many have not been seen to end, a pending message counted as one; 0 once all is over and the native side
   *     is freed
   * @throws EngineException if the library could not say, three times in a row: the flight is still in the air
   * @throws ClosedException if the engine is closed or destroyed
   */
  int poll();

  /**
   * As {@link #poll}, but looks at all that have not ended: what to do before giving up waiting.
   *
   * @return as {@link #poll}
   */
  int pollAll();

  /**
   * {@return how a request stands as of the last poll: {@link TransferOutcome#RUNNING}, or terminal}
   *
   * @param index place in the rows
   */
  TransferOutcome outcome(int index);

  /**
   * {@return the library's own number behind {@link #outcome}}
   *
   * @param index place in the rows
   */
  long rawStatus(int index);

  /** {@return whether the message of the last submit was delivered; false if there was none or a request failed} */
  boolean notified();

  /** {@return whether something was submitted and not all of it seen to end} */
  boolean inFlight();

  /**
   * Forgets the native side without touching it, because the engine is destroyed. It is leaked, knowingly.
   */
  void abandon();

  /**
   * Frees what the flight itself holds. Idempotent.
   *
   * @throws IllegalStateException if it has not ended
   */
  @Override
  void close();
}

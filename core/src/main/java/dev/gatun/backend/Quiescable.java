package dev.gatun.backend;

import java.util.List;

/**
 * A part that holds work or memory of an epoch and takes part in each refit: it registers with the {@link EpochGate},
 * and the refit calls it with the gate closed. Called by one thread at a time.
 */
public interface Quiescable {

  /** {@return a name for reports, such as {@code store loopback:main}} */
  String name();

  /**
   * Fails everything that was accepted but has not started. Does not block.
   *
   * @return how many operations were failed
   */
  int failQueued();

  /**
   * Waits until nothing that has started is still running, or until the deadline.
   *
   * @param deadline when to give up
   * @return what is still pending, one line each; empty when quiet
   */
  List<String> drain(Deadline deadline);

  /**
   * Forgets local state of earlier epochs: indexes, negative caches, handles. Never frees memory that native code may
   * still touch. Does not block.
   */
  void clearLocal();
}

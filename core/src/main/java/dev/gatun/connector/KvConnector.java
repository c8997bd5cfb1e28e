package dev.gatun.connector;

/**
 * A place outside the host's own cache where KV goes and comes from: a store, another process, or several of them. Two
 * sides, each of its own type; a host that runs them in one process uses both.
 */
public interface KvConnector extends AutoCloseable {
  /** {@return name for reports and statistics, such as {@code StoreConnector}} */
  String name();

  /** {@return the side that decides, always the same object} */
  SchedulerConnector scheduler();

  /** {@return the side that moves bytes, always the same object} */
  WorkerConnector worker();

  /**
   * Ends both sides: accepts nothing more, fails what has not begun and waits for what has, at most for a time that the
   * connector's options give. Blocks. What the host passed in stays open. Idempotent.
   */
  @Override
  void close();
}

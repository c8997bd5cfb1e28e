package dev.gatun.bench;

import java.lang.foreign.MemorySegment;

/** One way to the store's C functions, set up for one cell. */
interface StorePeer extends AutoCloseable {
  /** {@return its name in reports} */
  String name();

  /**
   * {@return whether it can run this}
   *
   * @param operation what to run
   */
  boolean runs(StoreOperation operation);

  /**
   * Runs an operation and times each. A get needs the keys to be there; a put leaves none.
   *
   * @param operation what to run
   * @param iterations how often
   * @param nanos receives nanoseconds of each, as longs
   * @throws IllegalStateException if one key was not served
   */
  void run(StoreOperation operation, int iterations, MemorySegment nanos);

  /**
   * Counts what the operation alone allocates on the Java heap.
   *
   * @param operation what to run
   * @param iterations how often
   * @return bytes of all iterations together
   */
  long allocatedBytes(StoreOperation operation, int iterations);

  /** Puts the keys and leaves them there. */
  void store();

  /** Removes every key of the store. */
  void removeAll();

  @Override
  void close();
}

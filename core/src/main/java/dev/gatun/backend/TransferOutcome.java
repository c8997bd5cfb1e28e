package dev.gatun.backend;

/** How one request of a transfer stands or ended. */
public enum TransferOutcome {
  /** It was not submitted. */
  NOT_SENT,
  /** It was submitted and has not ended. */
  RUNNING,
  /** All bytes have arrived where they were to go. */
  COMPLETED,
  /** The library gave it up; part of the bytes may have arrived. */
  FAILED,
  /** The library cancelled it; part of the bytes may have arrived. */
  CANCELED,
  /** The library refused it. */
  INVALID,
  /**
   * It had not ended at the deadline: native code may still move bytes. Its blocks stay out of circulation until it has
   * ended or the engine is destroyed.
   */
  IN_DOUBT,
  /** It completed, but a refit came in between: the bytes are of old weights. */
  STALE,
  /** The bytes arrived, but their owner does not confirm that they were still those that it offered. */
  SOURCE_CHANGED;

  /** {@return whether native code of this process is known to be done with the memory of the request} */
  public boolean isTerminal() {
    return this != RUNNING && this != IN_DOUBT;
  }

  /**
   * {@return whether the library gave the request up after it may have sent some of it} Where
   * {@link EngineCapabilities#failuresSettle} says no, what was sent may still reach the peer's memory.
   */
  public boolean mayHaveMoved() {
    return this == FAILED || this == CANCELED;
  }
}

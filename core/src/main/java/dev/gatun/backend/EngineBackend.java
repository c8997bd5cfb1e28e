package dev.gatun.backend;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;

/**
 * One open transfer engine of some library: what it can do, without policy. Gatun's own {@code TransferEngine} stands on
 * it and is what applications use.
 *
 * <p>All calls may run concurrently, calls on one {@link EngineFlight} excepted. Closing lets running calls end and
 * refuses later ones with {@link ClosedException}. Arguments are checked before they cross, so that no fault of a caller
 * reaches native code. Calls that block say so: run them on platform threads.
 */
public interface EngineBackend extends AutoCloseable {

  /** {@return a name for reports: kind of engine and segment name} */
  String name();

  /** {@return kind of engine, as {@link EngineOptions#engine()}} */
  String engine();

  /** {@return the name under which peers find this engine} */
  String segmentName();

  /** {@return what it can do} */
  EngineCapabilities capabilities();

  /** {@return what peers need beyond the name to reach the memory registered now; empty if nothing. May block} */
  byte[] metadata();

  /**
   * Registers memory, for local use and for peers. May block.
   *
   * @param memory a whole slab; of a GPU's only address and size are to be used
   * @param location as {@link MemoryRange#location}
   * @throws EngineException if the library refuses
   */
  void register(MemorySegment memory, String location);

  /** {@return whether it registers and moves memory that Java cannot touch, such as a GPU's} */
  default boolean takesDeviceMemory() {
    return false;
  }

  /** {@return what is known about registering memory with it} */
  default RegistrationAdvice registrationAdvice() {
    return RegistrationAdvice.NONE;
  }

  /**
   * Undoes {@link #register}. No flight of this engine may use the memory. May block.
   *
   * @param memory what was registered
   * @throws EngineException if the library refuses
   */
  void unregister(MemorySegment memory);

  /**
   * Opens a peer's segment, or takes note of its new descriptor if it is open. Blocks for the library's connect timeout.
   *
   * @param descriptor from the peer, of the same kind of engine
   * @return id for {@link TransferRequests#add}, 0 or more
   * @throws EngineException if the peer cannot be reached or its description is refused
   */
  int openSegment(SegmentDescriptor descriptor);

  /**
   * Forgets a segment, where the library can. No flight may use it.
   *
   * @param segment what {@link #openSegment} returned
   */
  void closeSegment(int segment);

  /**
   * Makes a flight.
   *
   * @param capacity most requests, 1 to {@link EngineCapabilities#batchMax}
   * @return an idle flight; the caller closes it
   */
  EngineFlight flight(int capacity);

  /**
   * Sends a message to a peer. Blocks for a round trip, with a dead peer for the library's timeouts.
   *
   * @param segment what {@link #openSegment} returned
   * @param message 0 to {@link EngineCapabilities#notificationBytesMax} bytes
   * @throws EngineException if it was not delivered
   */
  void notify(int segment, byte[] message);

  /**
   * Takes all messages that have arrived. Does not wait for any.
   *
   * @param receiver is given each once, in order of arrival
   */
  void drainNotifications(Consumer<EngineNotification> receiver);

  /**
   * Refuses new calls, waits for running ones and destroys the engine, which ends whatever is in flight: afterwards no
   * native code touches registered memory. Flights that have not ended must be abandoned. Blocks. Idempotent; after a
   * deadline it may be called again.
   *
   * @param deadline when to give up
   * @return what is still pending, one line each; empty once the engine is destroyed
   */
  List<String> close(Deadline deadline);

  /** Closes with the options' close timeout, and logs a warning that lists what is pending if that is not enough. */
  @Override
  void close();
}

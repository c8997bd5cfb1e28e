package dev.gatun.backend;

/**
 * What a transfer engine answers when a call fails as a whole. The libraries have code spaces of their own: the number
 * as it came stands beside the name wherever a code is reported, and a number that this version does not know becomes
 * {@link #UNKNOWN}.
 *
 * <p>Sources: the integer codes and the status codes of Mooncake's engine 0.3.12/0.3.13, the status codes of NIXL's C API.
 */
public enum EngineCode {
  /** Success. */
  OK,
  /** An argument was refused: an unknown segment, an address of 0, a malformed request. */
  INVALID_ARGUMENT,
  /** More requests than the batch has room for. */
  TOO_MANY_REQUESTS,
  /** Local memory that is not registered. */
  ADDRESS_NOT_REGISTERED,
  /** The batch still has requests that were not seen to end. */
  BATCH_BUSY,
  /** No such device. */
  DEVICE_NOT_FOUND,
  /** The memory overlaps memory that is registered already. */
  ADDRESS_OVERLAPPED,
  /** No transport here speaks the protocol of the target. */
  NOT_SUPPORTED_TRANSPORT,
  /** A host name could not be resolved. */
  DNS,
  /** The peer could not be reached, or the connection broke. */
  SOCKET,
  /** The peer answered something that is not its protocol. */
  MALFORMED_JSON,
  /** The peer refused the handshake. */
  REJECT_HANDSHAKE,
  /** The peer or its description could not be found. */
  METADATA,
  /** A connection end point failed. */
  ENDPOINT,
  /** A device context failed. */
  CONTEXT,
  /** Binding to a NUMA node failed. */
  NUMA,
  /** The system clock failed. */
  CLOCK,
  /** No memory, or memory that cannot be pinned. */
  MEMORY,
  /** The library has no such feature. */
  NOT_IMPLEMENTED,
  /** A backend plugin failed. */
  BACKEND,
  /** A name or handle that the library does not know. */
  NOT_FOUND,
  /** Local and remote descriptions do not fit each other. */
  MISMATCH,
  /** The state of the object does not allow the call. */
  NOT_ALLOWED,
  /** The peer went away. */
  REMOTE_DISCONNECT,
  /** The transfer was cancelled. */
  CANCELED,
  /** A number that this version does not know. */
  UNKNOWN;

  /**
   * {@return the name of a code of Mooncake's engine} Functions answer either negative or positive codes; both spaces
   * share their magnitudes.
   *
   * @param raw what the function returned
   */
  public static EngineCode ofMooncake(long raw) {
    // the negative of the smallest long is itself
    return switch (Math.clamp(Math.abs(Math.max(raw, -Long.MAX_VALUE)), 0, Integer.MAX_VALUE)) {
      case 0 -> OK;
      case 1 -> INVALID_ARGUMENT;
      case 2 -> TOO_MANY_REQUESTS;
      case 3 -> ADDRESS_NOT_REGISTERED;
      case 4 -> BATCH_BUSY;
      case 6 -> DEVICE_NOT_FOUND;
      case 7 -> ADDRESS_OVERLAPPED;
      case 8 -> NOT_SUPPORTED_TRANSPORT;
      case 101 -> DNS;
      case 102 -> SOCKET;
      case 103 -> MALFORMED_JSON;
      case 104 -> REJECT_HANDSHAKE;
      case 200 -> METADATA;
      case 201 -> ENDPOINT;
      case 202 -> CONTEXT;
      case 300 -> NUMA;
      case 301 -> CLOCK;
      case 302 -> MEMORY;
      case 303, 999 -> NOT_IMPLEMENTED;
      default -> UNKNOWN;
    };
  }

  /**
   * {@return the name of a status of NIXL's C interface} Several of its own codes arrive there as one.
   *
   * @param raw what the function returned
   */
  public static EngineCode ofNixl(long raw) {
    return switch (Math.clamp(raw, Integer.MIN_VALUE, Integer.MAX_VALUE)) {
      case 0 -> OK;
      case -1 -> INVALID_ARGUMENT;
      case -2 -> BACKEND;
      case -3 -> NOT_ALLOWED;
      case -5 -> NOT_IMPLEMENTED;
      case -6 -> NOT_FOUND;
      default -> UNKNOWN;
    };
  }
}

package dev.gatun.backend;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Requests of a batch, one row of {@link #ROW_BYTES} each, off-heap: opcode (int, at 0), local address (long, at 8),
 * segment id (int, at 16), remote address (long, at 24), length (long, at 32). These are the rows that Mooncake's engine
 * takes as they are; other engines read them. Owned and filled by the caller, one thread at a time; values are checked by
 * whoever fills it, not here.
 */
public final class TransferRequests {
  /** Opcode: from remote to local memory. */
  public static final int READ = 0;
  /** Opcode: from local to remote memory. */
  public static final int WRITE = 1;
  /** Bytes a row. */
  public static final long ROW_BYTES = 40;

  private static final long LOCAL = 8;
  private static final long SEGMENT = 16;
  private static final long REMOTE = 24;
  private static final long LENGTH = 32;

  private final MemorySegment rows;
  private final int capacity;
  private int size;

  /**
   * Allocates room.
   *
   * @param capacity most requests, 1 or more
   * @param arena owns the rows
   */
  public TransferRequests(int capacity, Arena arena) {
    this.capacity = capacity;
    rows = arena.allocate(ROW_BYTES * capacity, JAVA_LONG.byteAlignment());
  }

  /** {@return most requests} */
  public int capacity() {
    return capacity;
  }

  /** {@return requests added since the last {@link #clear}} */
  public int size() {
    return size;
  }

  /** Forgets all requests. */
  public void clear() {
    size = 0;
  }

  /**
   * Adds a request.
   *
   * @param opcode {@link #READ} or {@link #WRITE}
   * @param localAddress in registered memory of this process
   * @param segment what {@link EngineBackend#openSegment} returned
   * @param remoteAddress absolute address in the peer
   * @param length bytes, 1 or more
   */
  public void add(int opcode, long localAddress, int segment, long remoteAddress, long length) {
    long row = size * ROW_BYTES;
    rows.set(JAVA_INT, row, opcode);
    rows.set(JAVA_LONG, row + LOCAL, localAddress);
    rows.set(JAVA_INT, row + SEGMENT, segment);
    rows.set(JAVA_LONG, row + REMOTE, remoteAddress);
    rows.set(JAVA_LONG, row + LENGTH, length);
    size++;
  }

  /**
   * {@return the opcode of a request}
   *
   * @param index its place
   */
  public int opcode(int index) {
    return rows.get(JAVA_INT, index * ROW_BYTES);
  }

  /**
   * {@return the local address of a request}
   *
   * @param index its place
   */
  public long localAddress(int index) {
    return rows.get(JAVA_LONG, index * ROW_BYTES + LOCAL);
  }

  /**
   * {@return the segment id of a request}
   *
   * @param index its place
   */
  public int segment(int index) {
    return rows.get(JAVA_INT, index * ROW_BYTES + SEGMENT);
  }

  /**
   * {@return the remote address of a request}
   *
   * @param index its place
   */
  public long remoteAddress(int index) {
    return rows.get(JAVA_LONG, index * ROW_BYTES + REMOTE);
  }

  /**
   * {@return the length of a request, in bytes}
   *
   * @param index its place
   */
  public long length(int index) {
    return rows.get(JAVA_LONG, index * ROW_BYTES + LENGTH);
  }

  /** {@return all rows, those beyond {@link #size} with stale content} */
  public MemorySegment rows() {
    return rows;
  }
}

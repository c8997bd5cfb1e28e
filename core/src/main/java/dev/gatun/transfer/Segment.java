package dev.gatun.transfer;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.MemoryRange;
import dev.gatun.backend.SegmentDescriptor;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A peer's memory, as its descriptor told. Made by {@link TransferEngine#openSegment}; usable by any thread.
 *
 * <p>Remote addresses are absolute addresses in the peer. They are checked against the ranges of the descriptor before
 * anything is sent, since some libraries crash, and others slow down for valid transfers, when the peer refuses them.
 */
public final class Segment implements AutoCloseable {
  private final EngineCore core;
  private final int id;
  private final int inFlightMax;
  private final AtomicInteger inFlight = new AtomicInteger();
  private volatile SegmentDescriptor descriptor;
  private volatile boolean closed;

  Segment(EngineCore core, int id, SegmentDescriptor descriptor) {
    this.core = core;
    this.id = id;
    this.descriptor = descriptor;
    inFlightMax = core.backend.capabilities().inFlightMax();
  }

  /** {@return the name under which the library knows the peer} */
  public String name() {
    return descriptor.name();
  }

  /** {@return what the peer told last} */
  public SegmentDescriptor descriptor() {
    return descriptor;
  }

  /** {@return requests to this peer that have not ended, those in doubt included} */
  public int inFlight() {
    return inFlight.get();
  }

  /** {@return whether it was closed} */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Ends the use of the segment. Idempotent.
   *
   * @throws InUseException if requests to it have not ended
   */
  @Override
  public void close() {
    if (closed) return;
    int running = inFlight.get();
    if (running > 0) {
      throw new InUseException("close of segment " + name() + " refused: " + running + " requests have not ended");
    }
    closed = true;
    core.closeSegment(this);
  }

  int id() {
    return id;
  }

  /** Another engine has its name now: nothing more goes out through it. The library knows the name as the other's. */
  void retire() {
    closed = true;
    core.segments.remove(this);
  }

  boolean isOf(EngineCore other) {
    return core == other;
  }

  void renew(SegmentDescriptor next) {
    descriptor = next;
  }

  /** Refuses an address range that is not registered with the peer. */
  void requireRange(int index, long address, long bytes) {
    if (closed) throw new ClosedException("request " + index + " refused: segment " + name() + " is closed");
    List<MemoryRange> ranges = descriptor.ranges();
    for (int i = 0; i < ranges.size(); i++) {
      if (ranges.get(i).contains(address, bytes)) return;
    }
    if (ranges.isEmpty() && address != 0) return;
    throw new IllegalArgumentException("request " + index + ": remoteAddress must lie with its " + bytes
        + " bytes in one range that " + name() + " has registered: 0x" + Long.toHexString(address)
        + (ranges.isEmpty() ? "" : ", first range " + describe(ranges.getFirst())));
  }

  private static String describe(MemoryRange range) {
    return "0x" + Long.toHexString(range.address()) + " of " + range.bytes() + " bytes";
  }

  /** Counts requests in, or refuses all. The count is raised before the state is read, see {@link #close}. */
  void reserve(int requests) {
    int before = inFlight.getAndAdd(requests);
    if (!closed && before + requests <= inFlightMax) return;
    inFlight.getAndAdd(-requests);
    if (closed) throw new ClosedException("submit refused: " + this + " is closed");
    throw new TooManyRequestsException("submit of " + requests + " requests to " + name() + " refused: " + before
        + " are in flight, the engine takes " + inFlightMax);
  }

  /** {@return whether so many requests more could be counted in at this moment} */
  boolean hasRoom(int requests) {
    return inFlight.get() + requests <= inFlightMax;
  }

  void release(int requests) {
    inFlight.getAndAdd(-requests);
  }

  @Override
  public String toString() {
    return "segment " + name();
  }
}

package dev.gatun.store;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registered buffers through which single calls pass values: the caller's memory may be on the heap, unregistered, or
 * gone while native code still writes after a failed transfer. Buffers are kept for the next call. Usable by any thread.
 */
final class Staging {
  private static final Logger LOG = LoggerFactory.getLogger(Staging.class);

  // 64 KiB: below it buffers would be made anew for every size; 256 MiB kept at most; both unmeasured defaults
  private static final long BUFFER_BYTES_MIN = 64L << 10;
  private static final long KEPT_BYTES_MAX = 256L << 20;
  private static final long PAGE_BYTES = 4096;

  private final StoreBackend backend;
  private final List<Buffer> free = new ArrayList<>();
  private final List<Buffer> inDoubt = new ArrayList<>();
  private boolean unregistered;

  /** One buffer; whoever took it gives it back or puts it in doubt. */
  record Buffer(Arena arena, MemorySegment memory) {}

  Staging(StoreBackend backend) {
    this.backend = backend;
  }

  Buffer take(long bytes) {
    synchronized (this) {
      for (Iterator<Buffer> kept = free.iterator(); kept.hasNext();) {
        Buffer buffer = kept.next();
        if (buffer.memory.byteSize() < bytes) continue;
        kept.remove();
        return buffer;
      }
    }
    return create(Math.max(bytes, BUFFER_BYTES_MIN));
  }

  void giveBack(Buffer buffer) {
    synchronized (this) {
      long kept = free.stream().mapToLong(other -> other.memory.byteSize()).sum();
      if (kept + buffer.memory.byteSize() <= KEPT_BYTES_MAX) {
        free.add(buffer);
        return;
      }
    }
    try {
      unregister(buffer);
    } catch (GatunException e) {
      doubt(buffer);
      throw e;
    }
    buffer.arena.close();
  }

  /** Keeps a buffer that native code may still touch. */
  synchronized void doubt(Buffer buffer) {
    inDoubt.add(buffer);
  }

  synchronized int inDoubt() {
    return inDoubt.size();
  }

  /**
   * To be called before the native store is destroyed, which does what fails here. Does nothing the second time, when
   * that may have begun.
   */
  synchronized void unregister() {
    if (unregistered) return;
    for (Buffer buffer : free) {
      try {
        unregister(buffer);
      } catch (GatunException e) {
        LOG.warn("closing the store goes on without it: {}", e.getMessage());
      }
    }
    unregistered = true;
  }

  /** To be called when the native store is gone. */
  synchronized void close() {
    free.forEach(buffer -> buffer.arena.close());
    inDoubt.forEach(buffer -> buffer.arena.close());
    free.clear();
    inDoubt.clear();
  }

  @SuppressWarnings("MustBeClosedChecker") // closed with the buffer
  private Buffer create(long bytes) {
    Arena arena = Arena.ofShared(); // kept
    try {
      // up to the next power of two, so that values of many sizes share few buffers
      long rounded = bytes > KEPT_BYTES_MAX ? bytes : Long.highestOneBit(bytes - 1) << 1;
      MemorySegment memory = arena.allocate(rounded, PAGE_BYTES);
      int code = backend.register(memory);
      if (code != 0) throw new StoreException("register", code, "staging buffer of " + rounded + " bytes");
      return new Buffer(arena, memory);
    } catch (RuntimeException | OutOfMemoryError e) {
      arena.close();
      throw e;
    }
  }

  private void unregister(Buffer buffer) {
    int code = backend.unregister(buffer.memory);
    if (code != 0) {
      throw new StoreException("unregister", code, "staging buffer of " + buffer.memory.byteSize() + " bytes");
    }
  }
}

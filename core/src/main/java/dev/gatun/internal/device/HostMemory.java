package dev.gatun.internal.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * What a host device may touch: its own allocations and pinned memory. Anything else is an illegal address, so that a work
 * item that goes wrong is an error here as it is on a GPU.
 */
final class HostMemory {
  /** Neither of a device: pinned host memory. */
  static final int PINNED = -1;
  private static final long ALIGNMENT = 256; // what cuMemAlloc gives at least
  private static final byte UNDEFINED = (byte) 0xA5;
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private record Range(long bytes, int owner, @Nullable Arena arena) {}

  private final ConcurrentSkipListMap<Long, Range> ranges = new ConcurrentSkipListMap<>();
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  @SuppressWarnings("MustBeClosedChecker") // device memory: closed by free
  synchronized long allocate(long bytes, int ordinal, long capacity) {
    if (bytes <= 0) throw HostError.INVALID_VALUE.in("cuMemAlloc(" + bytes + ")");
    if (bytes > capacity - usedBytes(ordinal)) throw HostError.OUT_OF_MEMORY.in("cuMemAlloc(" + bytes + ")");
    Arena arena = Arena.ofShared();
    MemorySegment memory = arena.allocate(bytes, ALIGNMENT).fill(UNDEFINED);
    ranges.put(memory.address(), new Range(bytes, ordinal, arena));
    return memory.address();
  }

  long usedBytes(int ordinal) {
    return ranges.values().stream().filter(range -> range.owner == ordinal).mapToLong(Range::bytes).sum();
  }

  synchronized void free(long address) {
    Range range = ranges.get(address);
    if (range == null || range.arena == null) throw HostError.INVALID_VALUE.in("cuMemFree");
    lock.writeLock().lock(); // no work item is in the middle of it
    try {
      ranges.remove(address);
      range.arena.close();
    } finally {
      lock.writeLock().unlock();
    }
  }

  synchronized void pin(long address, long bytes) {
    if (bytes <= 0) throw HostError.INVALID_VALUE.in("cuMemHostRegister(" + bytes + ")");
    Map.Entry<Long, Range> before = ranges.lowerEntry(address + bytes);
    if (before != null && before.getKey() + before.getValue().bytes > address) {
      throw HostError.ALREADY_PINNED.in("cuMemHostRegister(" + bytes + ")");
    }
    ranges.put(address, new Range(bytes, PINNED, null));
  }

  synchronized void unpin(long address) {
    Range range = ranges.get(address);
    if (range == null || range.owner != PINNED) throw HostError.NOT_PINNED.in("cuMemHostUnregister");
    lock.writeLock().lock();
    try {
      ranges.remove(address);
    } finally {
      lock.writeLock().unlock();
    }
  }

  boolean isOwnedBy(long address, long bytes, int owner) {
    Map.Entry<Long, Range> range = ranges.floorEntry(address);
    return range != null && range.getValue().owner == owner
        && address + bytes <= range.getKey() + range.getValue().bytes;
  }

  /** Runs a work item; what it touches by {@link #at} stays there until it ends. */
  void touch(Runnable work) {
    lock.readLock().lock();
    try {
      work.run();
    } finally {
      lock.readLock().unlock();
    }
  }

  /** The bytes at an address, as a GPU sees them. */
  MemorySegment at(long address, long bytes) {
    Map.Entry<Long, Range> range = ranges.floorEntry(address);
    if (range == null || bytes < 0 || address + bytes > range.getKey() + range.getValue().bytes) {
      throw HostError.ILLEGAL_ADDRESS.in("access to " + bytes + " bytes at 0x" + Long.toHexString(address));
    }
    return ALL.asSlice(address, bytes);
  }
}

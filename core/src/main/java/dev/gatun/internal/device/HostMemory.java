package dev.gatun.internal.device;

import dev.gatun.device.ExportedMemory;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
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
  private static final byte UNDEFINED = (byte) 0xA5;
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /** Another process's, mapped. */
  private static final int IMPORTED = -2;

  private record Range(long bytes, int owner, @Nullable HostFile file, int opened) {}

  private final ConcurrentSkipListMap<Long, Range> ranges = new ConcurrentSkipListMap<>();
  private final Map<String, Long> imported = new HashMap<>();
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  synchronized long allocate(long bytes, int ordinal, long capacity) {
    if (bytes <= 0) throw HostError.INVALID_VALUE.in("cuMemAlloc(" + bytes + ")");
    if (bytes > capacity - usedBytes(ordinal)) throw HostError.OUT_OF_MEMORY.in("cuMemAlloc(" + bytes + ")");
    HostFile file = HostFile.create(bytes);
    long address = file.memory().fill(UNDEFINED).address();
    ranges.put(address, new Range(bytes, ordinal, file, 0));
    return address;
  }

  long usedBytes(int ordinal) {
    return ranges.values().stream().filter(range -> range.owner == ordinal).mapToLong(Range::bytes).sum();
  }

  synchronized void free(long address) {
    Range range = ranges.get(address);
    if (range == null || range.file == null || range.owner < 0) throw HostError.INVALID_VALUE.in("cuMemFree");
    end(address, range.file);
  }

  private void end(long address, HostFile file) {
    lock.writeLock().lock(); // no work item is in the middle of it
    try {
      ranges.remove(address);
      file.close();
    } finally {
      lock.writeLock().unlock();
    }
  }

  synchronized long bytesFrom(long address) {
    Map.Entry<Long, Range> range = allocation(address, "cuMemGetAddressRange");
    return range.getKey() + range.getValue().bytes - address;
  }

  private Map.Entry<Long, Range> allocation(long address, String call) {
    Map.Entry<Long, Range> range = ranges.floorEntry(address);
    if (range == null || range.getValue().file == null || address >= range.getKey() + range.getValue().bytes) {
      throw HostError.INVALID_VALUE.in(call);
    }
    return range;
  }

  synchronized ExportedMemory exportMemory(long address) {
    Map.Entry<Long, Range> range = allocation(address, "cuIpcGetMemHandle");
    HostFile file = range.getValue().file;
    if (file == null || range.getValue().owner < 0) throw HostError.INVALID_VALUE.in("cuIpcGetMemHandle");
    return new ExportedMemory(file.handle(), address - range.getKey());
  }

  synchronized long importMemory(String handle) {
    Long known = imported.get(handle);
    if (known != null) {
      Range range = Objects.requireNonNull(ranges.get(known));
      ranges.put(known, new Range(range.bytes, IMPORTED, range.file, range.opened + 1));
      return known;
    }
    HostFile file = HostFile.open(handle);
    long base = file.memory().address();
    ranges.put(base, new Range(file.memory().byteSize(), IMPORTED, file, 1));
    imported.put(handle, base);
    return base;
  }

  synchronized void closeImported(long base) {
    Range range = ranges.get(base);
    if (range == null || range.file == null || range.owner != IMPORTED) {
      throw HostError.INVALID_VALUE.in("cuIpcCloseMemHandle");
    }
    if (range.opened > 1) {
      ranges.put(base, new Range(range.bytes, IMPORTED, range.file, range.opened - 1));
      return;
    }
    imported.values().remove(base);
    end(base, range.file);
  }

  synchronized void pin(long address, long bytes) {
    if (bytes <= 0) throw HostError.INVALID_VALUE.in("cuMemHostRegister(" + bytes + ")");
    Map.Entry<Long, Range> before = ranges.lowerEntry(address + bytes);
    if (before != null && before.getKey() + before.getValue().bytes > address) {
      throw HostError.ALREADY_PINNED.in("cuMemHostRegister(" + bytes + ")");
    }
    ranges.put(address, new Range(bytes, PINNED, null, 0));
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

package dev.gatun.memory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Memory for tests whose segments end, and begin, at inaccessible pages: one byte too many, by Java or by native code,
 * ends the process at once instead of spoiling a neighbour. Usable by any thread.
 *
 * <p>To put a pool under guard: {@code Slab.adopt("guarded", arena.allocate(layout.totalBytes()))}.
 */
public final class GuardedArena implements AutoCloseable {
  private record Mapping(long address, long bytes) {}

  private final List<Mapping> mappings = new ArrayList<>();

  /** Opens an arena without allocations. */
  public GuardedArena() {}

  /**
   * Allocates zeros that end exactly at a guard page. Unless {@code bytes} is a multiple of the page size, the start is
   * aligned only as {@code bytes} is, and up to a page of accessible bytes lies before it.
   *
   * @param bytes size, above 0
   */
  public synchronized MemorySegment allocate(long bytes) {
    MemoryCalls libc = MemoryCalls.get();
    long page = libc.pageBytes();
    long inner = Math.ceilDiv(bytes, page) * page;
    long address = libc.map(inner + 2 * page, MemoryCalls.PROT_NONE, 0);
    if (address < 0) throw new IllegalStateException("mmap failed: errno " + -address);
    mappings.add(new Mapping(address, inner + 2 * page));
    long result = libc.protect(address + page, inner, MemoryCalls.PROT_READ_WRITE);
    if (result < 0) throw new IllegalStateException("mprotect failed: errno " + -result);
    return MemorySegment.ofAddress(address + page + inner - bytes).reinterpret(bytes);
  }

  /** Unmaps everything. Segments must not be used any more: nothing checks it. */
  @Override
  public synchronized void close() {
    for (Mapping mapping : mappings)
      MemoryCalls.get().unmap(mapping.address, mapping.bytes);
    mappings.clear();
  }

  /** Writes one byte at an offset from the end of a 100-byte allocation: run as a process of its own by the test. */
  static final class Overrun {
    private Overrun() {}

    public static void main(String[] arguments) {
      try (GuardedArena arena = new GuardedArena()) {
        MemorySegment guarded = arena.allocate(100);
        long end = guarded.address() + guarded.byteSize();
        MemorySegment.ofAddress(end + Long.parseLong(arguments[0])).reinterpret(1).fill((byte) 1);
      }
    }
  }
}

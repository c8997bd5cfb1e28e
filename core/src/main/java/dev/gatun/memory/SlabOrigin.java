package dev.gatun.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Whose memory a slab is, and how it is freed. */
sealed interface SlabOrigin {

  MemorySegment segment();

  /** Frees the memory. Throws {@link IllegalStateException} while a native call holds the segment. */
  void free();

  /** Memory that we mapped. */
  record Mapped(SlabMapping mapping, MemoryBudget budget, Arena arena, MemorySegment segment) implements SlabOrigin {
    Mapped(SlabMapping mapping, MemoryBudget budget, Arena arena) {
      this(mapping, budget, arena,
          MemorySegment.ofAddress(mapping.address()).reinterpret(mapping.bytes(), arena, null));
    }

    @Override
    public void free() {
      arena.close();
      mapping.unmap();
      budget.giveBack(mapping.bytes());
    }
  }

  /** Memory of somebody else, who frees it. */
  record Adopted(MemorySegment segment) implements SlabOrigin {
    @Override
    public void free() {}
  }
}

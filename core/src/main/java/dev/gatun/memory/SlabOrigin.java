package dev.gatun.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Whose memory a slab is, and how it is freed. */
sealed interface SlabOrigin {

  MemorySegment segment();

  /** Ends Java's access. Throws {@link IllegalStateException} while a native call holds the segment. */
  void endAccess();

  /** Frees the memory, once access has ended. */
  void free();

  /** Memory that we mapped. */
  record Mapped(SlabMapping mapping, MemoryBudget budget, Arena arena, MemorySegment segment) implements SlabOrigin {

    @SuppressWarnings("MustBeClosedChecker") // slab: the arena lives as long as the slab, which closes it in endAccess
    static Mapped of(SlabMapping mapping, MemoryBudget budget) {
      Arena arena = Arena.ofShared();
      MemorySegment bare = MemorySegment.ofAddress(mapping.address());
      return new Mapped(mapping, budget, arena, bare.reinterpret(mapping.bytes(), arena, null));
    }

    @Override
    public void endAccess() {
      arena.close();
    }

    @Override
    public void free() {
      mapping.unmap(); // first: memory that cannot be unmapped stays counted
      budget.giveBack(mapping.bytes());
    }
  }

  /** Memory of somebody else, who frees it. */
  record Adopted(MemorySegment segment) implements SlabOrigin {
    @Override
    public void endAccess() {}

    @Override
    public void free() {}
  }
}

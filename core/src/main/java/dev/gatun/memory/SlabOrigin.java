package dev.gatun.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

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

  /** Memory that Java cannot touch. */
  record Owned(MemorySegment segment, SlabOwner owner) implements SlabOrigin {
    /**
     * Confines the segment to a thread that has ended: it has an address and a size, whoever touches it gets a
     * {@link WrongThreadException}, and its scope stays alive.
     */
    @SuppressWarnings("MustBeClosedChecker") // nothing is freed with it, and nobody could close it
    static Owned of(long address, long bytes, SlabOwner owner) {
      return new Owned(CompletableFuture.supplyAsync(
          () -> MemorySegment.ofAddress(address).reinterpret(bytes, Arena.ofConfined(), null),
          task -> Thread.ofPlatform().start(task)).join(), owner);
    }

    @Override
    public void endAccess() {}

    @Override
    public void free() {
      owner.release();
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

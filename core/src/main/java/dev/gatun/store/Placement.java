package dev.gatun.store;

import dev.gatun.backend.ReplicateOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The replicate options of a batch in the library's form; encoded when they change, not when they are used. */
final class Placement implements AutoCloseable {
  private final StoreCore core;
  private ReplicateOptions options = ReplicateOptions.DEFAULT;
  private MemorySegment encoded;
  private @Nullable Arena arena;

  Placement(StoreCore core) {
    this.core = core;
    encoded = core.defaultPlacement;
  }

  @SuppressWarnings("MustBeClosedChecker") // closed by close(), or by the next set()
  void set(ReplicateOptions next) {
    if (next.equals(options)) return;
    Arena later = Arena.ofShared(); // until the options change
    encoded = core.backend.encodeReplicate(next, later);
    options = next;
    close();
    arena = later;
  }

  MemorySegment encoded() {
    return encoded;
  }

  @Override
  public void close() {
    if (arena != null && arena.scope().isAlive()) arena.close();
  }
}

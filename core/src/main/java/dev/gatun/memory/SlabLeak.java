package dev.gatun.memory;

import java.lang.ref.Cleaner;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports a slab that was dropped without close. It frees nothing: native code may still know the address, so the memory
 * stays mapped and stays in the budget's gauge.
 */
final class SlabLeak implements Runnable {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final Logger LOG = LoggerFactory.getLogger(SlabLeak.class);

  private final String slab;
  private volatile boolean closed;
  private Cleaner.@Nullable Cleanable cleanable;

  SlabLeak(String slab) {
    this.slab = slab;
  }

  /** Watches a slab that is ours to free. */
  static SlabLeak watch(Slab slab, SlabOrigin origin) {
    SlabLeak leak = new SlabLeak(slab.toString());
    if (origin instanceof SlabOrigin.Mapped) leak.cleanable = CLEANER.register(slab, leak);
    return leak;
  }

  /** The slab was closed: there is nothing to report any more. */
  void forget() {
    closed = true;
    if (cleanable != null) cleanable.clean();
  }

  @Override
  public void run() {
    report().ifPresent(LOG::warn);
  }

  Optional<String> report() {
    return closed
        ? Optional.empty()
        : Optional.of(slab + " was dropped without close; its memory stays in use until the process ends");
  }
}

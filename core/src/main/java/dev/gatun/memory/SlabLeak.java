package dev.gatun.memory;

import java.lang.ref.Cleaner;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports a slab that was dropped without close. It frees nothing: native code may still know the address, so the memory
 * stays mapped and stays in the budget's gauge.
 */
final class SlabLeak implements Runnable {
  static final Cleaner CLEANER = Cleaner.create();

  private static final Logger LOG = LoggerFactory.getLogger(SlabLeak.class);

  private final String slab;
  volatile boolean closed;

  SlabLeak(String slab) {
    this.slab = slab;
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

package dev.gatun.memory;

/** Who holds the memory of a slab that Java cannot touch, such as a GPU's; see {@link Slab#ofOwner}. Usable by any thread. */
public interface SlabOwner {
  /** {@return where the memory is, as in {@link dev.gatun.backend.MemoryRange#location}} */
  String place();

  /**
   * Runs a native call that is given the memory's address, with whatever it needs on its thread, such as the GPU's context.
   * Blocks as long as the call does; what it throws is thrown.
   *
   * @param call runs once, on this thread or on another
   */
  void run(Runnable call);

  /** The slab was closed: no native library knows the memory by it any more. */
  void release();
}

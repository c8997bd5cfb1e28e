package dev.gatun.memory;

/**
 * Something that registers slabs with a native library: a store or a transfer engine. The slab calls it, so that the
 * order of events cannot be got wrong: nothing is unregistered under a running transfer, nothing is unmapped while
 * registered.
 */
public interface Registrar {

  /** {@return a name for messages, such as {@code store loopback:main}} */
  String name();

  /** {@return whether it takes memory that Java cannot touch, such as a GPU's} */
  default boolean takesDeviceMemory() {
    return false;
  }

  /**
   * Registers the slab with the native library. May block.
   *
   * @param slab what to register, whole
   */
  void register(Slab slab);

  /**
   * Undoes {@link #register}. May block. If it throws, the registration stays open and can be closed again.
   *
   * @param slab what was registered
   */
  void unregister(Slab slab);

  /** {@return transfers of this registrar that may touch registered memory now} */
  int transfersInFlight();
}

package dev.gatun.refit;

import dev.gatun.backend.RefitStore;
import dev.gatun.backend.StoreCode;

/**
 * A hard-pinned object that a refit puts to see it removed: proof that the removal reaches the objects of this store.
 *
 * @param key its name
 * @param code what the put answered
 * @param size what the store said of it right after, 0 if it was not asked
 */
record Canary(String key, long code, long size) {

  static Canary plant(RefitStore store, String key) {
    int code = store.putCanary(key);
    return new Canary(key, code, code == 0 ? store.sizeOfCanary(key) : 0);
  }

  boolean planted() {
    return code == 0;
  }

  boolean seen() {
    return code == 0 && size > 0;
  }

  /** The store is full, or has no memory at all: removal may make room, and there is nothing wrong if it does not. */
  boolean noSpace() {
    return code == StoreCode.NO_AVAILABLE_HANDLE.raw();
  }
}

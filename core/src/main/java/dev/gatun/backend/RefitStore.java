package dev.gatun.backend;

import java.util.Optional;

/**
 * What a refit does to a store while the gate is closed to everybody else. Results are native: counts or negative
 * codes. Used by one thread at a time; every call may block.
 */
public interface RefitStore extends Quiescable {

  /** {@return objects removed by one forced global pass, or a negative code} */
  long removeAllForced();

  /**
   * Puts a hard-pinned object of a few bytes, which eviction cannot remove.
   *
   * @param key its name, unique to this refit
   * @return 0 or a negative code
   */
  int putCanary(String key);

  /**
   * Asks for a canary without granting a lease where the library allows.
   *
   * @param key its name
   * @return length in bytes or a negative code, {@link StoreCode#OBJECT_NOT_FOUND} once it is gone
   */
  long sizeOfCanary(String key);

  /** {@return the administrator's view, where one can be had} */
  Optional<StoreCensus> census();

  /** {@return whether keys carry the weight epoch, so that old pages cannot be asked for} */
  boolean epochInKey();

  /**
   * {@return reasons why a clean removal would still not prove that nothing old can be read, such as another client's
   * cache; empty if none}
   */
  java.util.List<String> doubts();
}

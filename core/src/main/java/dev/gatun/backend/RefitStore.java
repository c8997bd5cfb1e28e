package dev.gatun.backend;

import java.util.List;
import java.util.Optional;

/**
 * What a refit does to a store while the gate is closed to everybody else. Results are native: counts or negative
 * codes. Used by one thread at a time; every call may block. A call that the refit gave up waiting for still counts as
 * that one thread.
 *
 * <p>This very object is what the store registers with its {@link EpochGate}, and unregisters when it closes: a refit
 * trusts only stores it finds there, since closing another gate would not stop their puts. After the store was closed,
 * calls throw {@link ClosedException}, but {@link #name} and {@link #keysSent} still answer.
 */
public interface RefitStore extends Quiescable {

  /** {@return objects removed by one forced global pass, or a negative code} */
  long removeAllForced();

  /**
   * Removes what begins with a text, of every client, whatever the codec of this store.
   *
   * @param prefix of whole keys, taken literally; not empty
   * @return objects removed by one forced pass, or a negative code
   */
  long removePrefixForced(String prefix);

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

  /**
   * {@return an upper bound of the put starts that this client caused at the master since it was opened: the keys of
   * every put it sent, successful or not, canaries included. What the master counts beyond that was put by somebody
   * whom the gate does not stop. Usable by any thread, never decreases}
   */
  long keysSent();

  /** {@return the administrator's view, where one can be had} */
  Optional<StoreCensus> census();

  /** {@return whether keys carry the weight epoch, so that old pages cannot be asked for} */
  boolean epochInKey();

  /**
   * Tells a leftover of the new epoch, which only an epoch used twice can leave, from one of an old epoch.
   *
   * @param key a key as the master lists it
   * @param epoch which weights
   * @return whether this store would use that key under that epoch; false wherever keys carry no epoch
   */
  boolean carriesEpoch(String key, WeightEpoch epoch);

  /**
   * {@return reasons why a clean removal would still not prove that nothing old can be read, such as another client's
   * cache; empty if none}
   */
  List<String> doubts();
}

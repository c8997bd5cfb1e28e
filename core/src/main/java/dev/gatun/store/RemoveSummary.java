package dev.gatun.store;

import java.util.List;
import java.util.Map;

/**
 * Outcome of removing several keys one by one.
 *
 * @param removed keys that were there and are gone
 * @param absent keys that were not there, which is no failure
 * @param failed the keys that are still there and why, in the order given
 */
public record RemoveSummary(int removed, int absent, Map<KvKey, RemoveResult.RemoveFailed> failed) {

  /** {@return whether no key is left} */
  public boolean allGone() {
    return failed.isEmpty();
  }

  /** {@return keys that the same call may remove later} */
  public List<KvKey> retryable() {
    return failed.entrySet().stream().filter(entry -> entry.getValue().retryable()).map(Map.Entry::getKey).toList();
  }
}

package dev.gatun.connector;

import dev.gatun.memory.Sequence;
import dev.gatun.store.KvKey;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A request as connectors see it. A request that grows is a new value with the same id.
 *
 * @param id unique among the requests in flight, not blank
 * @param sequence the epoch of what the request computes; of one that is no longer current nothing is saved. Owned by
 *     the scheduler's thread
 * @param keys one for each full block, in order; each names its block together with everything before it, as chained
 *     hashes do, so no key is there twice
 * @param transferParams what a router gave the request for connectors between processes; empty for stores. Routers give
 *     null for what they do not know, which is the same as nothing
 */
public record KvRequest(String id, Sequence sequence, List<KvKey> keys,
    Map<String, ? extends @Nullable Object> transferParams) {
  /** Refuses a blank id and a key that is there twice. */
  public KvRequest {
    if (id.isBlank()) throw new IllegalArgumentException("id must not be blank: \"" + id + '"');
    keys = List.copyOf(keys);
    transferParams = PlainValues.shallow(transferParams);
    Set<KvKey> seen = new HashSet<>();
    for (int i = 0; i < keys.size(); i++) {
      if (!seen.add(keys.get(i))) {
        throw new IllegalArgumentException("keys of request " + id + " must differ, key " + i + " is there twice: "
            + keys.get(i));
      }
    }
  }

  /**
   * Creates a request without parameters of a router.
   *
   * @param id unique among the requests in flight
   * @param sequence the epoch of what it computes
   * @param keys one for each full block, in order
   */
  public KvRequest(String id, Sequence sequence, List<KvKey> keys) {
    this(id, sequence, keys, Map.of());
  }
}

package dev.gatun.connector;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What {@code kv_connector_extra_config} says to a {@code NixlConnector}, with which decode pulls from prefill.
 *
 * @param backends NIXL plugins, {@code UCX} by default
 * @param threads threads of the plugin, {@code num_threads}
 * @param leaseDuration how long prefill keeps blocks for a decode that has not answered, {@code kv_lease_duration}; 1 ms
 *     to 1 h
 * @param engineTtl how long an engine that fell silent is remembered, {@code engine_ttl}
 * @param enforceHandshakeCompat whether engines of another version, model or layout are refused
 * @param recomputeThreshold shortest run of tokens worth pulling, {@code kv_recompute_threshold}
 * @param bidirectional whether decode hands blocks back as well, {@code bidirectional_kv_xfer}
 * @param decoderBlocksTtl how long decode keeps such blocks, {@code decoder_kv_blocks_ttl}
 * @param pushRegistrationTimeout how long a push waits for its registration, the engine's choice if empty
 * @param crossLayersBlocks whether all layers of a block are one segment
 */
public record NixlConnectorOptions(List<String> backends, int threads, Duration leaseDuration, Duration engineTtl,
    boolean enforceHandshakeCompat, int recomputeThreshold, boolean bidirectional, Duration decoderBlocksTtl,
    Optional<Duration> pushRegistrationTimeout, boolean crossLayersBlocks) {

  static final Set<String> FIELDS = Set.of("backends", "num_threads", "kv_lease_duration", "engine_ttl",
      "enforce_handshake_compat", "kv_recompute_threshold", "bidirectional_kv_xfer", "decoder_kv_blocks_ttl",
      "push_registration_timeout", "enable_cross_layers_blocks");

  // 1,024: more threads than a machine has cores help nobody
  private static final int THREADS_MAX = 1024;

  static NixlConnectorOptions of(Fields extra) {
    extra.requireKnown(FIELDS);
    String timeout = "push_registration_timeout";
    return new NixlConnectorOptions(backends(extra), (int) extra.integer("num_threads", 4, 1, THREADS_MAX),
        lease(extra), extra.seconds("engine_ttl", 3600),
        extra.bool("enforce_handshake_compat", true),
        (int) extra.integer("kv_recompute_threshold", 64, 0, Integer.MAX_VALUE),
        extra.bool("bidirectional_kv_xfer", false), extra.seconds("decoder_kv_blocks_ttl", 480),
        extra.has(timeout) ? Optional.of(extra.seconds(timeout, 1)) : Optional.empty(),
        extra.bool("enable_cross_layers_blocks", false));
  }

  private static Duration lease(Fields extra) {
    String field = "kv_lease_duration";
    Duration lease = extra.seconds(field, 30);
    if (lease.compareTo(P2pOptions.SHORTEST) >= 0 && lease.compareTo(P2pOptions.LONGEST) <= 0) return lease;
    throw extra.refused(field, "must be 0.001 to 3600, in seconds");
  }

  private static List<String> backends(Fields extra) {
    if (!extra.has("backends")) return List.of("UCX");
    Fields names = extra.elements("backends");
    if (names.values().isEmpty()) throw extra.refused("backends", "must name a plugin");
    return names.values().keySet().stream().map(name -> names.word(name, "")).toList();
  }
}

package dev.gatun.connector;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What {@code kv_connector_extra_config} says to a {@code MooncakeStoreConnector}.
 *
 * @param lookupAsync whether prefix lookups leave the scheduling thread
 * @param lookupRpcPort number in the name of the socket between scheduler and worker
 * @param cachePrefix first part of every key, empty for none; without {@code @}, which separates the parts
 * @param preferredSegment where the master should place pages, if it can
 * @param crossLayersBlocks whether all layers of a block are one segment
 * @param enableLookup whether prefixes are looked up
 * @param saveDecodeCache whether blocks of generated tokens are stored as well
 * @param groupSemantics whether the objects of a block are grouped at the master
 * @param customMemoryPool {@code NVLINK} or {@code BAREX}
 * @param storeTpSize tensor-parallel size that the stored layout assumes
 * @param storeTpLcm whether that size is the least common multiple of {@code prefillTpSizes}
 * @param prefillTpSizes tensor-parallel sizes of the engines that share the store
 */
public record StoreConnectorOptions(boolean lookupAsync, int lookupRpcPort, String cachePrefix,
    Optional<String> preferredSegment, boolean crossLayersBlocks, boolean enableLookup, boolean saveDecodeCache,
    boolean groupSemantics, Optional<String> customMemoryPool, OptionalInt storeTpSize, boolean storeTpLcm,
    List<Integer> prefillTpSizes) {

  static final Set<String> SINCE_V33 = Set.of("enable_lookup", "save_decode_cache", "enable_group_semantics",
      "custom_mem_pool", "store_tp_size", "enable_store_tp_lcm", "prefill_tp_sizes");
  static final Set<String> FIELDS = Stream.concat(SINCE_V33.stream(), Stream.of("load_async", "lookup_async",
      "lookup_rpc_port", "cache_prefix", "preferred_segment", "enable_cross_layers_blocks"))
      .collect(Collectors.toUnmodifiableSet());

  // 65,536: far above any tensor-parallel size; only guards against nonsense
  private static final int TP_MAX = 65_536;
  // in documents of other projects; vLLM reads the environment only
  private static final String MISPLACED = "mooncake_config_path";

  static StoreConnectorOptions of(Fields extra) {
    if (extra.has(MISPLACED)) {
      throw extra.refused(MISPLACED, "is read by nothing here: set the environment variable MOONCAKE_CONFIG_PATH");
    }
    extra.requireKnown(FIELDS);
    if (!extra.bool("load_async", true)) throw extra.refused("load_async", "must be true, the only way of loading");
    String prefix = extra.text("cache_prefix", "");
    if (prefix.indexOf('@') >= 0) throw extra.refused("cache_prefix", "must not contain @, which ends it in a key");
    String memoryPool = extra.textOrNull("custom_mem_pool");
    if (memoryPool != null && !memoryPool.equals("NVLINK") && !memoryPool.equals("BAREX")) {
      throw extra.refused("custom_mem_pool", "must be NVLINK or BAREX");
    }
    boolean lcm = extra.bool("enable_store_tp_lcm", false);
    Fields sizes = extra.elements("prefill_tp_sizes");
    if (lcm && sizes.values().isEmpty()) {
      throw extra.refused("prefill_tp_sizes", "must list a size, since enable_store_tp_lcm is true");
    }
    Long tpSize = extra.integerOrNull("store_tp_size", 1, TP_MAX);
    return new StoreConnectorOptions(extra.bool("lookup_async", false),
        (int) extra.integer("lookup_rpc_port", 0, 0, 65_535), prefix,
        Optional.ofNullable(extra.wordOrNull("preferred_segment")), extra.bool("enable_cross_layers_blocks", false),
        extra.bool("enable_lookup", true), extra.bool("save_decode_cache", false),
        extra.bool("enable_group_semantics", false), Optional.ofNullable(memoryPool),
        tpSize == null ? OptionalInt.empty() : OptionalInt.of(tpSize.intValue()), lcm,
        sizes.values().keySet().stream().map(size -> (int) sizes.integer(size, 1, 1, TP_MAX)).toList());
  }
}

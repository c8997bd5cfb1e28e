package dev.gatun.connector;

import dev.gatun.backend.OptionText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * How an engine moves KV: vLLM's {@code kv_transfer_config}, read from a map, from JSON or from a builder into one
 * checked value that nothing can change. Two values are equal if all their fields are.
 *
 * <p>Stricter than vLLM, which finds most mistakes only when an engine starts, or never: unknown fields and unknown
 * connector options are refused with the closest known name, and the children of a {@code MultiConnector} are checked
 * like the whole. A refusal names the field with its path, its value and the rule.
 */
public final class KvTransferConfig {
  private static final String MODULE_PATH = "kv_connector_module_path";
  private static final List<String> FIELDS = List.of("kv_connector", "engine_id", "kv_buffer_device", "kv_buffer_size",
      "kv_role", "kv_rank", "kv_parallel_size", "kv_ip", "kv_port", "kv_connector_extra_config",
      MODULE_PATH, "enable_permute_local_kv", "kv_load_failure_policy");
  private static final String EXTRA = "kv_connector_extra_config";
  private static final String CHILDREN = "connectors";
  private static final String ENGINE_ID = "engine_id";

  /** Every field with its value or default, in vLLM's terms: what is compared and written. */
  private final Map<String, @Nullable Object> values;
  private final @Nullable String kvConnector;
  private final String engineId;
  private final @Nullable KvRole kvRole;
  private final @Nullable String modulePath;
  private final Fields extra;
  private final List<KvTransferConfig> children;

  private KvTransferConfig(Fields fields, EngineGeneration generation) {
    requireFields(fields, generation);
    kvConnector = fields.wordOrNull("kv_connector");
    kvRole = fields.choiceOrNull("kv_role", Arrays.asList(KvRole.values()));
    requireRole(fields);
    modulePath = fields.wordOrNull(MODULE_PATH);
    requireConnector(fields);
    String id = fields.wordOrNull(ENGINE_ID);
    engineId = id == null ? UUID.randomUUID().toString() : id;
    extra = fields.object(EXTRA);
    values = values(fields);
    children = children(generation);
    requireOptions(generation);
  }

  /**
   * Takes a configuration in any form, for the newest generation: a value of this type is returned as it is, a map is
   * read by {@link #fromMap}, text by {@link #fromJson}.
   *
   * @param source the configuration
   * @return the typed value
   * @throws IllegalArgumentException if it is of another type, or naming the field, its value and the rule
   */
  public static KvTransferConfig from(Object source) {
    return switch (source) {
      case KvTransferConfig typed -> typed;
      case Map<?, ?> map -> fromMap(map, EngineGeneration.V33);
      case String json -> fromJson(json, EngineGeneration.V33);
      default -> throw new IllegalArgumentException(
          "kv_transfer_config must be a map, JSON text or a KvTransferConfig: " + source.getClass().getName());
    };
  }

  /**
   * Reads vLLM's fields. An absent {@code engine_id} becomes a random UUID, as in vLLM.
   *
   * @param source the fields; copied
   * @param generation whose fields and options are known
   * @return the typed value
   * @throws IllegalArgumentException naming the field, its value and the rule
   */
  public static KvTransferConfig fromMap(Map<?, ?> source, EngineGeneration generation) {
    return at("", source, generation);
  }

  /**
   * Reads one JSON object, as {@link #fromMap}. A field that stands twice in it is refused.
   *
   * @param json the object
   * @param generation whose fields and options are known
   * @return the typed value
   * @throws IllegalArgumentException if it is no JSON object, with the place, or naming the field, its value and the rule
   */
  public static KvTransferConfig fromJson(String json, EngineGeneration generation) {
    return fromMap(ConfigJson.object("kv_transfer_config", json), generation);
  }

  /** {@return a builder with every field at its default} */
  public static KvTransferConfigBuilder builder() {
    return new KvTransferConfigBuilder();
  }

  static KvTransferConfig at(String path, Map<?, ?> source, EngineGeneration generation) {
    return new KvTransferConfig(Fields.of(path, source), generation);
  }

  /** {@return the connector's name, empty if the engine moves no KV} */
  public Optional<String> kvConnector() {
    return Optional.ofNullable(kvConnector);
  }

  /** {@return the engine's identity towards its peers} */
  public String engineId() {
    return engineId;
  }

  /**
   * {@return the identity of one data-parallel rank of the engine, as vLLM names it}
   *
   * @param rank the rank
   * @throws IllegalArgumentException if it is negative
   */
  public String engineId(int rank) {
    if (rank < 0) throw new IllegalArgumentException("rank must be 0 or more: " + rank);
    return engineId + "_dp" + rank;
  }

  /** {@return the role; there is one wherever there is a connector} */
  public Optional<KvRole> kvRole() {
    return Optional.ofNullable(kvRole);
  }

  /** {@return whether the engine hands out KV} */
  public boolean produces() {
    return kvConnector != null && kvRole != null && kvRole.produces();
  }

  /** {@return whether the engine takes KV} */
  public boolean consumes() {
    return kvConnector != null && kvRole != null && kvRole.consumes();
  }

  /** {@return the device of transfer buffers, {@code cuda} by default} */
  public String kvBufferDevice() {
    return (String) value("kv_buffer_device");
  }

  /** {@return the TCP port of connectors that use one, 14579 by default} */
  public int kvPort() {
    return ((Long) value("kv_port")).intValue();
  }

  /** {@return bytes of the transfer buffer, 1e9 by default; only V25 has it} */
  public double kvBufferSize() {
    return (Double) value("kv_buffer_size");
  }

  /** {@return the rank in the group of engines; only V25 has it} */
  public OptionalInt kvRank() {
    Object rank = values.get("kv_rank");
    return rank instanceof Long number ? OptionalInt.of(number.intValue()) : OptionalInt.empty();
  }

  /** {@return how many engines are in the group, 1 by default; only V25 has it} */
  public int kvParallelSize() {
    return ((Long) value("kv_parallel_size")).intValue();
  }

  /** {@return the IP address of connectors that use one, 127.0.0.1 by default; only V25 has it} */
  public String kvIp() {
    return (String) value("kv_ip");
  }

  /** {@return the connector's own options as they were given; unmodifiable, nested maps and lists as well} */
  public Map<String, @Nullable Object> extraConfig() {
    return extra.values();
  }

  /** {@return the Python module of a connector that vLLM does not bring} */
  public Optional<String> modulePath() {
    return Optional.ofNullable(modulePath);
  }

  /** {@return whether the local KV layout may be permuted for a peer's} */
  public boolean enablePermuteLocalKv() {
    return (Boolean) value("enable_permute_local_kv");
  }

  /** {@return what becomes of a request whose KV could not be loaded, {@code fail} by default} */
  public LoadFailurePolicy loadFailurePolicy() {
    return LoadFailurePolicy.FAIL.toString().equals(value("kv_load_failure_policy"))
        ? LoadFailurePolicy.FAIL
        : LoadFailurePolicy.RECOMPUTE;
  }

  /** {@return the children of a {@code MultiConnector}, in order, under this engine's identity; else none} */
  public List<KvTransferConfig> connectors() {
    return children;
  }

  /**
   * {@return the options of a {@code MooncakeStoreConnector}}
   *
   * @throws IllegalStateException if the connector is another
   */
  public StoreConnectorOptions storeOptions() {
    requireNamed(ConnectorNames.STORE);
    return StoreConnectorOptions.of(extra);
  }

  /**
   * {@return the options of a {@code MooncakeConnector}}
   *
   * @throws IllegalStateException if the connector is another
   */
  public MooncakeConnectorOptions mooncakeOptions() {
    requireNamed(ConnectorNames.MOONCAKE);
    return MooncakeConnectorOptions.of(extra);
  }

  /**
   * {@return the options of a {@code NixlConnector}, by either of its names}
   *
   * @throws IllegalStateException if the connector is another
   */
  public NixlConnectorOptions nixlOptions() {
    requireNamed(ConnectorNames.NIXL, ConnectorNames.NIXL_PULL);
    return NixlConnectorOptions.of(extra);
  }

  /**
   * Writes every field that a generation has, defaults included. Fields that it has no more are dropped, in children as
   * well, since no connector of that generation reads them.
   *
   * @param generation who will read it
   * @return the fields in vLLM's order; unmodifiable
   * @throws IllegalArgumentException if a connector option is younger than the generation, which would ignore it
   */
  public Map<String, @Nullable Object> toMap(EngineGeneration generation) {
    requireWritable(generation);
    return without(generation.removedFields(), values);
  }

  /**
   * {@return {@link #toMap} as one JSON object}
   *
   * @param generation who will read it
   * @throws IllegalArgumentException as for {@link #toMap}
   */
  public String toJson(EngineGeneration generation) {
    return ConfigJson.text(toMap(generation));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof KvTransferConfig config && values.equals(config.values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  /** {@return every field as JSON, for logs} */
  @Override
  public String toString() {
    return ConfigJson.text(values);
  }

  private Object value(String field) {
    Object value = values.get(field);
    if (value == null) throw new IllegalStateException(field + " always has a value");
    return value;
  }

  private void requireNamed(String... names) {
    if (kvConnector == null || !Arrays.asList(names).contains(kvConnector)) {
      throw new IllegalStateException("kv_connector must be " + names[0] + ": " + PlainValues.shown(kvConnector));
    }
  }

  private static void requireFields(Fields fields, EngineGeneration generation) {
    for (String removed : generation.removedFields()) {
      if (fields.has(removed)) {
        throw fields.refused(removed, "must be absent, since vLLM " + generation.release() + " has it no more");
      }
    }
    fields.requireKnown(FIELDS.stream().filter(field -> !generation.removedFields().contains(field)).toList());
  }

  private void requireRole(Fields fields) {
    if (kvConnector != null && kvRole == null) {
      throw fields.refused("kv_role",
          "must be kv_producer, kv_consumer or kv_both, since kv_connector is " + kvConnector);
    }
  }

  private void requireConnector(Fields fields) {
    if (modulePath != null && kvConnector == null) {
      throw fields.refused("kv_connector", "must name the class in kv_connector_module_path " + modulePath);
    }
    if (kvConnector == null || modulePath != null || ConnectorNames.REGISTERED.contains(kvConnector)) return;
    throw fields.refused("kv_connector", "must be known or come with kv_connector_module_path ("
        + OptionText.unknown("connector", kvConnector, ConnectorNames.REGISTERED).getMessage() + ')');
  }

  private Map<String, @Nullable Object> values(Fields fields) {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("kv_connector", kvConnector);
    all.put(ENGINE_ID, engineId);
    all.put("kv_buffer_device", fields.word("kv_buffer_device", "cuda"));
    all.put("kv_buffer_size", fields.positive("kv_buffer_size", 1e9));
    all.put("kv_role", kvRole == null ? null : kvRole.toString());
    Long parallelSize = fields.integer("kv_parallel_size", 1, 1, Integer.MAX_VALUE);
    all.put("kv_rank", fields.integerOrNull("kv_rank", 0, parallelSize - 1));
    all.put("kv_parallel_size", parallelSize);
    all.put("kv_ip", fields.word("kv_ip", "127.0.0.1"));
    all.put("kv_port", fields.integer("kv_port", 14_579, 1, 65_535));
    all.put(EXTRA, extra.values());
    all.put(MODULE_PATH, modulePath);
    all.put("enable_permute_local_kv", fields.bool("enable_permute_local_kv", false));
    LoadFailurePolicy policy = fields.choiceOrNull("kv_load_failure_policy",
        Arrays.asList(LoadFailurePolicy.values()));
    all.put("kv_load_failure_policy", (policy == null ? LoadFailurePolicy.FAIL : policy).toString());
    return Collections.unmodifiableMap(all);
  }

  private List<KvTransferConfig> children(EngineGeneration generation) {
    if (!isMulti(kvConnector, modulePath)) return List.of();
    Fields elements = extra.elements(CHILDREN);
    if (elements.values().isEmpty()) throw extra.refused(CHILDREN, "must list the connectors of a MultiConnector");
    List<KvTransferConfig> read = new ArrayList<>();
    for (String element : elements.values().keySet()) {
      Fields child = elements.object(element);
      if (child.has(ENGINE_ID)) throw child.refused(ENGINE_ID, "must be absent: a child takes its parent's");
      if (child.wordOrNull("kv_connector") == null) throw child.refused("kv_connector", "must name a connector");
      Map<String, @Nullable Object> named = new LinkedHashMap<>(child.values());
      named.put(ENGINE_ID, engineId);
      read.add(at(child.path(), named, generation));
    }
    return List.copyOf(read);
  }

  private void requireOptions(EngineGeneration generation) {
    if (modulePath != null) return; // its options are its own business
    switch (kvConnector) {
      case ConnectorNames.STORE -> StoreConnectorOptions.of(extra);
      case ConnectorNames.MOONCAKE -> MooncakeConnectorOptions.of(extra);
      case ConnectorNames.NIXL, ConnectorNames.NIXL_PULL -> NixlConnectorOptions.of(extra);
      case ConnectorNames.MULTI -> extra.requireKnown(Set.of(CHILDREN));
      case null, default -> {
        // the same holds for connectors that Gatun has not
      }
    }
    requireWritable(generation);
  }

  private void requireWritable(EngineGeneration generation) {
    if (generation != EngineGeneration.V25 || modulePath != null) return;
    Set<String> young = switch (kvConnector) {
      case ConnectorNames.STORE -> StoreConnectorOptions.SINCE_V33;
      case ConnectorNames.MOONCAKE -> MooncakeConnectorOptions.SINCE_V33;
      case null, default -> Set.of();
    };
    for (String field : extra.values().keySet()) {
      if (young.contains(field)) throw extra.refused(field, "must be absent, since vLLM 0.25 would ignore it");
    }
    children.forEach(child -> child.requireWritable(generation));
  }

  private static Map<String, @Nullable Object> without(Set<String> removed, Map<?, ?> values) {
    Map<String, @Nullable Object> kept = new LinkedHashMap<>();
    values.forEach((field, value) -> {
      if (!removed.contains(field)) kept.put((String) field, value);
    });
    if (isMulti((String) values.get("kv_connector"), (String) values.get(MODULE_PATH))
        && values.get(EXTRA) instanceof Map<?, ?> extra && extra.get(CHILDREN) instanceof List<?> children) {
      kept.put(EXTRA, Map.of(CHILDREN, children.stream().map(child -> without(removed, (Map<?, ?>) child)).toList()));
    }
    return Collections.unmodifiableMap(kept);
  }

  private static boolean isMulti(@Nullable String connector, @Nullable String modulePath) {
    return modulePath == null && ConnectorNames.MULTI.equals(connector);
  }
}

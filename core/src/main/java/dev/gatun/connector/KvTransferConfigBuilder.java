package dev.gatun.connector;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Puts a {@link KvTransferConfig} together field by field; {@link #build} checks it like one that was read. */
public final class KvTransferConfigBuilder {
  private final Map<String, @Nullable Object> values = new LinkedHashMap<>();

  KvTransferConfigBuilder() {}

  /**
   * Sets the connector.
   *
   * @param name such as {@code MooncakeStoreConnector}
   * @return this
   */
  public KvTransferConfigBuilder kvConnector(String name) {
    return set("kv_connector", name);
  }

  /**
   * Sets the role.
   *
   * @param role the role
   * @return this
   */
  public KvTransferConfigBuilder kvRole(KvRole role) {
    return set("kv_role", role.toString());
  }

  /**
   * Sets the engine's identity; without one, a random UUID.
   *
   * @param id the identity
   * @return this
   */
  public KvTransferConfigBuilder engineId(String id) {
    return set("engine_id", id);
  }

  /**
   * Sets the device of transfer buffers.
   *
   * @param device {@code cuda}, the default, {@code cpu} or another
   * @return this
   */
  public KvTransferConfigBuilder kvBufferDevice(String device) {
    return set("kv_buffer_device", device);
  }

  /**
   * Sets the port of connectors that use one.
   *
   * @param port 1 to 65,535
   * @return this
   */
  public KvTransferConfigBuilder kvPort(int port) {
    return set("kv_port", port);
  }

  /**
   * Sets the connector's own options.
   *
   * @param options the options; copied by {@link #build}
   * @return this
   */
  public KvTransferConfigBuilder extraConfig(Map<String, ? extends @Nullable Object> options) {
    return set("kv_connector_extra_config", options);
  }

  /**
   * Makes it a {@code MultiConnector} of these children.
   *
   * @param children fields of each child, in the order in which they are asked for KV
   * @return this
   */
  public KvTransferConfigBuilder connectors(List<? extends Map<String, ?>> children) {
    return kvConnector(ConnectorNames.MULTI).extraConfig(Map.of("connectors", children));
  }

  /**
   * Sets the Python module of a connector that vLLM does not bring.
   *
   * @param path the module
   * @return this
   */
  public KvTransferConfigBuilder modulePath(String path) {
    return set("kv_connector_module_path", path);
  }

  /**
   * Sets whether the local KV layout may be permuted for a peer's.
   *
   * @param enabled whether it may
   * @return this
   */
  public KvTransferConfigBuilder enablePermuteLocalKv(boolean enabled) {
    return set("enable_permute_local_kv", enabled);
  }

  /**
   * Sets what becomes of a request whose KV could not be loaded.
   *
   * @param policy the policy
   * @return this
   */
  public KvTransferConfigBuilder loadFailurePolicy(LoadFailurePolicy policy) {
    return set("kv_load_failure_policy", policy.toString());
  }

  /**
   * Sets any field by vLLM's name for it; the ones that only V25 has can be set in no other way.
   *
   * @param field the name, such as {@code kv_rank}
   * @param value the value
   * @return this
   */
  public KvTransferConfigBuilder set(String field, @Nullable Object value) {
    values.put(field, value);
    return this;
  }

  /**
   * {@return the checked value for the newest generation}
   *
   * @throws IllegalArgumentException naming the field, its value and the rule
   */
  public KvTransferConfig build() {
    return build(EngineGeneration.V33);
  }

  /**
   * {@return the checked value}
   *
   * @param generation whose fields and options are known
   * @throws IllegalArgumentException naming the field, its value and the rule
   */
  public KvTransferConfig build(EngineGeneration generation) {
    return KvTransferConfig.fromMap(values, generation);
  }
}

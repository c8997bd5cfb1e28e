package dev.gatun.connector;

import static dev.gatun.connector.EngineGeneration.V25;
import static dev.gatun.connector.EngineGeneration.V33;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.HostPort;
import dev.gatun.testing.Thrown;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Options of the connectors, and the children of a {@code MultiConnector}. */
class ConnectorOptionsTest {

  @Test
  @DisplayName("defaults of the three connectors are vLLM's")
  void defaults() {
    assertEquals(
        new StoreConnectorOptions(false, 0, "", Optional.empty(), false, true, false, false, Optional.empty(),
            OptionalInt.empty(), false, List.of()),
        config("MooncakeStoreConnector", "").storeOptions());
    assertEquals(new MooncakeConnectorOptions(10, "rdma", "", Optional.empty()),
        config("MooncakeConnector", "").mooncakeOptions());
    assertEquals(
        new NixlConnectorOptions(List.of("UCX"), 4, Duration.ofSeconds(30), Duration.ofHours(1), true, 64, false,
            Duration.ofSeconds(480), Optional.empty(), false),
        config("NixlConnector", "").nixlOptions());
    assertEquals(config("NixlConnector", "").nixlOptions(), config("NixlPullConnector", "").nixlOptions());
  }

  @Test
  @DisplayName("K9.08 every option of the store connector arrives as it was set")
  void storeOptions() {
    assertEquals(
        new StoreConnectorOptions(true, 7, "chat", Optional.of("node-1"), true, false, true, true,
            Optional.of("NVLINK"), OptionalInt.of(8), true, List.of(4, 8)),
        config("MooncakeStoreConnector", """
            "load_async": true, "lookup_async": "true", "lookup_rpc_port": 7, "cache_prefix": "chat",
            "preferred_segment": "node-1", "enable_cross_layers_blocks": "True", "enable_lookup": false,
            "save_decode_cache": true, "enable_group_semantics": true, "custom_mem_pool": "NVLINK",
            "store_tp_size": 8, "enable_store_tp_lcm": true, "prefill_tp_sizes": [4, "8"]""").storeOptions());
  }

  @Test
  @DisplayName("K9.08 every option of the P2P connectors arrives as it was set")
  void transferOptions() {
    assertEquals(new MooncakeConnectorOptions(3, "tcp", "mlx5_0,mlx5_1", Optional.of(new HostPort("::1", 8998))),
        config("MooncakeConnector", """
            "num_workers": 3, "mooncake_protocol": "TCP", "device_name": "mlx5_0,mlx5_1",
            "bootstrap_server_address": "[::1]:8998\"""").mooncakeOptions());
    assertEquals(
        new NixlConnectorOptions(List.of("UCX", "POSIX"), 2, Duration.ofMillis(2500), Duration.ofSeconds(60), false, 0,
            true, Duration.ofSeconds(5), Optional.of(Duration.ofSeconds(9)), true),
        config("NixlConnector", """
            "backends": ["UCX", "POSIX"], "num_threads": 2, "kv_lease_duration": 2.5, "engine_ttl": "60",
            "enforce_handshake_compat": false, "kv_recompute_threshold": 0, "bidirectional_kv_xfer": true,
            "decoder_kv_blocks_ttl": 5, "push_registration_timeout": 9, "enable_cross_layers_blocks": true""")
            .nixlOptions());
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(delimiter = '|', textBlock = """
      MooncakeStoreConnector | "load_async": false | load_async must be true, the only way of loading: false
      MooncakeStoreConnector | "cache_prefix": "a@b" | cache_prefix must not contain @, which ends it in a key: "a@b"
      MooncakeStoreConnector | "preferred_segment": "" | preferred_segment must not be empty: ""
      MooncakeStoreConnector | "custom_mem_pool": "HBM" | custom_mem_pool must be NVLINK or BAREX: "HBM"
      MooncakeStoreConnector | "lookup_rpc_port": -1 | lookup_rpc_port must be a whole number from 0 to 65535: "-1"
      MooncakeStoreConnector | "enable_store_tp_lcm": true | prefill_tp_sizes must list a size, since enable_store_tp_lcm is true: absent
      MooncakeStoreConnector | "prefill_tp_sizes": [4, 0] | prefill_tp_sizes[1] must be a whole number from 1 to 65536: "0"
      MooncakeStoreConnector | "mooncake_config_path": "/x" | mooncake_config_path is read by nothing here: set the environment variable MOONCAKE_CONFIG_PATH: "/x"
      MooncakeStoreConnector | "cache_prefx": "a" | cache_prefx must be absent (unknown field "cache_prefx"; did you mean "cache_prefix"?): "a"
      MooncakeConnector | "num_workers": 0 | num_workers must be a whole number from 1 to 1024: "0"
      MooncakeConnector | "mooncake_protocol": "ib" | mooncake_protocol must be one of tcp, rdma, efa, cxi, ascend, ubshmem, sunrise_link, cxl, ub, nvlink_intra: "ib"
      MooncakeConnector | "bootstrap_server_address": "host" | bootstrap_server_address must be host:port: "host"
      MooncakeConnector | "bootstrap_server_address": "0.0.0.0:1" | bootstrap_server_address must be where the service is reached, not where it listens: "0.0.0.0:1"
      MooncakeConnector | "bootstrap_server_address": "h:99999" | bootstrap_server_address must be host, host:port or [IPv6]:port with a port of 1 to 65535: "h:99999"
      NixlConnector | "backends": [] | backends must name a plugin: []
      NixlConnector | "backends": "UCX" | backends must be a list: "UCX"
      NixlConnector | "backends": [""] | backends[0] must not be empty: ""
      NixlConnector | "kv_lease_duration": 0 | kv_lease_duration must be a number above 0: 0
      NixlConnector | "kv_lease_duration": 3601 | kv_lease_duration must be 0.001 to 3600, in seconds: 3601
      NixlConnector | "kv_lease_duration": 0.0005 | kv_lease_duration must be 0.001 to 3600, in seconds: 5.0E-4
      NixlConnector | "kv_lease_duration": 1e12 | kv_lease_duration must be at most a year, in seconds: 1.0E12
      """)
  @DisplayName("K9.10 K9.11 K9.13 a refused option is named with its path, its value and the rule")
  void refusals(String connector, String options, String message) {
    assertEquals("kv_connector_extra_config." + message,
        Thrown.message(IllegalArgumentException.class, () -> config(connector, options)));
  }

  @Test
  @DisplayName("options of another connector are not to be had")
  void otherConnector() {
    assertEquals("kv_connector must be MooncakeStoreConnector: \"NixlConnector\"",
        Thrown.message(IllegalStateException.class, () -> config("NixlConnector", "").storeOptions()));
    assertThrows(IllegalStateException.class, () -> config("MooncakeStoreConnector", "").mooncakeOptions());
    assertThrows(IllegalStateException.class, () -> KvTransferConfig.builder().build().nixlOptions());
  }

  @Test
  @DisplayName("an option that V25 would ignore is refused for it, read or written")
  void youngOptions() {
    KvTransferConfig young = config("MooncakeStoreConnector", "\"save_decode_cache\": true");
    String message = "kv_connector_extra_config.save_decode_cache must be absent, since vLLM 0.25 would ignore it: true";
    assertEquals(message, Thrown.message(IllegalArgumentException.class, () -> young.toMap(V25)));
    assertEquals(message, Thrown.message(IllegalArgumentException.class, () -> KvTransferConfig.fromMap(Map.of(
        "kv_connector", "MooncakeStoreConnector", "kv_role", "kv_both", "kv_connector_extra_config",
        Map.of("save_decode_cache", true)), V25)));
    KvTransferConfig multi = KvTransferConfig.builder().kvRole(KvRole.BOTH)
        .connectors(List.of(child("MooncakeConnector", Map.of("bootstrap_server_address", "h:1")))).build();
    assertTrue(Thrown.message(IllegalArgumentException.class, () -> multi.toJson(V25))
        .startsWith(
            "kv_connector_extra_config.connectors[0].kv_connector_extra_config.bootstrap_server_address must be"));
  }

  @Test
  @DisplayName("children of a MultiConnector are typed like the whole and share its identity")
  void children() {
    KvTransferConfig multi = KvTransferConfig.builder().engineId("engine-1").kvRole(KvRole.BOTH)
        .connectors(List.of(child("NixlConnector", Map.of()),
            child("MooncakeStoreConnector", Map.of("cache_prefix", "chat"))))
        .build();
    assertEquals(List.of("NixlConnector", "MooncakeStoreConnector"),
        multi.connectors().stream().map(child -> child.kvConnector().orElseThrow()).toList());
    assertEquals("chat", multi.connectors().getLast().storeOptions().cachePrefix());
    assertEquals("engine-1", multi.connectors().getFirst().engineId());
  }

  @Test
  @DisplayName("a violation in a child names the way to it")
  void childRefusals() {
    String second = "kv_connector_extra_config.connectors[1].";
    assertEquals(second + "kv_role must be kv_producer or kv_consumer or kv_both: \"both\"",
        refusedChild(Map.of("kv_connector", "NixlConnector", "kv_role", "both")));
    assertEquals(
        second + "kv_role must be kv_producer, kv_consumer or kv_both, since kv_connector is NixlConnector: absent",
        refusedChild(Map.of("kv_connector", "NixlConnector")));
    assertEquals(second + "engine_id must be absent: a child takes its parent's: \"mine\"",
        refusedChild(Map.of("kv_connector", "NixlConnector", "kv_role", "kv_both", "engine_id", "mine")));
    assertEquals(second + "kv_connector must name a connector: absent", refusedChild(Map.of("kv_role", "kv_both")));
    assertEquals(second + "kv_rank must be absent, since vLLM 0.33 has it no more: 0",
        refusedChild(Map.of("kv_connector", "NixlConnector", "kv_role", "kv_both", "kv_rank", 0)));
    assertEquals(second + "kv_connector_extra_config.num_threads must be a whole number from 1 to 1024: \"0\"",
        refusedChild(child("NixlConnector", Map.of("num_threads", 0))));
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"", "\"connectors\": []", "\"connectors\": {}", "\"connectors\": [1]", "\"child\": []"})
  @DisplayName("a MultiConnector has a list of connectors and nothing else")
  void noChildren(String options) {
    String thrown = Thrown.message(IllegalArgumentException.class, () -> config("MultiConnector", options));
    assertTrue(thrown.startsWith("kv_connector_extra_config.c"), thrown);
  }

  @Test
  @DisplayName("fields that a generation has no more are dropped in children too")
  void childrenWritten() {
    Map<String, Object> old = new HashMap<>(child("MooncakeConnector", Map.of("num_workers", 2)));
    old.put("kv_rank", 0);
    KvTransferConfig multi = KvTransferConfig.builder().kvRole(KvRole.BOTH).connectors(List.of(old)).build(V25);
    assertTrue(multi.toJson(V25).contains("\"kv_connector_extra_config\":{\"num_workers\":2}"));
    assertTrue(multi.extraConfig().toString().contains("kv_rank"));
    assertFalse(multi.toJson(V33).contains("kv_rank"));
    assertEquals(2, KvTransferConfig.fromJson(multi.toJson(V33), V33).connectors().getFirst().mooncakeOptions()
        .workers());
  }

  private static String refusedChild(Map<String, Object> second) {
    return Thrown.message(IllegalArgumentException.class, () -> KvTransferConfig.builder().kvRole(KvRole.BOTH)
        .connectors(List.of(child("MooncakeStoreConnector", Map.of()), second)).build());
  }

  private static Map<String, Object> child(String connector, Map<String, Object> extra) {
    return Map.of("kv_connector", connector, "kv_role", "kv_both", "kv_connector_extra_config", extra);
  }

  private static KvTransferConfig config(String connector, String options) {
    return KvTransferConfig.fromJson("""
        {"kv_connector": "%s", "kv_role": "kv_both", "kv_connector_extra_config": {%s}}""".formatted(connector,
        options), V33);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", "::", "::ffff:0.0.0.0", "[::]"})
  @DisplayName("K9.14 peers are told where this side listens, so that is one interface and never all of them")
  void wildcardHost(String host) {
    P2pOptions options = P2pOptions.loopback("a layout");
    assertEquals("host must be an interface's own, at which peers reach it, not all of them: \"" + host + '"',
        Thrown.message(IllegalArgumentException.class, () -> options.withBootstrap(host, 0)));
  }
}

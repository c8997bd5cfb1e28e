package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.testing.Thrown;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrefillDecodeSettingsTest {
  private static final String NIXL = "{\"kv_transfer_config\": {\"kv_connector\": \"NixlConnector\"}}";

  @Test
  @DisplayName("S3.1 prefill and decode settings differ by role; the rest of each is passed on as it is")
  void roles() {
    PrefillDecodeSettings settings = read("""
        "enable_pd": true, "num_engines": 3, "num_prefill": 1, "data_parallel_size": 2,
        "prefill_init_kwargs": {"all2all_backend": "high_throughput", "nested": {"a": [1]},
          "kv_transfer_config": {"kv_connector": "MooncakeConnector", "kv_role": "kv_producer"}},
        "decode_init_kwargs": {"all2all_backend": "low_latency",
          "kv_transfer_config": {"kv_connector": "MooncakeConnector", "kv_role": "kv_consumer"}},
        "router_init_kwargs": {"port": 8090}""");
    assertEquals(Map.of("all2all_backend", "high_throughput", "nested", Map.of("a", List.of(1L))),
        settings.prefill().engineSettings());
    assertEquals(Map.of("all2all_backend", "low_latency"), settings.decode().engineSettings());
    assertEquals(Optional.of(KvRole.PRODUCER), settings.prefill().kvTransferConfig().kvRole());
    assertEquals(Optional.of(KvRole.CONSUMER), settings.decode().kvTransferConfig().kvRole());
    assertEquals(P2pConnector.MOONCAKE, settings.p2p());
    assertEquals(new BootstrapPorts(5600, 1, 2, 2), settings.ports(BootstrapPorts.BASE));
    assertEquals(Map.of("port", 8090L), settings.routerSettings());
  }

  @Test
  @DisplayName("S3.1 without settings of a role, both take the common ones; sizes have defaults")
  void common() {
    PrefillDecodeSettings settings = read("""
        "enable_pd": true, "engine_init_kwargs": {"dtype": "bfloat16",
          "kv_transfer_config": {"kv_connector": "NixlConnector", "engine_id": "e"}}""");
    assertEquals(settings.prefill(), settings.decode());
    assertEquals(Map.of("dtype", "bfloat16"), settings.prefill().engineSettings());
    assertEquals(new BootstrapPorts(5600, 1, 1, 1), settings.ports(BootstrapPorts.BASE));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      "prefill_init_kwargs": N, "decode_init_kwargs": N | enable_pd must be true, since prefill_init_kwargs is set: absent
      "enable_pd": false, "decode_init_kwargs": N | enable_pd must be true, since decode_init_kwargs is set: false
      "engine_init_kwargs": N | enable_pd must be true for prefill and decode engines: absent
      "enable_pd": true, "prefill_init_kwargs": N, "decode_init_kwargs": N, "engine_init_kwargs": {"a": 1} | engine_init_kwargs must be absent beside prefill_init_kwargs and decode_init_kwargs, which replace it: {a=1}
      "enable_pd": true, "prefill_init_kwargs": N | decode_init_kwargs must be set as well, since prefill_init_kwargs is: absent
      "enable_pd": true, "decode_init_kwargs": N, "prefill_init_kwargs": {} | prefill_init_kwargs must be set as well, since decode_init_kwargs is: {}
      "enable_pd": true, "prefill_init_kwargs": N, "decode_init_kwargs": {"a": 1} | decode_init_kwargs.kv_transfer_config must be set: absent
      "enable_pd": true, "prefill_init_kwargs": {"kv_transfer_config": null}, "decode_init_kwargs": N | prefill_init_kwargs.kv_transfer_config must be set: null
      "enable_pd": true | engine_init_kwargs.kv_transfer_config must be set: absent
      "enable_pd": true, "prefill_init_kwargs": N, "decode_init_kwargs": {"kv_transfer_config": 7} | decode_init_kwargs.kv_transfer_config must be a map, JSON text or a KvTransferConfig: java.lang.Integer
      "enable_pd": true, "prefill_init_kwargs": N, "decode_init_kwargs": {"kv_transfer_config": "{"} | decode_init_kwargs.kv_transfer_config must be one JSON object
      "enable_pd": true, "prefill_init_kwargs": N, "decode_init_kwargs": {"kv_transfer_config": {"kv_connector": "NixlConnector", "kv_role": "x"}} | decode_init_kwargs.kv_transfer_config.kv_role must be kv_producer or kv_consumer or kv_both: "x"
      "enable_pd": true, "engine_init_kwargs": {"kv_transfer_config": {}} | engine_init_kwargs.kv_transfer_config.kv_connector must be NixlConnector or MooncakeConnector, or a MultiConnector with exactly one of them: null
      "enable_pd": true, "prefill_init_kwargs": N, "decode_init_kwargs": {"kv_transfer_config": {"kv_connector": "MooncakeConnector"}} | decode_init_kwargs.kv_transfer_config.kv_connector must move KV as prefill does, by NixlConnector: "MooncakeConnector"
      "enable_pd": true, "engine_init_kwargs": {"kv_transfer_config": {"kv_connector": "NixlConnector", "kv_role": "kv_consumer"}} | engine_init_kwargs.kv_transfer_config.kv_role must be kv_producer or kv_both for prefill: "kv_consumer"
      "enable_pd": true, "engine_init_kwargs": {"kv_transfer_config": {"kv_connector": "NixlConnector", "kv_role": "kv_producer"}} | engine_init_kwargs.kv_transfer_config.kv_role must be kv_consumer or kv_both for decode: "kv_producer"
      "enable_pd": true, "engine_init_kwargs": N, "num_engines": 1 | num_engines must be a whole number from 2 to 65536: "1"
      "enable_pd": true, "engine_init_kwargs": N, "num_engines": 2, "num_prefill": 2 | num_prefill must be a whole number from 1 to 1: "2"
      "enable_pd": true, "engine_init_kwargs": N, "num_prefill": 0 | num_prefill must be a whole number from 1 to 1: "0"
      "enable_pd": true, "engine_init_kwarg": N | engine_init_kwarg must be absent (unknown field "engine_init_kwarg"; did you mean "engine_init_kwargs"?)
      "enable_pd": true, "prefill_init_kwargs": [] | prefill_init_kwargs must be a map: []
      """)
  @DisplayName("S3.1 a violation names the field, its value and the rule")
  void refusals(String fields, String message) {
    String thrown = Thrown.message(IllegalArgumentException.class, () -> read(fields.replace("N,", NIXL + ',')
        .replaceFirst("N$", NIXL)));
    assertTrue(thrown.startsWith(message), thrown);
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"kv_producer", "kv_both"})
  @DisplayName("S3.2 kv_role defaults to kv_both, for the children of a MultiConnector to the parent's; a given one is kept")
  void roleDefault(String given) {
    PrefillDecodeSettings settings = read("""
        "enable_pd": true,
        "prefill_init_kwargs": {"kv_transfer_config": {"kv_connector": "MultiConnector", "kv_role": "%s",
          "kv_connector_extra_config": {"connectors": [{"kv_connector": "NixlConnector"},
            {"kv_connector": "MooncakeStoreConnector", "kv_role": "kv_consumer"}]}}},
        "decode_init_kwargs": {"kv_transfer_config": {"kv_connector": "NixlConnector"}}""".formatted(given));
    assertEquals(KvRole.BOTH, settings.decode().kvTransferConfig().kvRole().orElseThrow());
    KvTransferConfig prefill = settings.prefill().kvTransferConfig();
    assertEquals(given, prefill.kvRole().orElseThrow().toString());
    assertEquals(List.of(given, "kv_consumer"),
        prefill.connectors().stream().map(child -> child.kvRole().orElseThrow().toString()).toList());
  }

  @Test
  @DisplayName("S1.1 a kv_transfer_config in the settings may be a map, JSON text or a typed value, which stays the same")
  void anyForm() {
    KvTransferConfig typed = KvTransferConfig.builder().kvConnector("NixlConnector").kvRole(KvRole.PRODUCER).build();
    PrefillDecodeSettings settings = PrefillDecodeSettings.fromMap(Map.of("enable_pd", true, "prefill_init_kwargs",
        Map.of("kv_transfer_config", typed), "decode_init_kwargs",
        Map.of("kv_transfer_config", "{\"kv_connector\": \"NixlConnector\", \"engine_id\": \"d\"}")),
        EngineGeneration.V33);
    assertSame(typed, settings.prefill().kvTransferConfig());
    assertEquals("d", settings.decode().kvTransferConfig().engineId());
  }

  @Test
  @DisplayName("S3.1 the source is not touched")
  void sourceUntouched() {
    Map<String, Object> config = new HashMap<>(Map.of("kv_connector", "NixlConnector"));
    Map<String, Object> source = Map.of("enable_pd", true, "engine_init_kwargs", Map.of("kv_transfer_config", config));
    PrefillDecodeSettings.fromMap(source, EngineGeneration.V33);
    assertEquals(Map.of("kv_connector", "NixlConnector"), config);
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"NixlConnector", "MooncakeConnector"})
  @DisplayName("S3.3 the P2P connector stands alone, or once among any number of stores")
  void p2p(String name) {
    String connector = P2pConnector.of(KvTransferConfig.builder().kvConnector(name).kvRole(KvRole.BOTH).build())
        .connectorName();
    assertEquals(name, connector);
    for (List<String> children : List.of(List.of(name), List.of(name, "MooncakeStoreConnector"),
        List.of("LMCacheConnectorV1", "MooncakeStoreConnector", name, "OffloadingConnector"))) {
      assertEquals(name, P2pConnector.of(multi(children)).connectorName());
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      MooncakeStoreConnector | kv_connector_extra_config.connectors must have one of NixlConnector or MooncakeConnector among them: [MooncakeStoreConnector]
      NixlConnector NixlConnector | kv_connector_extra_config.connectors[1].kv_connector must be a store connector, since a child before it moves KV: "NixlConnector"
      NixlConnector MooncakeConnector | kv_connector_extra_config.connectors[1].kv_connector must be a store connector, since a child before it moves KV: "MooncakeConnector"
      MooncakeConnector MoRIIOConnector | kv_connector_extra_config.connectors[1].kv_connector must be NixlConnector or MooncakeConnector, or a store connector: "MoRIIOConnector"
      """)
  @DisplayName("S3.3 none, two or an unknown one among the children is refused")
  void p2pRefusals(String children, String message) {
    assertEquals(message,
        Thrown.message(IllegalArgumentException.class, () -> P2pConnector.of(multi(List.of(children.split(" ", -1))))));
  }

  @Test
  @DisplayName("S3.3 a bare connector that is not P2P is refused")
  void bareStore() {
    assertEquals(
        "kv_connector must be NixlConnector or MooncakeConnector, or a MultiConnector with exactly one of them: "
            + "\"MooncakeStoreConnector\"",
        Thrown.message(IllegalArgumentException.class, () -> P2pConnector.of(KvTransferConfig.builder()
            .kvConnector("MooncakeStoreConnector").kvRole(KvRole.BOTH).build())));
  }

  private static KvTransferConfig multi(List<String> children) {
    return KvTransferConfig.builder().kvRole(KvRole.BOTH)
        .connectors(children.stream().map(name -> Map.of("kv_connector", name, "kv_role", "kv_both")).toList()).build();
  }

  private static PrefillDecodeSettings read(String fields) {
    return PrefillDecodeSettings.fromJson('{' + fields + '}', EngineGeneration.V33);
  }
}

package dev.gatun.connector;

import static dev.gatun.connector.EngineGeneration.V25;
import static dev.gatun.connector.EngineGeneration.V33;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.testing.Thrown;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class KvTransferConfigTest {
  private static final Map<String, Object> STORE = Map.of("kv_connector", "MooncakeStoreConnector", "kv_role",
      "kv_both", "engine_id", "engine-1");
  private static final String STORE_JSON = """
      {"kv_connector": "MooncakeStoreConnector", "kv_role": "kv_both", "engine_id": "engine-1"}""";

  @Test
  @DisplayName("S1.1 map, JSON text and builder give the same typed value")
  void everyPath() {
    KvTransferConfig built = KvTransferConfig.builder().kvConnector("MooncakeStoreConnector").kvRole(KvRole.BOTH)
        .engineId("engine-1").build();
    assertEquals(built, KvTransferConfig.from(STORE));
    assertEquals(built, KvTransferConfig.from(STORE_JSON));
    assertEquals(built.hashCode(), KvTransferConfig.from(STORE_JSON).hashCode());
    assertNotEquals(built, KvTransferConfig.builder().build());
  }

  @Test
  @DisplayName("S1.1 a typed value passes through unchanged; what is neither typed, map nor text is refused")
  void passesThrough() {
    KvTransferConfig typed = KvTransferConfig.from(STORE);
    assertSame(typed, KvTransferConfig.from(typed));
    assertEquals("kv_transfer_config must be a map, JSON text or a KvTransferConfig: java.lang.Integer",
        Thrown.message(IllegalArgumentException.class, () -> KvTransferConfig.from(7)));
  }

  @Test
  @DisplayName("S1.8 kv_connector MooncakeStoreConnector with kv_role kv_both, everything else at vLLM's defaults")
  void defaults() {
    KvTransferConfig config = KvTransferConfig.fromJson("""
        {"kv_connector": "MooncakeStoreConnector", "kv_role": "kv_both"}""", V33);
    assertEquals(Optional.of("MooncakeStoreConnector"), config.kvConnector());
    assertEquals(Optional.of(KvRole.BOTH), config.kvRole());
    assertTrue(config.produces() && config.consumes());
    assertEquals(4, UUID.fromString(config.engineId()).version());
    assertEquals("cuda", config.kvBufferDevice());
    assertEquals(14_579, config.kvPort());
    assertEquals(Map.of(), config.extraConfig());
    assertEquals(Optional.empty(), config.modulePath());
    assertFalse(config.enablePermuteLocalKv());
    assertEquals(LoadFailurePolicy.FAIL, config.loadFailurePolicy());
    assertEquals(1e9, config.kvBufferSize());
    assertEquals(OptionalInt.empty(), config.kvRank());
    assertEquals(1, config.kvParallelSize());
    assertEquals("127.0.0.1", config.kvIp());
    assertEquals(List.of(), config.connectors());
  }

  @Test
  @DisplayName("two engines without engine_id differ; data-parallel ranks of one engine as vLLM names them")
  void identity() {
    assertNotEquals(KvTransferConfig.builder().build().engineId(), KvTransferConfig.builder().build().engineId());
    KvTransferConfig config = KvTransferConfig.builder().engineId("engine-1").build();
    assertEquals("engine-1_dp3", config.engineId(3));
    assertEquals("rank must be 0 or more: -1",
        Thrown.message(IllegalArgumentException.class, () -> config.engineId(-1)));
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(KvRole.class)
  @DisplayName("producers are kv_producer and kv_both, consumers kv_consumer and kv_both; without a connector nobody")
  void roles(KvRole role) {
    KvTransferConfig config = KvTransferConfig.builder().kvConnector("NixlConnector").kvRole(role).build();
    assertEquals(role != KvRole.CONSUMER, config.produces());
    assertEquals(role != KvRole.PRODUCER, config.consumes());
    KvTransferConfig alone = KvTransferConfig.builder().kvRole(role).build();
    assertFalse(alone.produces() || alone.consumes());
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      "kv_connector": "NixlConnector"                     | kv_role must be kv_producer, kv_consumer or kv_both, since kv_connector is NixlConnector: absent
      "kv_role": "both"                                   | kv_role must be kv_producer or kv_consumer or kv_both: "both"
      "kv_role": 1                                        | kv_role must be text: 1
      "kv_connector": "Nope", "kv_role": "kv_both"        | kv_connector must be known or come with kv_connector_module_path (unknown connector "Nope"; known:
      "kv_connector": "NixlConector", "kv_role": "kv_both" | did you mean "NixlConnector"?): "NixlConector"
      "kv_connector": "", "kv_role": "kv_both"            | kv_connector must not be empty: ""
      "foo": 1                                            | foo must be absent (unknown field "foo"; known:
      "kv_rol": "kv_both"                                 | kv_rol must be absent (unknown field "kv_rol"; did you mean "kv_role"?): "kv_both"
      "kv_load_failure_policy": "retry"                   | kv_load_failure_policy must be recompute or fail: "retry"
      "engine_id": " "                                    | engine_id must not be empty: " "
      "kv_port": 0                                        | kv_port must be a whole number from 1 to 65535: "0"
      "kv_port": "12abc"                                  | kv_port must be a whole number from 1 to 65535: "12abc"
      "kv_port": ""                                       | kv_port must be a whole number from 1 to 65535: ""
      "kv_port": " 7 "                                    | kv_port must be a whole number from 1 to 65535: " 7 "
      "kv_port": 99999999999                              | kv_port must be a whole number from 1 to 65535: "99999999999"
      "kv_port": 80.5                                     | kv_port must be a whole number from 1 to 65535: 80.5
      "kv_port": null                                     | kv_port must be a whole number from 1 to 65535: null
      "enable_permute_local_kv": "maybe"                  | enable_permute_local_kv must be true, yes, on, 1, false, no, off or 0: "maybe"
      "kv_connector_module_path": ""                      | kv_connector_module_path must not be empty: ""
      "kv_connector_module_path": "a.b"                   | kv_connector must name the class in kv_connector_module_path a.b: absent
      "kv_connector_extra_config": []                     | kv_connector_extra_config must be a map: []
      "kv_buffer_device": "a\\u0000b"                     | kv_buffer_device must be text without NUL: "a\\0b"
      """)
  @DisplayName("S1.1 K9.10 K9.11 K9.13 a violation names the field, its value and the rule")
  void refusals(String fields, String message) {
    String thrown = Thrown.message(IllegalArgumentException.class,
        () -> KvTransferConfig.fromJson('{' + fields + '}', V33));
    assertTrue(thrown.contains(message), thrown);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"false,false", "False,false", "0,false", "no,false", "off,false", "true,true", "1,true"})
  @DisplayName("K9.09 truth values that came as text mean what they say")
  void truth(String text, boolean value) {
    assertEquals(value, KvTransferConfig.builder().set("enable_permute_local_kv", text).build().enablePermuteLocalKv());
  }

  @Test
  @DisplayName("a port that came as text is a port, as in vLLM")
  void portAsText() {
    assertEquals(14_580, KvTransferConfig.from("{\"kv_port\": \"14580\"}").kvPort());
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      {"kv_port": 1, "kv_port": 2} | kv_transfer_config must be one JSON object: Duplicate field 'kv_port' at line 1
      {"kv_port": 1} {}            | kv_transfer_config must be one JSON object
      {"kv_port": 1,}              | at line 1, column
      [1]                          | kv_transfer_config must be one JSON object: "[1]"
      ''                           | kv_transfer_config must be one JSON object
      """)
  @DisplayName("JSON that is broken, ambiguous or no object is refused with the place")
  void brokenJson(String json, String message) {
    String thrown = Thrown.message(IllegalArgumentException.class, () -> KvTransferConfig.fromJson(json, V33));
    assertTrue(thrown.contains(message), thrown);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"kv_buffer_size,1e9", "kv_rank,0", "kv_parallel_size,2", "kv_ip,127.0.0.1"})
  @DisplayName("S1.1 V25 has four fields that V33 refuses when it reads and drops when it writes")
  void removedFields(String field, String value) {
    assertEquals(field + " must be absent, since vLLM 0.33 has it no more: \"" + value + '"',
        Thrown.message(IllegalArgumentException.class,
            () -> KvTransferConfig.fromMap(Map.of(field, value), V33)));
    KvTransferConfig old = KvTransferConfig.fromMap(Map.of(field, value), V25);
    assertTrue(old.toMap(V25).containsKey(field));
    assertFalse(old.toMap(V33).containsKey(field));
    assertEquals(old.toMap(V33), KvTransferConfig.fromMap(old.toMap(V33), V33).toMap(V33));
  }

  @Test
  @DisplayName("V25 checks the fields that only it has")
  void v25Fields() {
    KvTransferConfig config = KvTransferConfig.builder().set("kv_buffer_size", 2e9).set("kv_rank", 1)
        .set("kv_parallel_size", 2).set("kv_ip", "10.0.0.1").build(V25);
    assertEquals(2e9, config.kvBufferSize());
    assertEquals(OptionalInt.of(1), config.kvRank());
    assertEquals(2, config.kvParallelSize());
    assertEquals("10.0.0.1", config.kvIp());
    assertEquals("kv_rank must be a whole number from 0 to 1: \"2\"",
        Thrown.message(IllegalArgumentException.class,
            () -> KvTransferConfig.builder().set("kv_rank", 2).set("kv_parallel_size", 2).build(V25)));
    for (Object size : new Object[]{0, -1.5, "Infinity", "1d", "NaN"}) {
      String thrown = Thrown.message(IllegalArgumentException.class,
          () -> KvTransferConfig.builder().set("kv_buffer_size", size).build(V25));
      assertTrue(thrown.startsWith("kv_buffer_size must be a number"), thrown);
    }
  }

  @Test
  @DisplayName("nothing that the caller does to the source changes the value, and the value gives out nothing to change")
  void immutable() {
    List<Object> sizes = new ArrayList<>(List.of(4));
    Map<String, Object> extra = new HashMap<>(Map.of("prefill_tp_sizes", sizes));
    Map<String, Object> source = new HashMap<>(STORE);
    source.put("kv_connector_extra_config", extra);
    KvTransferConfig config = KvTransferConfig.fromMap(source, V33);
    sizes.add(8);
    extra.put("load_async", false);
    source.clear();
    assertEquals(Map.of("prefill_tp_sizes", List.of(4L)), config.extraConfig());
    assertThrows(UnsupportedOperationException.class, () -> config.extraConfig().put("cache_prefix", "x"));
    assertThrows(UnsupportedOperationException.class, () -> config.toMap(V33).put("kv_port", 1));
    assertThrows(UnsupportedOperationException.class, () -> config.connectors().clear());
    List<?> kept = (List<?>) Objects.requireNonNull(config.extraConfig().get("prefill_tp_sizes"));
    assertThrows(UnsupportedOperationException.class, kept::clear);
  }

  @Test
  @DisplayName("values that are no plain data are refused with their path, a map that contains itself too")
  void plainData() {
    Map<String, Object> extra = new HashMap<>();
    extra.put("list", List.of(1, Map.of("deep", new Object())));
    String thrown = Thrown.message(IllegalArgumentException.class,
        () -> KvTransferConfig.builder().extraConfig(extra).build());
    assertEquals("kv_connector_extra_config.list[1].deep must be text, a number, true, false, null, a list or a map: "
        + "java.lang.Object", thrown);
    extra.put("list", extra);
    assertTrue(Thrown.message(IllegalArgumentException.class,
        () -> KvTransferConfig.builder().extraConfig(extra).build()).contains("must not nest deeper than 32 levels"));
    Map<Object, Object> odd = new LinkedHashMap<>();
    odd.put(1, 2);
    assertEquals("field names must be text: 1",
        Thrown.message(IllegalArgumentException.class, () -> KvTransferConfig.from(odd)));
    assertEquals("kv_connector_extra_config.x must be a finite number of 64 bits: NaN",
        Thrown.message(IllegalArgumentException.class,
            () -> KvTransferConfig.builder().extraConfig(Map.of("x", Double.NaN)).build()));
  }

  @Test
  @DisplayName("a connector with a module of its own has options of its own")
  void modulePath() {
    KvTransferConfig config = KvTransferConfig.builder().kvConnector("MooncakeConnector").kvRole(KvRole.PRODUCER)
        .modulePath("mooncake.mooncake_connector_v1").extraConfig(Map.of("whatever", true)).build(V25);
    assertEquals(Optional.of("mooncake.mooncake_connector_v1"), config.modulePath());
    assertEquals(Map.of("whatever", true), config.toMap(V25).get("kv_connector_extra_config"));
  }

  @Test
  @DisplayName("what is printed is the effective configuration")
  void printed() {
    assertEquals(KvTransferConfig.from(STORE).toJson(V25), KvTransferConfig.from(STORE).toString());
    assertTrue(KvTransferConfig.from(STORE).toJson(V33).startsWith(
        "{\"kv_connector\":\"MooncakeStoreConnector\",\"engine_id\":\"engine-1\",\"kv_buffer_device\":\"cuda\","));
  }
}

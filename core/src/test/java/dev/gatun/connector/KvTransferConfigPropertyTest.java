package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/** Whatever is valid survives every way of writing and reading it, and whatever is not ends in a refusal by name. */
class KvTransferConfigPropertyTest {

  @Property
  @Label("S1.1 what a generation writes as a map or JSON it reads as the same value")
  void roundTrips(@ForAll("configs") Map<String, @Nullable Object> fields, @ForAll EngineGeneration generation) {
    KvTransferConfig config = KvTransferConfig.fromMap(fields, EngineGeneration.V33);
    assertEquals(config, KvTransferConfig.fromMap(config.toMap(generation), generation));
    assertEquals(config, KvTransferConfig.fromJson(config.toJson(generation), generation));
    assertEquals(config.toJson(generation),
        KvTransferConfig.fromJson(config.toJson(generation), generation).toJson(generation));
    assertEquals(config.connectors(), KvTransferConfig.fromMap(config.toMap(generation), generation).connectors());
  }

  @Property
  @Label("S1.1 the builder and the map it stands for give the same value")
  void builderIsTheMap(@ForAll("configs") Map<String, @Nullable Object> fields) {
    KvTransferConfigBuilder builder = KvTransferConfig.builder();
    fields.forEach(builder::set);
    assertEquals(KvTransferConfig.from(fields), builder.build());
  }

  @Property
  @Label("S1.1 any value in any field is taken or refused with the field's name, never anything else")
  void anyValue(@ForAll("configs") Map<String, @Nullable Object> fields, @ForAll("names") String field,
      @ForAll("values") Object value) {
    Map<String, @Nullable Object> changed = new LinkedHashMap<>(fields);
    changed.put(field, value);
    try {
      KvTransferConfig config = KvTransferConfig.fromMap(changed, EngineGeneration.V25);
      assertEquals(config, KvTransferConfig.fromMap(config.toMap(EngineGeneration.V25), EngineGeneration.V25));
    } catch (IllegalArgumentException e) {
      assertTrue(
          String.valueOf(e.getMessage()).matches("(?s)(kv_|engine_id|enable_permute_local_kv).* (must|is) .*: .*"),
          e.getMessage());
    }
  }

  @Provide
  Arbitrary<String> names() {
    return Arbitraries.of("kv_connector", "engine_id", "kv_buffer_device", "kv_buffer_size", "kv_role", "kv_rank",
        "kv_parallel_size", "kv_ip", "kv_port", "kv_connector_extra_config", "kv_connector_module_path",
        "enable_permute_local_kv", "kv_load_failure_policy");
  }

  @Provide
  Arbitrary<Object> values() {
    Arbitrary<Object> plain = Arbitraries.oneOf(Arbitraries.strings().ofMaxLength(5), Arbitraries.longs(),
        Arbitraries.doubles(), Arbitraries.of(true, false, "kv_both", "MultiConnector", "fail", "1"));
    Arbitrary<Object> nested = Arbitraries.maps(Arbitraries.of("connectors", "backends", "num_workers", "cache_prefix"),
        Arbitraries.oneOf(plain, plain.list().ofMaxSize(2))).ofMaxSize(3).map(map -> map);
    return Arbitraries.oneOf(plain, plain.list().ofMaxSize(2).map(list -> list), nested);
  }

  @Provide
  Arbitrary<Map<String, @Nullable Object>> configs() {
    return Combinators.combine(connectors(), Arbitraries.strings().alpha().ofMinLength(1).ofMaxLength(8),
        Arbitraries.integers().between(1, 65_535), Arbitraries.of(true, false),
        Arbitraries.of("fail", "recompute", null)).as((connector, engine, port, permute, policy) -> {
          Map<String, @Nullable Object> fields = new LinkedHashMap<>(connector);
          fields.put("engine_id", engine);
          fields.put("kv_port", port);
          fields.put("enable_permute_local_kv", permute);
          fields.put("kv_load_failure_policy", policy);
          return fields;
        });
  }

  private static Arbitrary<Map<String, Object>> connectors() {
    Arbitrary<Map<String, Object>> multi = single().list().ofMinSize(1).ofMaxSize(4)
        .map(children -> with("MultiConnector", "kv_both", Map.of("connectors", new ArrayList<Object>(children))));
    return Arbitraries.oneOf(single(), multi);
  }

  private static Arbitrary<Map<String, Object>> single() {
    Arbitrary<String> role = Arbitraries.of(KvRole.values()).map(KvRole::toString);
    Arbitrary<Integer> number = Arbitraries.integers().between(1, 1000);
    return Arbitraries.oneOf(
        Combinators.combine(role, Arbitraries.strings().alpha().ofMaxLength(5), Arbitraries.of(true, false))
            .as((kvRole, prefix, async) -> with("MooncakeStoreConnector", kvRole,
                Map.of("cache_prefix", prefix, "lookup_async", async))),
        Combinators.combine(role, number, Arbitraries.of("tcp", "RDMA")).as((kvRole, workers,
            protocol) -> with("MooncakeConnector", kvRole,
                Map.of("num_workers", workers, "mooncake_protocol", protocol))),
        Combinators.combine(role, number, Arbitraries.doubles().between(0.5, 1000)).as((kvRole, threads,
            lease) -> with("NixlConnector", kvRole,
                Map.of("num_threads", threads, "kv_lease_duration", lease, "backends", List.of("UCX")))));
  }

  private static Map<String, Object> with(String connector, String role, Map<String, Object> extra) {
    return Map.of("kv_connector", connector, "kv_role", role, "kv_connector_extra_config", extra);
  }
}

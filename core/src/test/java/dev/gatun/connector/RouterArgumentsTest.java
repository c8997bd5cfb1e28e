package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.testing.Thrown;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the router is told: ports and arguments. */
class RouterArgumentsTest {
  private static final List<String> PREFILL = List.of("http://p0:8000", "http://p1:8000");
  private static final List<String> DECODE = List.of("http://d0:8000");

  @Test
  @DisplayName("S3.5 base + i * serversPerGroup + j for prefill server j of group i; decode goes on after prefill")
  void ports() {
    BootstrapPorts ports = new BootstrapPorts(5600, 2, 1, 4);
    assertEquals(5600, ports.prefill(0, 0));
    assertEquals(5607, ports.prefill(1, 3));
    assertEquals(5608, ports.decode(0, 0));
    assertEquals(5611, ports.decode(0, 3));
    assertEquals(List.of(5600, 5601, 5602, 5603, 5604, 5605, 5606, 5607),
        Arrays.stream(ports.prefill()).boxed().toList());
    assertThrows(IndexOutOfBoundsException.class, () -> ports.prefill(2, 0));
    assertThrows(IndexOutOfBoundsException.class, () -> ports.decode(0, 4));
  }

  @Property
  @Label("S3.5 every server has a port of its own, and the router's list is the prefill servers' in their order")
  void portsDiffer(@ForAll @IntRange(min = 1, max = 20_000) int base, @ForAll @IntRange(min = 1, max = 9) int prefill,
      @ForAll @IntRange(min = 1, max = 9) int decode, @ForAll @IntRange(min = 1, max = 9) int servers) {
    BootstrapPorts ports = new BootstrapPorts(base, prefill, decode, servers);
    int[] bySlot = IntStream.range(0, prefill * servers).map(n -> ports.prefill(n / servers, n % servers)).toArray();
    assertEquals(Arrays.toString(bySlot), Arrays.toString(ports.prefill()));
    IntStream decodes = IntStream.range(0, decode * servers).map(n -> ports.decode(n / servers, n % servers));
    assertEquals((prefill + decode) * servers,
        IntStream.concat(IntStream.of(bySlot), decodes).boxed().collect(Collectors.toSet()).size());
  }

  @ParameterizedTest(name = "{0} {1} {2} {3}")
  @CsvSource(delimiter = '|', textBlock = """
      0     | 1 | 1 | 1 | base must be 1 to 65535: 0
      5600  | 0 | 1 | 1 | prefillGroups must be 1 to 65535: 0
      5600  | 1 | -1 | 1 | decodeGroups must be 1 to 65535: -1
      5600  | 1 | 1 | 0 | serversPerGroup must be 1 to 65535: 0
      65534 | 1 | 1 | 2 | base must leave room for 2 groups of 2 servers below 65536: 65534
      5600  | 65535 | 65535 | 65535 | base must leave room for 131070 groups of 65535 servers below 65536: 5600
      """)
  @DisplayName("S3.5 ports that do not fit are refused")
  void portRefusals(int base, int prefill, int decode, int servers, String message) {
    assertEquals(message, Thrown.message(IllegalArgumentException.class,
        () -> new BootstrapPorts(base, prefill, decode, servers)));
  }

  @Test
  @DisplayName("S3.5 an engine is told its port through the environment that vLLM reads")
  void portVariables() {
    assertEquals(Map.of("VLLM_MOONCAKE_BOOTSTRAP_PORT", "5600"), P2pConnector.MOONCAKE.environment(5600));
    assertEquals(Map.of("VLLM_NIXL_SIDE_CHANNEL_PORT", "5601"), P2pConnector.NIXL.environment(5601));
  }

  @Test
  @DisplayName("S3.6 Mooncake: each prefill URL with its bootstrap port and kv_connector=mooncake")
  void mooncake() {
    RouterArguments arguments = RouterArguments.prefillDecode(P2pConnector.MOONCAKE, PREFILL, new int[]{5600, 5601},
        DECODE);
    assertEquals(List.of(List.of("http://p0:8000", 5600), List.of("http://p1:8000", 5601)),
        arguments.toMap().get("prefill_urls"));
    assertEquals("mooncake", arguments.toMap().get("kv_connector"));
    assertEquals(true, arguments.toMap().get("vllm_pd_disaggregation"));
    assertEquals("--vllm-pd-disaggregation --kv-connector mooncake --prefill http://p0:8000 5600 "
        + "--prefill http://p1:8000 5601 --decode http://d0:8000", beforeOptions(arguments));
    assertTrue(arguments.toJson().contains("\"prefill_urls\":[[\"http://p0:8000\",5600]"), arguments.toJson());
  }

  @Test
  @DisplayName("S3.6 NIXL has no bootstrap port")
  void nixl() {
    RouterArguments arguments = RouterArguments.prefillDecode(P2pConnector.NIXL, PREFILL, new int[0], DECODE);
    assertEquals(List.of(Arrays.asList("http://p0:8000", null), Arrays.asList("http://p1:8000", null)),
        arguments.toMap().get("prefill_urls"));
    assertEquals("--vllm-pd-disaggregation --kv-connector nixl --prefill http://p0:8000 none "
        + "--prefill http://p1:8000 none --decode http://d0:8000", beforeOptions(arguments));
  }

  @Test
  @DisplayName("S3.6 counts that do not match and addresses that are none are refused")
  void refusals() {
    assertEquals("bootstrapPorts must be one for each of 2 prefillUrls: [5600]",
        refused(P2pConnector.MOONCAKE, PREFILL, DECODE, 5600));
    assertEquals("bootstrapPorts must be none with NIXL: [5600, 5601]",
        refused(P2pConnector.NIXL, PREFILL, DECODE, 5600, 5601));
    assertEquals("bootstrapPorts[1] must be 1 to 65535: 0", refused(P2pConnector.MOONCAKE, PREFILL, DECODE, 5600, 0));
    assertEquals("prefillUrls must not be empty: []", refused(P2pConnector.NIXL, List.of(), DECODE));
    assertEquals("decodeUrls must not be empty: []", refused(P2pConnector.NIXL, PREFILL, List.of()));
    assertEquals("decodeUrls[1] must be http://host:port, https:// or grpc://: \"d1:8000\"",
        refused(P2pConnector.NIXL, PREFILL, List.of("http://d0:8000", "d1:8000")));
  }

  @Test
  @DisplayName("S3.6 other options of the router by its own names, the last word theirs")
  void options() {
    RouterArguments arguments = RouterArguments.prefillDecode(P2pConnector.NIXL, PREFILL, new int[0], DECODE)
        .with(Map.of("policy", "round_robin")).with(Map.of("port", "8090")).with(Map.of("cache_threshold", 0.5))
        .with(Map.of("disable_retries", true)).with(Map.of("enable_igw", false))
        .with(Map.of("request_id_headers", List.of("a", "b"))).with(Map.of("pd_kv_events", List.of("x=y", "z=w")))
        .with(Map.of("wasm_middleware_routes", List.of("/r")));
    String words = String.join(" ", arguments.commandLine());
    assertTrue(words.endsWith("--port 8090 --cache-threshold 0.5 --disable-retries --request-id-headers a b "
        + "--pd-kv-events x=y --pd-kv-events z=w --wasm-middleware-route /r"), words);
    assertTrue(words.contains(
        "--policy round_robin --prefill-policy consistent_hash --decode-policy consistent_hash --port 8090"), words);
    assertEquals(8090L, arguments.toMap().get("port"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      port | 0 | port must be a whole number from 1 to 65535: "0"
      policy | best | policy must be one of cache_aware, consistent_hash, kv_aware, power_of_two, random, round_robin, sticky_least_loaded: "best"
      log_level | loud | log_level must be one of critical, debug, error, info, warning: "loud"
      cache_threshold | x | cache_threshold must be a number: "x"
      disable_retries | maybe | disable_retries must be true, yes, on, 1, false, no, off or 0: "maybe"
      kv_connector | nixl | kv_connector must be absent, since the servers decide it: "nixl"
      polcy | random | polcy must be absent (unknown field "polcy"; did you mean "policy"?): "random"
      """)
  @DisplayName("S3.6 an option that the router would refuse is refused with its name, value and rule")
  void optionRefusals(String name, String value, String message) {
    RouterArguments arguments = RouterArguments.prefillDecode(P2pConnector.NIXL, PREFILL, new int[0], DECODE);
    assertEquals(message,
        Thrown.message(IllegalArgumentException.class, () -> arguments.with(Map.of(name, value))));
  }

  @Test
  @DisplayName("S3.6 settings give the arguments of their fleet, with as many URLs as servers")
  void fromSettings() {
    PrefillDecodeSettings settings = PrefillDecodeSettings.fromJson("""
        {"enable_pd": true, "num_engines": 2, "data_parallel_size": 2, "router_init_kwargs": {"port": 8090},
         "engine_init_kwargs": {"kv_transfer_config": {"kv_connector": "MooncakeConnector"}}}""", EngineGeneration.V33);
    BootstrapPorts ports = settings.ports(7000);
    List<String> decode = List.of("http://d0:8000", "http://d1:8000");
    assertEquals(List.of(List.of("http://p0:8000", 7000), List.of("http://p1:8000", 7001)),
        settings.routerArguments(PREFILL, decode, ports).toMap().get("prefill_urls"));
    assertEquals("decodeUrls must be one URL for each of 2 servers: [http://d0:8000]",
        Thrown.message(IllegalArgumentException.class, () -> settings.routerArguments(PREFILL, DECODE, ports)));
    PrefillDecodeSettings wrong = PrefillDecodeSettings.fromJson("""
        {"enable_pd": true, "router_init_kwargs": {"port": -1},
         "engine_init_kwargs": {"kv_transfer_config": {"kv_connector": "NixlConnector"}}}""", EngineGeneration.V33);
    assertEquals("router_init_kwargs.port must be a whole number from 1 to 65535: \"-1\"",
        Thrown.message(IllegalArgumentException.class,
            () -> wrong.routerArguments(List.of("http://p0:8000"), DECODE, wrong.ports(5600))));
  }

  private static String beforeOptions(RouterArguments arguments) {
    List<String> words = arguments.commandLine();
    return String.join(" ", words.subList(0, words.indexOf("http://d0:8000") + 1));
  }

  private static String refused(P2pConnector p2p, List<String> prefill, List<String> decode, int... ports) {
    return Thrown.message(IllegalArgumentException.class,
        () -> RouterArguments.prefillDecode(p2p, prefill, ports, decode));
  }
}

package dev.gatun.fleet;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy.OnFailure;
import dev.gatun.testing.Thrown;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FleetConfigTest {
  private static final String WHOLE = """
      run: ppo-7
      weight_version: 12
      master: 127.0.0.1:50051
      admin: http://127.0.0.1:9003
      path: wake-up
      pause: wait
      on_failure: retry
      attempts: 5
      deadline: 10s
      watch: 2s
      epoch_in_key: no
      engines:
        - url: http://127.0.0.1:8000/
          mode: HYBRID
          tags: [weights]
        - url: http://127.0.0.1:8001
          mode: colocated
          rank: 1
      """;

  @TempDir
  Path folder = Path.of("");

  private FleetConfig read(String yaml) throws IOException {
    return FleetConfig.read(Files.writeString(folder.resolve("fleet.yaml"), yaml));
  }

  @Test
  @DisplayName("a file with everything in it is taken as it stands")
  void whole() throws IOException {
    FleetConfig config = read(WHOLE);
    assertEquals(new WeightEpoch("ppo-7", 12), config.epoch());
    assertEquals(List.of(
        new FleetEngine(URI.create("http://127.0.0.1:8000"), EngineKind.VLLM, RolloutMode.HYBRID, 0,
            List.of("weights")),
        new FleetEngine(URI.create("http://127.0.0.1:8001"), EngineKind.VLLM, RolloutMode.COLOCATED, 1, List.of())),
        config.engines());
    assertEquals("http://127.0.0.1:9003", config.store().masterAdmin());
    assertEquals(FleetPath.WAKE_UP, config.path());
    assertEquals(PauseMode.WAIT, config.pause());
    assertEquals(OnFailure.RETRY, config.onFailure());
    assertEquals(Duration.ofSeconds(10), config.deadline());
    assertEquals(Duration.ofSeconds(2), config.watch());
  }

  @Test
  @DisplayName("what is not given has a default, and the administration is on the master's usual port")
  void defaults() throws IOException {
    FleetConfig config = read("{run: r, weight_version: 1, master: '127.0.0.1:1', engines: [{url: 'http://h:1'}]}");
    assertEquals(FleetPath.AFTER_WEIGHT_SYNC, config.path());
    assertEquals(PauseMode.ABORT, config.pause());
    assertEquals(OnFailure.FAIL, config.onFailure());
    assertEquals(RolloutMode.STANDALONE, config.engines().getFirst().mode());
    assertEquals("http://127.0.0.1:9003", config.store().masterAdmin());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "pause: wait | pause: keep | pause must be abort or wait",
      "pause: wait | pause: stop | pause must be one of abort, wait: \"stop\"",
      "on_failure: retry | on_failure: disable-store | on_failure must be fail or retry: \"disable-store\" is for hosts",
      "on_failure: retry | on_failure: ignore | on_failure must be fail, retry",
      "path: wake-up | path: after | path must be one of after-weight-sync, pause, wake-up",
      "attempts: 5 | attempts: 0 | attempts must be a whole number from 1 to 100",
      "deadline: 10s | deadline: 10 | deadline must be a whole number with ms, s, m or h",
      "deadline: 10s | deadline: 10ms | deadline must be 1 s to 1 h: PT0.01S",
      "watch: 2s | watch: 2h | watch must be 0 s to 1 h",
      "weight_version: 12 | weight_version: 0 | weight_version must be a whole number from 1",
      "weight_version: 12 | weightversion: 1 | did you mean \"weight_version\"?",
      "run: ppo-7 | run: a/b | run must be 1 to 64",
      "run: ppo-7 | '' | run must be the training run",
      "master: 127.0.0.1:50051 | '' | master must be host:port",
      "master: 127.0.0.1:50051 | store: loopback | store must be mooncake, since the embedded store",
      "epoch_in_key: no | namespace: chat | namespace must be absent unless epoch_in_key is yes",
      "epoch_in_key: no | epoch_in_key: maybe | epoch_in_key must be true, yes",
      "mode: HYBRID | mode: fast | engines[0].mode must be one of hybrid, colocated, standalone: \"fast\"",
      "mode: HYBRID | mode: standalone | engines[0].tags must be absent unless mode is hybrid",
      "tags: [weights] | tags: [wheels] | engines[0].tags must be of weights, kv_cache, scheduling: \"wheels\"",
      "rank: 1 | rank: -1 | engines[1].rank must be a whole number from 0",
      "rank: 1 | kind: llamacpp | engines[1].kind must be one of vllm, sglang",
      "rank: 1 | kind: sglang | pause must be abort where an engine is SGLang",
      "rank: 1 | kind: vllm, x: y | must be one YAML object",
      "url: http://127.0.0.1:8001 | url: http://127.0.0.1:8001/v1 | engines[1].url must be http://host:port",
      "url: http://127.0.0.1:8001 | url: 127.0.0.1:8001 | engines[1].url must be http://host:port",
      "url: http://127.0.0.1:8001 | uri: x | unknown field \"engines[1].uri\"",
      "watch: 2s | run: again | must be one YAML object: Duplicate field 'run'"})
  @DisplayName("whatever is wrong is refused with its field, its value and what is allowed")
  void refuses(String line, String replaced, String expected) {
    String message = Thrown.message(IllegalArgumentException.class, () -> read(WHOLE.replace(line, replaced)));
    assertTrue(message.contains(expected), message);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"watch: 2s | watch: *later | aliases are not read",
      "watch: 2s | watch: &later 2s | ''", "run: ppo-7 | run: &name x | ''"})
  @DisplayName("an alias is no value: it is refused, and not taken for a text; an anchor alone does no harm")
  void aliases(String line, String replaced, String expected) {
    if (expected.isEmpty()) {
      assertDoesNotThrow(() -> read(WHOLE.replace(line, replaced)));
      return;
    }
    String message = Thrown.message(IllegalArgumentException.class, () -> read(WHOLE.replace(line, replaced)));
    assertTrue(message.contains(expected) && message.contains("*later"), message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"2024_01", "010", "1.10", "1e3", "on", "yes", "0x10", "2024-01-01", "True"})
  @DisplayName("a run is named as it stands in the file, whatever YAML would take it for")
  void runsAsWritten(String run) throws IOException {
    FleetConfig config = read(WHOLE.replace("run: ppo-7", "run: '" + run + "'"));
    assertEquals(config.epoch(), read(WHOLE.replace("run: ppo-7", "run: " + run)).epoch());
    assertEquals(run, config.epoch().run());
  }

  @Test
  @DisplayName("a version with a leading zero is refused or counted in tens, never in eights")
  void versions() throws IOException {
    assertEquals(12, read(WHOLE.replace("weight_version: 12", "weight_version: 012")).epoch().version());
    for (String other : List.of("0x10", "1_2", "1e3", "12.0")) {
      String message = Thrown.message(IllegalArgumentException.class,
          () -> read(WHOLE.replace("weight_version: 12", "weight_version: " + other)));
      assertTrue(message.contains("weight_version must be a whole number") && message.contains(other), message);
    }
  }

  @Test
  @DisplayName("what stands behind the object is not left out without a word: a second document, a stray text")
  void oneDocument() {
    for (String more : List.of("---\nengines: [{url: 'http://127.0.0.1:8002'}]\n", "...\n---\nx\n")) {
      String message = Thrown.message(IllegalArgumentException.class, () -> read(WHOLE + more));
      assertTrue(message.contains("must be one YAML object: something follows it at line"), message);
    }
  }

  @Test
  @DisplayName("a file that is no text in UTF-8, is not there, is a folder, or has no end is refused by name")
  void files() throws IOException {
    Path latin = Files.write(folder.resolve("latin.yaml"), new byte[]{'r', 'u', 'n', ':', ' ', (byte) 0xE9, '\n'});
    assertRefused(latin, "must be a text in UTF-8");
    assertRefused(folder, "cannot read ");
    assertRefused(folder.resolve("absent.yaml"), "cannot read ");
    assertRefused(Files.write(folder.resolve("zeros.yaml"), new byte[(4 << 20) + 1]), "must be at most 4194304 bytes");
    assertRefused(Files.writeString(folder.resolve("control.yaml"), "run: a\u0000b\n"), "must be one YAML object");
    assertRefused(Files.writeString(folder.resolve("deep.yaml"), "[".repeat(5000)), "must be one YAML object");
    assertRefused(Files.writeString(folder.resolve("deeper.yaml"), "x: " + "[".repeat(5000)),
        "must be one YAML object");
    assertRefused(Files.writeString(folder.resolve("empty.yaml"), ""), "must be one YAML object");
    assertEquals("ppo-7", read("\uFEFF" + WHOLE).epoch().run(), "a mark of byte order is none of the text");
  }

  private static void assertRefused(Path file, String part) {
    String message = Thrown.message(IllegalArgumentException.class, () -> FleetConfig.read(file));
    assertTrue(message.contains(part) && message.contains(file.toString()), message);
  }

  @ParameterizedTest
  @CsvSource({"http://127.0.0.1:8000,http://127.0.0.1:8000/", "http://localhost:8000,http://LocalHost:8000",
      "http://localhost,http://localhost:80", "https://localhost:443,https://localhost",
      "http://[::1]:8000,http://[0:0:0:0:0:0:0:1]:8000"})
  @DisplayName("one address written in two ways is one engine told twice, and refused")
  void sameAddress(String one, String other) {
    String message = Thrown.message(IllegalArgumentException.class,
        () -> FleetConfig.of(values(Map.of("url", one), Map.of("url", other))));
    assertTrue(message.contains("engines must be named once each"), message);
  }

  @Test
  @DisplayName("a client's own name overrules the one that follows from a configuration file of the store")
  void ownName() throws IOException {
    Path file = Files.writeString(folder.resolve("mooncake.json"), """
        {"metadata_server": "P2PHANDSHAKE", "master_server_address": "127.0.0.1:1", "protocol": "tcp"}""");
    FleetConfig config = FleetConfig.of(Map.of("run", "r", "weight_version", 1, "config", file.toString(),
        "local_hostname", "10.1.2.3", "engines", List.of(Map.of("url", "http://h:1"))));
    assertEquals("10.1.2.3", config.store().localHostname());
  }

  @Test
  @DisplayName("another port, scheme or host is another engine")
  void otherAddresses() {
    assertEquals(4, FleetConfig.of(values(Map.of("url", "http://h"), Map.of("url", "https://h"),
        Map.of("url", "http://h:81"), Map.of("url", "http://[::1]:80"))).engines().size());
  }

  @Test
  @DisplayName("credentials in an address are refused, and not repeated")
  void credentials() {
    for (String url : List.of("http://user:secret@h:1", "http://user:secret@h:1/x", "http://u:secret@@h:1",
        "ftp://secret@h", "http://a:secret/b@h:1")) {
      String message = Thrown.message(IllegalArgumentException.class,
          () -> FleetConfig.of(values(Map.of("url", url))));
      assertTrue(message.contains("engines[0].url must be http://host:port"), message);
      assertFalse(message.contains("secret"), message);
    }
  }

  @Test
  @DisplayName("times beyond all counting are refused like any other that is too long")
  void endlessTimes() {
    FleetConfig config = FleetConfig.of(values(Map.of("url", "http://h:1")));
    for (Duration endless : List.of(Duration.ofSeconds(Long.MAX_VALUE), Duration.ofSeconds(Long.MIN_VALUE))) {
      assertTrue(Thrown.message(IllegalArgumentException.class, () -> with(config, endless, config.watch()))
          .startsWith("deadline must be 1 s to 1 h: "));
      assertTrue(Thrown.message(IllegalArgumentException.class, () -> with(config, config.deadline(), endless))
          .startsWith("watch must be 0 s to 1 h: "));
    }
  }

  private static FleetConfig with(FleetConfig config, Duration deadline, Duration watch) {
    return new FleetConfig(config.engines(), config.store(), config.keys(), config.epoch(), config.path(),
        config.pause(), config.onFailure(), config.attemptsMax(), deadline, watch, config.nodeRank());
  }

  private static Map<String, Object> values(Object... engines) {
    return Map.of("run", "r", "weight_version", 1, "master", "127.0.0.1:1", "engines", List.of(engines));
  }

  @Test
  @DisplayName("one address named twice is one engine told twice, and refused; no engine at all is refused")
  void addresses() {
    String twice = Thrown.message(IllegalArgumentException.class,
        () -> read(WHOLE.replace("8001", "8000").replace("rank: 1", "rank: 0")));
    assertTrue(twice.contains("engines must be named once each"), twice);
    String none = Thrown.message(IllegalArgumentException.class,
        () -> read("{run: r, weight_version: 1, master: '127.0.0.1:1', engines: []}"));
    assertTrue(none.contains("engines must be a list of one or more"), none);
    assertThrows(IllegalArgumentException.class, () -> FleetConfig.read(folder.resolve("absent.yaml")));
  }
}

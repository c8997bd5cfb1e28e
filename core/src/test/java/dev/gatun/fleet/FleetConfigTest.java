package dev.gatun.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
      "deadline: 10s | deadline: 10ms | deadline must be 1 s to 1 h: 10 ms",
      "watch: 2s | watch: 2h | watch must be 0 s to 1 h",
      "weight_version: 12 | weight_version: 0 | weight_version must be a whole number from 1",
      "weight_version: 12 | weightversion: 1 | did you mean \"weight_version\"?",
      "run: ppo-7 | run: a/b | run must be 1 to 64",
      "run: ppo-7 | '' | run must be the training run",
      "master: 127.0.0.1:50051 | '' | master must be host:port",
      "master: 127.0.0.1:50051 | store: loopback | store must be mooncake, since the embedded store",
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

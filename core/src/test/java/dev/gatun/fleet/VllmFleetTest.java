package dev.gatun.fleet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.codec.BlockHash;
import dev.gatun.codec.GatunKey;
import dev.gatun.codec.VllmBlockHasher;
import dev.gatun.codec.VllmKey;
import dev.gatun.codec.VllmRelease;
import dev.gatun.fleet.FleetReport.Result;
import dev.gatun.fleet.FleetReport.Step;
import dev.gatun.internal.backend.ChildJvm;
import dev.gatun.internal.backend.MooncakeTestRuntime;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.store.GetResult;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.SizeResult;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Refits of a real vLLM server with a real store connector on a real master. Runs where vLLM is installed, by
 * {@code -Dgatun.vllm.python}; see docs/fleet.md.
 */
@Tag("vllm")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class VllmFleetTest {
  private static final long STORAGE_BYTES = 64L << 20;
  private static final int DEADLINE_SECONDS = 24;
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final String PYTHON = "gatun.vllm.python";
  private static final long[] PROMPT = LongStream.range(0, 100).map(i -> 4 + (9 + 7 * i) % 250).toArray();

  private static MooncakeMaster master = MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions());
  private static ChildJvm storage = MooncakeTestRuntime.storage(master, STORAGE_BYTES);
  private static VllmServer engine = startEngine();
  private EngineRelay relay = relay();
  private static long version;

  private static VllmServer startEngine() {
    String python = System.getProperty(PYTHON, "");
    if (python.isEmpty()) throw new AssertionError("name the python of a vLLM environment: -D" + PYTHON + "=PATH");
    try {
      Path target = Files.createDirectories(Path.of("target").toAbsolutePath());
      return VllmServer.start(Path.of(python), Files.createTempDirectory(target, "vllm-"), master.rpcAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted while the engine started", e);
    }
  }

  private static EngineRelay relay() {
    try {
      return new EngineRelay(engine.url());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @AfterEach
  void close() {
    relay.close();
  }

  /** The first such question takes an engine many seconds, in which it looks at its machine; a refit would not wait. */
  @BeforeAll
  static void statesItsConnector() throws Exception {
    assertEquals("MooncakeStoreConnector", engine.ask("GET", "/server_info?config_format=json").path("vllm_config")
        .path("kv_transfer_config").path("kv_connector").asText());
  }

  @AfterAll
  static void stop() {
    engine.close();
    storage.close();
    master.close();
  }

  /** Each begins with an engine that runs, and that has stored the three full blocks of a prompt. */
  @BeforeEach
  void store() throws Exception {
    if (!master.isAlive()) master.restart();
    engine.freeze(false);
    await("the engine has resumed", () -> tell("POST", "/resume").path("status").asText().equals("resumed"));
    stores();
  }

  /** Lets it store the blocks, again and again: what a new master's engine puts before it has mounted its memory fails. */
  private static void stores() {
    await("the engine has stored its blocks", () -> {
      // what it has in its own memory it would not store again
      await("the engine forgets", () -> tell("POST", "/reset_prefix_cache").path("success").asBoolean());
      engine.complete(PROMPT, 4).join();
      Deadline soon = Deadline.after(Duration.ofSeconds(5));
      while (!listed().containsAll(keys()) && !soon.reached())
        LockSupport.parkNanos(POLL_NANOS);
      return listed().containsAll(keys());
    });
  }

  /** As {@link dev.gatun.testing.Await}, for what takes an engine long on a busy machine. */
  private static void await(String what, BooleanSupplier condition) {
    Deadline deadline = Deadline.after(Duration.ofMinutes(2));
    while (!condition.getAsBoolean()) {
      if (deadline.reached()) fail("waited 2 minutes until " + what);
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  private static JsonNode tell(String method, String path) {
    try {
      return engine.ask(method, path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(path, e);
    }
  }

  /** What the codec computes from the prompt. */
  private static List<String> keys() {
    return new VllmBlockHasher(BlockHash.SHA256, VllmRelease.V0_32, VllmServer.HASH_SEED)
        .chain(PROMPT, VllmServer.BLOCK_TOKENS, List.of()).stream()
        .map(hash -> VllmKey.of(VllmServer.MODEL, hash).text(VllmRelease.V0_32)).toList();
  }

  /** What the master says is there. */
  private static List<String> listed() {
    try (InputStream answer = master.adminUrl().resolve("/get_all_keys").toURL().openConnection(Proxy.NO_PROXY)
        .getInputStream()) {
      return new String(answer.readAllBytes(), StandardCharsets.UTF_8).lines().filter(line -> !line.isEmpty()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean sentinelListed(long ofVersion) {
    return listed().stream().anyMatch(key -> key.startsWith(GatunKey.CANARY + "vllm/" + ofVersion + "/sentinel-"));
  }

  /** All with one deadline: the library reads what follows from it once a process. */
  private FleetConfig config(Map<String, Object> changes) {
    version++;
    Map<String, Object> values = new LinkedHashMap<>(
        Map.of("run", "vllm", "weight_version", version, "master", master.rpcAddress(), "admin",
            master.adminUrl().toString(), "deadline", DEADLINE_SECONDS + "s", "engines",
            List.of(Map.of("url", relay.url().toString()))));
    values.putAll(changes);
    return FleetConfig.of(values);
  }

  private FleetReport run(Map<String, Object> changes) {
    FleetReport report = new FleetRefit(config(changes)).run();
    System.out.println(report.text());
    return report;
  }

  private static void assertReason(FleetReport report, String part) {
    assertTrue(report.reasons().toString().contains(part), report::text);
  }

  private static Step step(FleetReport report, String phase) {
    return report.engines().getFirst().steps().stream().filter(step -> step.phase().equals(phase)).findFirst()
        .orElseThrow(() -> new AssertionError(report.text()));
  }

  private static void assertUnproven(FleetReport report) {
    assertEquals(FleetOutcome.UNVERIFIED, report.outcome(), report::text);
    assertEquals(List.of(), report.phases().stream().filter(phase -> phase.name().equals("resume")).toList());
  }

  private void assertProven(FleetReport report) {
    assertEquals(FleetOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(List.of(), report.paused());
    assertTrue(report.notes().isEmpty(), report::text);
    assertEquals(1, listed().size(), "the new sentinel alone is there");
    assertFalse(tell("GET", "/is_paused").path("is_paused").asBoolean());
  }

  @Test
  @DisplayName("S2.2 a quiet engine: VERIFIED, what it stored is gone, and it stores anew")
  void quiet() throws Exception {
    FleetReport report = run(Map.of());
    assertProven(report);
    assertTrue(report.engines().getFirst().version().startsWith("0."), report::text);
    stores();
  }

  @Test
  @DisplayName("K10 what vLLM put is found, sized and read by the prompt's tokens; put anew under the same weights, it is equal")
  void values() throws Exception {
    List<byte[]> first = read();
    assertProven(run(Map.of()));
    stores();
    List<byte[]> again = read();
    for (int i = 0; i < first.size(); i++)
      assertArrayEquals(first.get(i), again.get(i), "block " + i);
    assertFalse(Arrays.equals(first.get(0), first.get(1)), "blocks differ");
  }

  private List<byte[]> read() {
    int bytes = Math.toIntExact(TinyModel.blockBytes(VllmServer.BLOCK_TOKENS));
    StoreOptions options = config(Map.of()).store().toBuilder().localBufferBytes(16L << 20).build();
    try (KvStore store = KvStore.open(options, KeyCodec.verbatim(), new EpochGate(new WeightEpoch("reader", 1)),
        Observer.NONE); Arena arena = Arena.ofShared()) {
      return keys().stream().map(key -> {
        assertEquals(new SizeResult.Known(bytes), store.size(KvKey.of(key)), key);
        MemorySegment room = arena.allocate(bytes);
        assertEquals(new GetResult.Hit(bytes), store.get(KvKey.of(key), room), key);
        return room.toArray(ValueLayout.JAVA_BYTE);
      }).toList();
    }
  }

  @Test
  @DisplayName("K1 the master is killed: the engine says success, the report UNVERIFIED, and that it is contradicted")
  void masterKilled() {
    master.kill();
    FleetReport report = run(Map.of());
    assertUnproven(report);
    assertEquals(Result.DONE, step(report, "reset").result(), report::text);
    assertTrue(step(report, "reset").detail().contains("\"success\":true"), report::text);
    assertTrue(report.engines().getFirst().contradiction().contains("reported success"), report::text);
    assertReason(report, "its master is gone");
    assertFalse(report.reasons().contains("a removal may still run"), report::text);
    assertEquals(List.of(relay.url().toString()), report.paused());
    assertTrue(tell("GET", "/is_paused").path("is_paused").asBoolean());

    master.restart();
    // the engine mounts its memory again by itself; until then there is none for a canary
    await("a proof at the new master", () -> run(Map.of()).outcome() == FleetOutcome.VERIFIED);
    assertFalse(tell("GET", "/is_paused").path("is_paused").asBoolean());
  }

  @Test
  @DisplayName("K7.13 the master is frozen: the same by the deadline, and the removal that the engine called done runs later")
  void masterFrozen() {
    master.freeze();
    try {
      FleetReport report = run(Map.of());
      assertUnproven(report);
      assertTrue(step(report, "reset").detail().contains("\"success\":true"), report::text);
      assertTrue(report.engines().getFirst().contradiction().contains("reported success"), report::text);
      assertReason(report, "its master is silent");
      assertReason(report, "a removal may still run");
      assertReason(report, "no sentinel shows whether a removal runs late: not put");
      assertEquals(List.of(relay.url().toString()), report.paused());
      // the attempt's deadline, the watch, and room for a busy machine
      assertTrue(report.nanos() < TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS + 1 + 10), report::text);
    } finally {
      master.thaw();
    }
    await("the removal ran late", () -> listed().stream().noneMatch(keys()::contains));
    await("a proof", () -> run(Map.of()).outcome() == FleetOutcome.VERIFIED);
  }

  @Test
  @DisplayName("the engine is frozen: its removal runs when it goes on, takes the sentinel, and is reported as the late wipe")
  void lateWipe() throws Exception {
    relay.before("POST /reset_prefix_cache?reset_external=true", () -> engine.freeze(true));
    long next = version + 1;
    FleetReport report;
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<FleetReport> running = threads.submit(() -> run(Map.of("watch", "60s")));
      await("the sentinel was put", () -> sentinelListed(next));
      assertEquals(1, listed().size(), "Gatun emptied the store meanwhile");
      engine.freeze(false);
      report = running.get(2, TimeUnit.MINUTES);
    } finally {
      engine.freeze(false);
    }
    assertUnproven(report);
    assertEquals(Result.NO_ANSWER, step(report, "reset").result(), report::text);
    assertReason(report, "a removal may still run");
    assertReason(report, "late wipe: the sentinel of vllm@" + next + " is gone");
  }

  @Test
  @DisplayName("K1.06 a request is running: the engine's own reset is denied; paused first, VERIFIED, and the request aborted")
  void running() throws Exception {
    CompletableFuture<JsonNode> request = engine.complete(PROMPT, 1900);
    await("the request runs", () -> running(1));
    JsonNode own = tell("POST", "/reset_prefix_cache?reset_external=true");
    assertFalse(own.path("success").asBoolean(), own::toString);

    assertProven(run(Map.of()));
    assertEquals("abort", request.get(1, TimeUnit.MINUTES).path("choices").path(0).path("finish_reason").asText());
  }

  @Test
  @DisplayName("a request is running and may end: VERIFIED once it has")
  void waits() throws Exception {
    CompletableFuture<JsonNode> request = engine.complete(PROMPT, 300);
    await("the request runs", () -> running(1));
    assertProven(run(Map.of("pause", "wait")));
    assertEquals("length", request.get(1, TimeUnit.MINUTES).path("choices").path(0).path("finish_reason").asText());
  }

  private static boolean running(int requests) {
    try {
      return engine.metric("vllm:num_requests_running") == requests;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  @DisplayName("keep with clearing, which ends a real engine, is refused before anything is sent")
  void keepRefused() {
    String message = String.valueOf(
        assertThrows(IllegalArgumentException.class, () -> run(Map.of("pause", "keep"))).getMessage());
    assertTrue(message.contains("pause must be abort or wait"), message);
    assertEquals(List.of(), relay.requests());
    assertFalse(tell("GET", "/is_paused").path("is_paused").asBoolean());
    assertTrue(listed().containsAll(keys()));
  }
}

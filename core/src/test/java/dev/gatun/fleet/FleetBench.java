package dev.gatun.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Engines that answer from transcripts, and three pages of theirs in a store of the embedded library that they share. */
abstract class FleetBench {
  static final String PAUSE = "POST /pause?mode=abort&clear_cache=false";
  static final String RESET = "POST /reset_prefix_cache?reset_external=true";
  static final String RESUME = "POST /resume";
  private static final int PAGE_BYTES = 4096;
  private static final Duration CENSUS_MAX = Duration.ofSeconds(10);

  final String pool = "fleet-" + UUID.randomUUID();
  final List<AutoCloseable> open = new ArrayList<>();
  KvStore engines = client(0);

  @BeforeEach
  void prepare() {
    LoopbackControls.reset();
    engines = client(32L << 20);
    for (int i = 0; i < 3; i++)
      put("tiny-llama@" + i);
  }

  @AfterEach
  void close() throws Exception {
    LoopbackControls.reset();
    for (AutoCloseable one : open.reversed())
      one.close();
  }

  /** A client of the store as engines have them: no gate of ours holds it. */
  KvStore client(long segmentBytes) {
    KvStore store = KvStore.open(StoreOptions.loopback(pool, segmentBytes), KeyCodec.verbatim(),
        new EpochGate(new WeightEpoch("engines", 1)), Observer.NONE);
    open.add(store);
    return store;
  }

  void put(String key) {
    try (Arena arena = Arena.ofConfined()) { // per call
      engines.put(KvKey.of(key), arena.allocate(PAGE_BYTES));
    }
  }

  FakeEngine add(FakeEngine engine) {
    open.add(engine);
    return engine;
  }

  long keys() {
    return engines.refitPort().census().orElseThrow().read(Deadline.after(CENSUS_MAX)).keyCount();
  }

  List<String> names() {
    return engines.refitPort().census().orElseThrow().keys(100, Deadline.after(CENSUS_MAX));
  }

  FleetConfig config(Consumer<Map<String, Object>> change, FleetEngine... members) {
    Map<String, Object> values = new LinkedHashMap<>(
        Map.of("run", "r", "weight_version", 2, "master", "127.0.0.1:1", "deadline", "20s"));
    values.put("engines", Arrays.stream(members).map(member -> Map.of("url", member.url().toString(), "kind",
        member.kind().name(), "mode", member.mode().name(), "rank", member.rank())).toList());
    change.accept(values);
    return FleetConfig.of(values).withStore(StoreOptions.loopback(pool, 0));
  }

  FleetReport run(FakeEngine... members) {
    return run(values -> {}, members);
  }

  FleetReport run(Consumer<Map<String, Object>> change, FakeEngine... members) {
    return new FleetRefit(config(change, Arrays.stream(members).map(FakeEngine::standalone)
        .toArray(FleetEngine[]::new))).run();
  }

  static void assertOutcome(FleetOutcome expected, FleetReport report) {
    assertEquals(expected, report.outcome(), report::text);
  }

  static void assertReason(FleetReport report, String part) {
    assertTrue(report.reasons().toString().contains(part), report::text);
  }
}

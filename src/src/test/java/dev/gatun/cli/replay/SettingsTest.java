package dev.gatun.cli.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.StoreOptions;
import dev.gatun.cli.console.Json;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.Verify;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SettingsTest {

  @Test
  @DisplayName("a replica's settings reach its process unchanged")
  void settingsSurviveTheWay() {
    StoreOptions store = StoreOptions.mooncake("127.0.0.1:50051").masterAdmin("http://127.0.0.1:9003")
        .localHostname("127.0.0.1").segmentBytes(64L << 20).build();
    ReplicaSettings settings = new ReplicaSettings(2, 3, new TraceSource(Path.of("/tmp/t \"x\".jsonl"), 7, -5),
        new Speed(2.5), 600_000, 18_432, 64, new KeyCodec("n", false, Verify.STAMP), false, Fault.DROP_REMOVAL,
        ReplayDevice.HOST, store);
    assertEquals(settings, ReplicaSettings.decode(new JsonFields(Json.parse(Json.line(settings.encode())))));
  }

  @Test
  @DisplayName("figures and refit summaries reach the parent unchanged, and add up")
  void figuresSurviveTheWay() {
    ReplicaFigures figures = new ReplicaFigures();
    for (Figure figure : Figure.values())
      figures.count(figure, 10 + figure.name().length());
    figures.putTimes.record(1_000);
    figures.getTimes.record(2_000);
    figures.fail("put of block 1");
    figures.outage("the store failed");
    figures.finish();
    ReplicaFigures sum = ReplicaFigures.decode(new JsonFields(Json.parse(Json.line(figures.encode()))));
    sum.add(figures);
    for (Figure figure : Figure.values())
      assertEquals(2 * figures.get(figure), sum.get(figure), figure.name());
    assertEquals(List.of("put of block 1", "put of block 1"), sum.failures());
    assertEquals("the store failed", sum.outage());
    assertEquals(2 * figures.putGBps(), sum.putGBps(), 1e-12);
    assertEquals(2, sum.getTimes.count());

    RefitSummary summary = new RefitSummary("VERIFIED", true, 12, 2, 99, List.of("none"));
    assertEquals(summary, RefitSummary.decode(new JsonFields(Json.parse(Json.line(summary.encode())))));
  }

  @Test
  @DisplayName("a missing or odd field of the protocol is refused by name")
  void refusesOddFields() {
    JsonFields fields = new JsonFields(Json.parse("{\"open\": \"yes\"}"));
    assertTrue(assertThrows(IllegalArgumentException.class, () -> fields.flag("open")).toString().contains("open"));
    assertThrows(IllegalArgumentException.class, () -> fields.number("removed"));
  }

  @Test
  @DisplayName("speeds are read as written, and nothing else")
  void readsSpeeds() {
    assertEquals(new Speed(0), Speed.parse("flat"));
    assertEquals(new Speed(1), Speed.parse(" Trace "));
    assertEquals(new Speed(1.5), Speed.parse("1.5x"));
    for (String bad : List.of("", "x", "0x", "-1x", "1e9x", "fast", "60")) {
      assertThrows(IllegalArgumentException.class, () -> Speed.parse(bad), bad);
    }
  }

  @Test
  @DisplayName("pages of models are layers * 2 * heads * head size * 2 bytes * tokens; MLA keeps one latent vector a layer")
  void knowsGeometries() {
    assertEquals(2 << 20, KvGeometry.named("LLAMA-3.1-8B").pageBytes(16));
    assertEquals(80L * 2 * 8 * 128 * 2 * 16, KvGeometry.named("llama-3.3-70b").pageBytes(16));
    assertEquals(61L * 18_432, KvGeometry.named("deepseek-v3").pageBytes(16));
  }

  @Test
  @DisplayName("the capacity holds the peak below the eviction watermark, in segments that a store accepts")
  void plansCapacity() {
    CapacityPlan plan = CapacityPlan.forAll(10_000, 16_384, 3);
    assertTrue(plan.enough());
    assertTrue(plan.bytes() * 0.9 > 10_000L * 16_384, plan.toString());
    assertEquals(0, plan.segmentBytes() % 4096);
    assertTrue(CapacityPlan.forAll(1, 32, 2).segmentBytes() >= 16 << 20);
    assertTrue(!CapacityPlan.given(64 << 20, 10_000, 16_384, 2).enough());
    assertThrows(IllegalArgumentException.class, () -> CapacityPlan.given(31 << 20, 1, 32, 2));
  }

  @Test
  @DisplayName("expected digests follow the predecessors, whatever is asked first")
  void digestsFollowPredecessors() {
    Trace trace = IdealCacheTest.trace(new long[]{0, 1}, new long[][]{{7, 8, 9}, {7, 10}});
    ExpectedDigests forward = new ExpectedDigests(trace);
    ExpectedDigests backward = new ExpectedDigests(trace);
    long last = backward.of(2, 5);
    assertEquals(PageContent.digest(forward.of(1, 5), 5, 9), last);
    assertEquals(PageContent.digest(PageContent.digest(PageContent.ROOT_DIGEST, 5, 7), 5, 10), forward.of(3, 5));
    assertTrue(forward.of(2, 6) != last);
  }
}

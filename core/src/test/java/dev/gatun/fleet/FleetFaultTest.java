package dev.gatun.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.fleet.FleetReport.Result;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.testing.Await;
import dev.gatun.testing.BusyCommonPool;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Refits that are broken off, lose answers, or meet servers that keep to no form: no engine is left paused unsaid. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class FleetFaultTest extends FleetBench {
  private static final String IS_PAUSED = "GET /is_paused";

  /** A refit on a thread of its own, for somebody to interrupt. */
  private final class Trainer {
    private final CompletableFuture<FleetReport> report = new CompletableFuture<>();
    private final Thread thread;

    Trainer(Consumer<Map<String, Object>> change, FakeEngine engine) {
      thread = Thread.ofPlatform().daemon().start(() -> {
        try {
          report.complete(run(change, engine));
        } catch (RuntimeException | Error failed) {
          report.completeExceptionally(failed);
        }
      });
    }

    FleetReport interrupt() throws Exception {
      thread.interrupt();
      return report.get(30, TimeUnit.SECONDS);
    }
  }

  private static void assertMayBePaused(FakeEngine engine, FleetReport report) {
    assertEquals(List.of(engine.url().toString()), report.map().get("mayBePaused"), report::text);
    assertTrue(report.text().contains("may be paused: " + engine.url()), report::text);
  }

  @Test
  @DisplayName("an interrupt ends the wait for engines at once, and the report names the one that may be paused")
  void interruptedInPause() throws Exception {
    FakeEngine engine = add(FakeEngine.vllm()).hangingAt(PAUSE);
    Trainer trainer = new Trainer(values -> values.put("deadline", "1h"), engine);
    Await.until("the engine was told to pause", () -> !engine.posts().isEmpty());
    FleetReport report = trainer.interrupt();
    assertOutcome(FleetOutcome.FAILED, report);
    assertReason(report, "broken off");
    assertEquals(List.of(), report.paused());
    assertMayBePaused(engine, report);
  }

  @Test
  @DisplayName("an interrupt while the store is emptied ends in a report at once: what was sent may still run")
  void interruptedInStore() throws Exception {
    FakeEngine engine = add(FakeEngine.vllm());
    LoopbackControls.arm("remove_all.before", Action.HANG, 0, 1);
    Trainer trainer = new Trainer(values -> values.put("watch", "10s"), engine);
    LoopbackControls.awaitHanging("remove_all.before", 1);
    FleetReport report = trainer.interrupt();
    assertOutcome(FleetOutcome.FAILED, report);
    assertReason(report, "broken off");
    assertReason(report, "a removal may still run");
    assertEquals(List.of(engine.url().toString()), report.paused());
  }

  @Test
  @DisplayName("an interrupt before anything was asked ends a plan as it ends a refit: in a report")
  void interruptedBefore() {
    FakeEngine engine = add(FakeEngine.vllm());
    FleetRefit refit = new FleetRefit(config(values -> {}, engine.standalone()));
    for (boolean dry : List.of(true, false)) {
      Thread.currentThread().interrupt();
      FleetReport report = dry ? refit.plan() : refit.run();
      assertTrue(Thread.interrupted(), "told to whoever called");
      assertOutcome(FleetOutcome.FAILED, report);
      assertReason(report, "broken off");
    }
    assertEquals(List.of(), engine.posts());
  }

  @Test
  @DisplayName("a pause whose answer was lost is asked after: an engine that says it is paused is reported so")
  void pauseAnswerLost() {
    FakeEngine engine = add(FakeEngine.vllm());
    engine.before(PAUSE, () -> {
      engine.pause();
      throw new IllegalStateException("broken off");
    });
    FleetReport report = run(engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "may still put pages: it is not known to be paused"); // it may wait for requests yet
    assertEquals(List.of(engine.url().toString()), report.paused());
    assertEquals(List.of(PAUSE, RESET), engine.posts());
  }

  @Test
  @DisplayName("a pause that was never answered, by an engine that does not say whether it is paused: it may be")
  void pauseUnknown() {
    FakeEngine engine = add(FakeEngine.vllm()).breakingAt(PAUSE).without(IS_PAUSED);
    FleetReport report = run(engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertEquals(List.of(), report.paused());
    assertMayBePaused(engine, report);
  }

  @Test
  @DisplayName("a pause that was lost is sent again by a retry, since an answer alone shows that all has ended")
  void pauseRepeated() {
    FakeEngine engine = add(FakeEngine.vllm());
    CountDownLatch once = new CountDownLatch(1);
    engine.before(PAUSE, () -> {
      if (once.getCount() == 0) return;
      once.countDown();
      engine.pause();
      throw new IllegalStateException("broken off");
    });
    FleetReport report = run(values -> values.put("on_failure", "retry"), engine);
    assertOutcome(FleetOutcome.VERIFIED, report);
    assertEquals(List.of(PAUSE, RESET, PAUSE, RESET, RESUME), engine.posts());
    assertEquals(List.of(), report.map().get("mayBePaused"));
  }

  @Test
  @DisplayName("of an engine that did not take its pause it is not said that it was paused")
  void neverPaused() {
    FleetReport report = run(add(FakeEngine.vllm()).answering(PAUSE, 307, ""));
    assertEquals(List.of(), report.paused());
    assertReason(report, "it is not known to be paused");
    assertFalse(report.text().contains("it was paused"), report::text);
  }

  @Test
  @DisplayName("an engine that has the question whether it is paused, and fails to answer it, is not taken for paused")
  void looksThatFail() {
    FakeEngine engine = add(FakeEngine.vllm()).answering(IS_PAUSED, 500, "{}");
    FleetReport report = run(engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "is not known to be so any more");
    assertEquals(List.of(PAUSE, RESET), engine.posts());
  }

  @Test
  @DisplayName("a pause that was answered counts for nothing where the engine itself denies being paused, or says so in words")
  void saysOneDoesAnother() {
    for (String state : List.of("{\"is_paused\":false}", "{\"is_paused\":\"true\"}", "{\"is_paused\":1}")) {
      FakeEngine engine = add(FakeEngine.vllm());
      engine.before(IS_PAUSED, () -> engine.states(state));
      FleetReport report = run(engine);
      assertOutcome(FleetOutcome.UNVERIFIED, report);
      assertEquals(List.of(PAUSE, RESET), engine.posts(), state);
    }
  }

  @Test
  @DisplayName("a refit needs no thread of the common pool")
  @SuppressWarnings("try") // held until it is closed
  void needsNoCommonPool() throws Exception {
    try (BusyCommonPool busy = BusyCommonPool.hold()) {
      assertOutcome(FleetOutcome.VERIFIED, run(add(FakeEngine.vllm())));
    }
  }

  @Test
  @DisplayName("a server that closes a kept connection as the next order arrives on it is asked on another")
  void keptConnectionCloses() throws Exception {
    try (FakeEngine engine = FakeEngine.vllm(); OddServer server = new OddServer(engine.url()).closingKept()) {
      FleetReport report = new FleetRefit(config(values -> {}, server.standalone())).run();
      assertOutcome(FleetOutcome.VERIFIED, report);
      assertEquals(List.of(PAUSE, RESET, RESUME), engine.posts());
    }
  }

  @Test
  @DisplayName("what servers say is shown in one line each, without what a terminal would obey")
  void shown() {
    FakeEngine engine = add(FakeEngine.vllm()
        .answering("GET /version", 200, "{\"version\":\"0.32.0+\\u001b[31mred\\u0007" + "x".repeat(100_000) + "\"}")
        .answering(RESET, 200, "\u001b]0;title\u0007 \u009b31m {\"success\":" + "y".repeat(100_000)));
    FleetReport report = run(engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertOneLine(report);
    FakeEngine router = add(FakeEngine.vllm().answering("GET /list_workers", 200,
        "{\"urls\":[\"http://a:1\\u001b[2J\",\"" + "z".repeat(100_000) + "\"]}"));
    FleetReport refused = run(router);
    assertOutcome(FleetOutcome.REFUSED, refused);
    assertReason(refused, "is a router of 2 workers");
    assertOutcome(FleetOutcome.REFUSED,
        run(add(FakeEngine.vllm().answering("GET /list_workers", 200, "{\"urls\":7}"))));
    assertOneLine(refused);
  }

  private static void assertOneLine(FleetReport report) {
    String text = report.text();
    assertFalse(text.chars().anyMatch(c -> c != '\n' && Character.isISOControl(c)), text);
    assertTrue(text.length() < 50_000, () -> "characters: " + text.length());
    assertTrue(report.reasons().stream().allMatch(reason -> reason.lines().count() == 1), text);
  }

  @Test
  @DisplayName("of engines of different versions each gets its own requests, and the weakest decides the outcome")
  void mixedVersions() {
    FakeEngine current = add(FakeEngine.vllm());
    FakeEngine ignoring = add(FakeEngine.vllm("vllm-0.16"));
    FakeEngine old = add(FakeEngine.of("vllm-0.12"));
    FleetReport report = run(current, ignoring, old);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertEquals(List.of(PAUSE, RESET), current.posts());
    assertEquals(List.of(PAUSE, RESET), ignoring.posts());
    assertEquals(List.of("POST /reset_prefix_cache"), old.posts());
    assertEquals(List.of(current.url().toString(), ignoring.url().toString()), report.paused());
    assertEquals(List.of("pause-reset-resume", "pause-reset-resume", "drain-reset"),
        report.engines().stream().map(FleetReport.Engine::sequence).toList());
    assertEquals(Result.DONE, report.engines().getFirst().steps().getLast().result());
  }

  @Test
  @DisplayName("S2.1 the master is killed between the pause and the store, or after the proof: all stay paused, as it says")
  void masterDiesBetween() {
    FakeEngine engine = add(FakeEngine.vllm());
    engine.before(PAUSE, () -> LoopbackControls.masterDown("loopback:" + pool));
    FleetReport before = run(values -> values.put("deadline", "4s"), engine);
    assertOutcome(FleetOutcome.UNVERIFIED, before);
    assertEquals(List.of(engine.url().toString()), before.paused());

    LoopbackControls.masterUp("loopback:" + pool);
    FakeEngine second = add(FakeEngine.vllm());
    CountDownLatch looks = new CountDownLatch(3); // the probe, before the store, before resuming
    second.before(IS_PAUSED, () -> {
      looks.countDown();
      if (looks.getCount() == 0) LoopbackControls.masterDown("loopback:" + pool);
    });
    FleetReport after = run(values -> values.put("deadline", "4s"), second);
    assertOutcome(FleetOutcome.UNVERIFIED, after);
    assertReason(after, "no sentinel shows whether a removal runs late");
    assertEquals(List.of(PAUSE, RESET, RESUME), second.posts(), "it was proven, and the sentinel was there");
    assertEquals(List.of(), after.paused());
  }
}

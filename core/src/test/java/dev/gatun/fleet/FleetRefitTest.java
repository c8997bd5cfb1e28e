package dev.gatun.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreOptions;
import dev.gatun.fleet.FleetReport.Result;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.refit.RefitOutcome;
import dev.gatun.testing.Await;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Fleets of engines that answer from transcripts, and a store of the embedded library that they share. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class FleetRefitTest extends FleetBench {
  private static final String LOCAL_RESET = "POST /reset_prefix_cache";
  private static final String SERVER_INFO = "GET /server_info?config_format=json";
  private static final long TRANSFER_FAIL = StoreCode.TRANSFER_FAIL.raw();

  @Test
  @DisplayName("S2.2 two engines: all paused before any is reset, the store proven empty before any resumes")
  void verified() {
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    List<FakeEngine> fleet = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      fleet.add(add(FakeEngine.vllm()).before(PAUSE, () -> order.add("pause"))
          .before(RESET, () -> order.add("reset " + names().contains("tiny-llama@0")))
          .before(RESUME, () -> order.add("resume " + names().contains("tiny-llama@0"))));
    }
    FleetReport report = run(fleet.toArray(FakeEngine[]::new));
    assertOutcome(FleetOutcome.VERIFIED, report);
    assertEquals(
        List.of("pause", "pause", "reset true", "reset true", "resume false", "resume false"), order);
    assertEquals(List.of(), report.paused());
    assertEquals(List.of("probe", "pause", "reset", "store", "resume"),
        report.phases().stream().map(FleetReport.PhaseTime::name).toList());
    assertEquals("pause-reset-resume", report.engines().getFirst().sequence());
    assertTrue(report.sentinel().startsWith("still there"), report::text);
    assertEquals("VERIFIED", report.map().get("outcome"));
    fleet.forEach(engine -> assertEquals(List.of(PAUSE, RESET, RESUME), engine.posts()));
  }

  @Test
  @DisplayName("K1.06 the engine denies its reset, since a request held blocks, and the store is empty: told apart")
  void denied() {
    FleetReport report = run(add(FakeEngine.vllm("running-request")), add(FakeEngine.vllm()));
    assertOutcome(FleetOutcome.FAILED, report);
    assertEquals(RefitOutcome.UNVERIFIED, report.store().orElseThrow().outcome(), "who holds blocks may put them");
    assertReason(report, "may still put pages: the reset that waits for its store connector is not done");
    assertEquals(2, report.paused().size());
    assertTrue(report.notes().toString().contains("the store was seen empty"), report::text);
    assertEquals(Result.DENIED, lastResult(report));
  }

  @Test
  @DisplayName("K1.07 with retry a reset that is denied at first is asked for again, all staying paused meanwhile")
  void retried() {
    FakeEngine engine = add(FakeEngine.vllm("running-request"));
    FakeEngine other = add(FakeEngine.vllm());
    CountDownLatch once = new CountDownLatch(2);
    other.before(RESET, () -> {
      once.countDown();
      if (once.getCount() == 0) engine.learn("vllm-0.32");
    });
    FleetReport report = run(values -> values.put("on_failure", "retry"), engine, other);
    assertOutcome(FleetOutcome.VERIFIED, report);
    assertTrue(report.attempts() >= 2, report::text);
    assertEquals(1, engine.posts().stream().filter(PAUSE::equals).count());
  }

  @Test
  @DisplayName("S2.1 the master is down: UNVERIFIED, the engine's success is contradicted, all stay paused")
  void masterDown() {
    FakeEngine engine = add(FakeEngine.vllm("master-down"));
    engine.before(RESET, () -> LoopbackControls.masterDown("loopback:" + pool));
    FleetReport report = run(engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "store: the store does not answer: its master is gone");
    assertTrue(report.engines().getFirst().contradiction().contains("reported success"), report::text);
    assertEquals(1, report.paused().size());
    assertFalse(report.reasons().contains("a removal may still run"), report::text);
    assertEquals(List.of(PAUSE, RESET), engine.posts());
  }

  @Test
  @DisplayName("K7.13 the master is frozen: the same by the deadline, and a removal may still run")
  void masterFrozen() {
    FakeEngine engine = add(FakeEngine.vllm("master-down"));
    engine.before(RESET, () -> LoopbackControls.masterFrozen("loopback:" + pool));
    FleetReport report = run(values -> values.put("deadline", "3s"), engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "its master is silent");
    assertReason(report, "a removal may still run");
    assertReason(report, "no sentinel shows whether a removal runs late: not put");
    assertTrue(report.sentinel().startsWith("not put"), report::text);
    assertTrue(report.engines().getFirst().contradiction().contains("reported success"), report::text);
    assertTrue(report.nanos() < TimeUnit.SECONDS.toNanos(3 + 10), report::text); // room for a busy machine
  }

  @Test
  @DisplayName("a removal that hung runs late: the sentinel of the new epoch is lost, and that is reported")
  void lateWipe() throws Exception {
    FakeEngine engine = add(FakeEngine.vllm());
    LoopbackControls.arm("remove_all.before", Action.HANG, 0, 1);
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<FleetReport> running = threads.submit(() -> run(values -> {
        values.put("deadline", "10s");
        values.put("watch", "30s");
      }, engine));
      Await.until("the sentinel was put",
          () -> names().stream().anyMatch(name -> name.startsWith("gatun-canary/r/2/sentinel-")));
      LoopbackControls.release("remove_all.before");
      FleetReport report = running.get(60, TimeUnit.SECONDS);
      assertReason(report, "a removal may still run");
      assertReason(report, "late wipe: the sentinel of r@2 is gone");
      assertTrue(report.sentinel().startsWith("lost"), report::text);
      assertEquals(1, report.paused().size());
    }
  }

  @Test
  @DisplayName("a removal that comes once the engines run again takes the sentinel: VERIFIED no more")
  void lateWipeAfterResume() throws Exception {
    FakeEngine engine = add(FakeEngine.vllm()).before(RESUME, () -> engines.refitPort().removeAllForced());
    FleetReport report = run(engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "late wipe");
  }

  @Test
  @DisplayName("a put that began before and lands after the removal: never VERIFIED, and nobody resumes")
  void latePut() throws Exception {
    FakeEngine engine = add(FakeEngine.vllm());
    LoopbackControls.arm("put.before_end", Action.HANG, 0, 1);
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<?> late = threads.submit(() -> put("tiny-llama@late"));
      LoopbackControls.awaitHanging("put.before_end", 1);
      FleetReport report = run(values -> values.put("deadline", "3s"), engine);
      assertOutcome(FleetOutcome.FAILED, report);
      assertReason(report, "1 objects left, of which 0 complete and listed");
      assertTrue(report.engines().getFirst().contradiction().contains("the store holds 1 objects"), report::text);
      assertEquals(1, report.paused().size());
      LoopbackControls.release("put.before_end");
      late.get(30, TimeUnit.SECONDS);
      assertEquals(1, keys());
    }
    assertOutcome(FleetOutcome.VERIFIED, run(engine));
  }

  @Test
  @DisplayName("an engine that takes long to drain is waited for")
  void slowDrain() throws Exception {
    CountDownLatch drained = new CountDownLatch(1);
    FakeEngine slow = add(FakeEngine.vllm()).before("POST /pause?mode=wait&clear_cache=false", () -> {
      try {
        drained.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    FakeEngine quick = add(FakeEngine.vllm());
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<FleetReport> running = threads.submit(() -> run(values -> values.put("pause", "wait"), slow, quick));
      Await.until("both were told to pause", () -> !slow.posts().isEmpty() && !quick.posts().isEmpty());
      assertEquals(1, quick.posts().size(), "the barrier holds it");
      drained.countDown();
      assertOutcome(FleetOutcome.VERIFIED, running.get(60, TimeUnit.SECONDS));
    }
  }

  @Test
  @DisplayName("K1.06 an engine that hangs: the others are paused and reset all the same, UNVERIFIED, and stay paused")
  void hangs() {
    FakeEngine hanging = add(FakeEngine.vllm()).hangingAt(PAUSE);
    FakeEngine other = add(FakeEngine.vllm());
    FleetReport report = run(values -> values.put("deadline", "3s"), hanging, other);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertEquals(List.of(PAUSE, RESET), other.posts());
    assertEquals(List.of(other.url().toString()), report.paused());
    assertTrue(hanging.posts().contains(RESET), "it is attempted, too");
  }

  @Test
  @DisplayName("a reset that does not answer may still remove: watched, and said")
  void resetHangs() {
    FakeEngine hanging = add(FakeEngine.vllm()).hangingAt(RESET);
    FleetReport report = run(values -> values.put("deadline", "3s"), hanging);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "a removal may still run");
    assertTrue(report.sentinel().startsWith("still there"), report::text);
  }

  @Test
  @DisplayName("an engine that refuses the connection: FAILED, the others are reset, nobody resumes")
  void gone() throws Exception {
    FakeEngine dead = FakeEngine.vllm();
    FleetEngine address = dead.standalone();
    dead.close();
    FakeEngine other = add(FakeEngine.vllm());
    FleetReport report = new FleetRefit(config(values -> {}, address, other.standalone())).run();
    assertOutcome(FleetOutcome.FAILED, report);
    assertEquals(Result.UNREACHABLE, report.engines().getFirst().steps().getFirst().result());
    assertEquals(List.of(PAUSE, RESET), other.posts());
  }

  @Test
  @DisplayName("an engine whose core has died answers 500: FAILED")
  void coreDead() {
    FleetReport report = run(add(FakeEngine.vllm("engine-dead")));
    assertOutcome(FleetOutcome.FAILED, report);
    assertReason(report, "EngineCore encountered an issue");
    assertReason(report, "a removal may still run");
    assertTrue(report.sentinel().startsWith("still there"), report::text);
  }

  @Test
  @DisplayName("a router among engines, or development endpoints off: refused, and nothing is paused anywhere")
  void refusals() {
    FakeEngine good = add(FakeEngine.vllm());
    FleetReport router = run(good, add(FakeEngine.of("router")));
    assertOutcome(FleetOutcome.REFUSED, router);
    assertReason(router, "is a router of 2 workers");
    FleetReport off = run(good, add(FakeEngine.of("dev-mode-off")));
    assertOutcome(FleetOutcome.REFUSED, off);
    assertReason(off, "VLLM_SERVER_DEV_MODE=1");
    assertEquals(List.of(), good.posts());
    assertEquals(3, keys());
  }

  @Test
  @DisplayName("S2.1 versions: below 0.13 never the flag, 0.16 a flag that does nothing: their connectors are not waited for")
  void versions() {
    FakeEngine flagless = add(FakeEngine.vllm("vllm-0.12")).without("GET /openapi.json");
    FakeEngine ignoring = add(FakeEngine.vllm("vllm-0.16"));
    FleetReport report = run(flagless.answering(LOCAL_RESET, 200, "{\"success\":true}"), ignoring);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    for (FakeEngine engine : List.of(flagless, ignoring))
      assertReason(report, engine.url() + " may still put pages: its reset does not wait for its store connector");
    assertEquals(List.of(PAUSE, LOCAL_RESET), flagless.posts());
    assertEquals(List.of(PAUSE, RESET), ignoring.posts());
    assertTrue(report.engines().get(1).steps().getFirst().detail().contains("does nothing"), report::text);
    assertFalse(names().contains("tiny-llama@0"), "Gatun emptied the store itself");
  }

  @Test
  @DisplayName("0.25 answers a reset without a word: whether it let go of its own pages is not shown, so UNVERIFIED")
  void wordless() {
    FakeEngine engine = add(FakeEngine.vllm("vllm-0.25"));
    FleetReport report = run(engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "reset: 200 without a word");
    assertEquals(Result.UNPROVEN, lastResult(report));
    assertEquals(List.of(PAUSE, RESET), engine.posts());
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"success\":\"false\"}", "{\"success\":\"true\"}", "{\"success\":null}", "{\"success\":1}",
      "{}", "[]", "null", "<html>welcome</html>", "{\"status\":\"running\"}"})
  @DisplayName("a reset answered 200 with anything but the truth value true: UNVERIFIED, and nobody resumes")
  void strangeReset(String body) {
    FakeEngine engine = add(FakeEngine.vllm().answering(RESET, 200, body));
    FleetReport report = run(engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "reset: 200 " + body);
    assertReason(report, "a removal may still run");
    assertEquals(List.of(PAUSE, RESET), engine.posts());
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"status\":\"running\"}", "", "<html>paused</html>", "\"paused\""})
  @DisplayName("a pause answered 200 that does not say paused: not taken for paused, UNVERIFIED")
  void strangePause(String body) {
    FakeEngine engine = add(FakeEngine.vllm().answering(PAUSE, 200, body));
    FleetReport report = run(engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "may still put pages: it is not known to be paused");
    assertEquals(List.of(), report.paused());
    assertEquals(List.of(PAUSE, RESET), engine.posts());
  }

  @Test
  @DisplayName("a resume answered 200 that does not say resumed is UNVERIFIED")
  void strangeResume() {
    FleetReport report = run(add(FakeEngine.vllm().answering(RESUME, 200, "<html>welcome</html>")));
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "resume: 200 <html>");
    assertEquals(List.of(), report.paused(), "nobody knows whether it runs");
    assertEquals(1, report.mayBePaused().size());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"null | VERIFIED", "{\"kv_connector\":null} | VERIFIED",
      "{\"kv_connector\":\"MooncakeStoreConnector\"} | VERIFIED",
      "{\"kv_connector\":\"MultiConnector\",\"kv_connector_extra_config\":{\"connectors\":[{\"kv_connector\":\"MooncakeStoreConnector\"}]}} | VERIFIED",
      "{\"kv_connector\":\"MultiConnector\",\"kv_connector_extra_config\":{\"connectors\":[{\"kv_connector\":\"MooncakeStoreConnector\"},{\"kv_connector\":\"LMCacheConnectorV1\"}]}} | UNVERIFIED",
      "{\"kv_connector\":\"MultiConnector\"} | UNVERIFIED", "{\"kv_connector\":\"LMCacheConnectorV1\"} | UNVERIFIED"})
  @DisplayName("where an engine states its store connector, VERIFIED only for none and for Mooncake's")
  void connectors(String transfer, FleetOutcome expected) {
    FakeEngine engine = add(FakeEngine.vllm().answering(SERVER_INFO, 200,
        "{\"vllm_config\":{\"kv_transfer_config\":" + transfer + "}}"));
    FleetReport report = run(engine);
    assertOutcome(expected, report);
    if (expected == FleetOutcome.UNVERIFIED) assertReason(report, "of which it is not known what a reset does");
    assertEquals(List.of(), report.notes().stream().filter(note -> note.contains("assumed")).toList());
  }

  @Test
  @DisplayName("an engine that states no connector goes by its version, and that is noted; one without any puts nothing")
  void connectorUnstated() {
    FleetReport unstated = run(add(FakeEngine.vllm()));
    assertOutcome(FleetOutcome.VERIFIED, unstated);
    assertTrue(unstated.notes().toString().contains("MooncakeStoreConnector is assumed"), unstated::text);
    FakeEngine none = add(FakeEngine.vllm("vllm-0.16").answering(SERVER_INFO, 200,
        "{\"vllm_config\":{\"kv_transfer_config\":null}}"));
    assertOutcome(FleetOutcome.VERIFIED, run(none));
  }

  @Test
  @DisplayName("K10 a master shared with others: the report says whose keys a fleet's refit removes")
  void sharedMaster() {
    put("other-app/run-1/3/page");
    FleetReport report = run(add(FakeEngine.vllm()));
    assertOutcome(FleetOutcome.VERIFIED, report);
    assertTrue(report.notes().contains(
        "the refit removes everything on this master: gatun other-app; keys of unknown form"), report::text);
    assertEquals(List.of(), run(values -> values.put("weight_version", 3), add(FakeEngine.vllm())).notes().stream()
        .filter(note -> note.contains("removes")).toList(), "nothing but the last refit's sentinel is there");
  }

  @Test
  @DisplayName("a store that does not open in time: the report says that nobody knows whose keys go, and why")
  void ownersUnknown() {
    FakeEngine engine = add(FakeEngine.vllm());
    LoopbackControls.masterFrozen("loopback:" + pool);
    FleetReport report = run(values -> values.put("deadline", "3s"), engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertTrue(
        report.notes().toString().contains("whose keys the refit removes is not known: opening the store did not"),
        report::text);
  }

  @Test
  @DisplayName("an engine that somebody resumed meanwhile is asked and found out: UNVERIFIED; a retry pauses it again")
  void resumedByOthers() {
    FakeEngine engine = add(FakeEngine.vllm());
    CountDownLatch once = new CountDownLatch(1);
    engine.before(RESET, () -> {
      if (once.getCount() == 1) engine.resume();
      once.countDown();
    });
    FleetReport report = run(values -> values.put("on_failure", "retry"), engine);
    assertOutcome(FleetOutcome.VERIFIED, report);
    assertEquals(List.of(PAUSE, RESET, PAUSE, RESET, RESUME), engine.posts());

    FakeEngine other = add(FakeEngine.vllm());
    other.before(RESET, other::resume);
    FleetReport single = run(other);
    assertOutcome(FleetOutcome.UNVERIFIED, single);
    assertReason(single, "is not known to be so any more");
    assertEquals(List.of(), single.paused());
  }

  @Test
  @DisplayName("an engine that somebody resumed after the store was proven: nobody is resumed, UNVERIFIED")
  void resumedBeforeResume() {
    FakeEngine engine = add(FakeEngine.vllm());
    FakeEngine other = add(FakeEngine.vllm());
    CountDownLatch third = new CountDownLatch(3); // the probe, before the store, before resuming
    engine.before("GET /is_paused", () -> {
      third.countDown();
      if (third.getCount() == 0) engine.resume();
    });
    FleetReport report = run(engine, other);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "is not known to be so any more");
    assertEquals(List.of(PAUSE, RESET), other.posts());
  }

  @Test
  @DisplayName("a connection that breaks during a reset is not nobody there: it may have been done, and may be yet")
  void connectionBreaks() {
    FleetReport report = run(add(FakeEngine.vllm()).breakingAt(RESET));
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertEquals(Result.NO_ANSWER, lastResult(report));
    assertReason(report, "a removal may still run");
    assertTrue(report.sentinel().startsWith("still there"), report::text);
  }

  @Test
  @DisplayName("a reset that was never answered may remove late, whatever later attempts prove: UNVERIFIED, and watched")
  void retryForgetsNothing() {
    FakeEngine engine = add(FakeEngine.vllm());
    CountDownLatch once = new CountDownLatch(1);
    engine.before(RESET, () -> {
      if (once.getCount() == 0) return;
      once.countDown();
      throw new IllegalStateException("broken off");
    });
    FleetReport report = run(values -> values.put("on_failure", "retry"), engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertEquals(2, report.attempts());
    assertEquals(RefitOutcome.VERIFIED, report.store().orElseThrow().outcome());
    assertReason(report, "a removal may still run");
    assertTrue(report.sentinel().startsWith("still there"), report::text);
    assertEquals(List.of(engine.url().toString()), report.paused());
  }

  @Test
  @DisplayName("no sentinel can be put after the proof: late removals would not show, so UNVERIFIED, and nobody resumes")
  void sentinelNotPut() {
    LoopbackControls.armAfter("put.before_copy", Action.FAIL, TRANSFER_FAIL, 1, 1_000_000);
    assertOutcome(FleetOutcome.VERIFIED, run(add(FakeEngine.vllm())));
    long puts = LoopbackControls.hits("put.before_copy");
    LoopbackControls.armAfter("put.before_copy", Action.FAIL, TRANSFER_FAIL, 0, puts - 1);
    FakeEngine engine = add(FakeEngine.vllm());
    FleetReport report = run(values -> values.put("deadline", "4s"), engine);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "no sentinel shows whether a removal runs late: not put");
    assertEquals(List.of(PAUSE, RESET), engine.posts());
  }

  @Test
  @DisplayName("whatever breaks off a refit, it ends in a report of the engines that are paused")
  void interrupted() {
    Thread trainer = Thread.currentThread();
    FakeEngine engine = add(FakeEngine.vllm()).before(RESET, trainer::interrupt);
    FleetReport report = run(engine);
    assertTrue(Thread.interrupted(), "told to whoever called");
    assertOutcome(FleetOutcome.FAILED, report);
    assertReason(report, "broken off");
    assertEquals(List.of(engine.url().toString()), report.paused());
  }

  @Test
  @DisplayName("an engine that did not answer what it is gets asked again in the next attempt")
  void probedAgain() {
    CountDownLatch first = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    FakeEngine engine = add(FakeEngine.vllm());
    open.add(end::countDown);
    engine.before("GET /version", () -> {
      if (first.getCount() == 0) return;
      first.countDown();
      try {
        end.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    FleetReport report = run(values -> {
      values.put("on_failure", "retry");
      values.put("deadline", "6s");
    }, engine);
    assertOutcome(FleetOutcome.VERIFIED, report);
    assertEquals(2, report.attempts());
    assertEquals(List.of(PAUSE, RESET, RESUME), engine.posts());
  }

  @Test
  @DisplayName("a dry run that reached no engine has planned nothing")
  void planOfNobody() {
    FakeEngine dead = FakeEngine.vllm();
    FleetEngine address = dead.standalone();
    dead.close();
    FleetReport report = new FleetRefit(config(values -> {}, address)).plan();
    assertOutcome(FleetOutcome.FAILED, report);
    assertReason(report, "cannot be reached");
  }

  private static Result lastResult(FleetReport report) {
    return report.engines().getFirst().steps().stream().filter(step -> step.phase().equals("reset")).toList().getLast()
        .result();
  }

  @Test
  @DisplayName("an engine that cannot be paused is drained and reset, and never VERIFIED: nothing fences it")
  void unpausable() {
    FakeEngine old = add(FakeEngine.of("vllm-0.12"));
    FleetReport report = run(old);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertEquals("drain-reset", report.engines().getFirst().sequence());
    assertEquals(List.of(LOCAL_RESET), old.posts());
    assertEquals(List.of(), report.paused());
  }

  @Test
  @DisplayName("S2.3 wake-up: hybrid with given tags, colocated with default ones, standalone not at all, and says so")
  void wakeUp() {
    FakeEngine hybrid = add(FakeEngine.vllm());
    FakeEngine colocated = add(FakeEngine.vllm());
    FakeEngine standalone = add(FakeEngine.vllm());
    Map<String, Object> values = Map.of("run", "r", "weight_version", 2, "master", "127.0.0.1:1", "path", "wake-up",
        "engines", List.of(Map.of("url", hybrid.url().toString(), "mode", "HYBRID", "tags", List.of("scheduling")),
            Map.of("url", colocated.url().toString(), "mode", "COLOCATED"),
            Map.of("url", standalone.url().toString(), "mode", "STANDALONE")));
    FleetReport report = new FleetRefit(
        FleetConfig.of(values).withStore(StoreOptions.loopback(pool, 0))).run();
    assertOutcome(FleetOutcome.VERIFIED, report);
    assertEquals(List.of("POST /wake_up?tags=scheduling", PAUSE, RESET, RESUME), hybrid.posts());
    assertEquals(List.of("POST /wake_up?tags=weights&tags=kv_cache", PAUSE, RESET, RESUME), colocated.posts());
    assertEquals(List.of(PAUSE, RESET, RESUME), standalone.posts());
    assertTrue(report.text().contains("no wake-up"), report::text);
  }

  @Test
  @DisplayName("S2.2 pause, abort-all and sleep end with a proven store and engines that stay down")
  void pathsThatStayDown() {
    FakeEngine engine = add(FakeEngine.vllm());
    FleetReport paused = run(values -> values.put("path", "pause"), engine);
    assertOutcome(FleetOutcome.VERIFIED, paused);
    assertEquals(List.of(engine.url().toString()), paused.paused());
    assertEquals(List.of(PAUSE, RESET), engine.posts());

    FakeEngine aborted = add(FakeEngine.vllm());
    assertOutcome(FleetOutcome.VERIFIED, run(values -> {
      values.put("path", "abort-all");
      values.put("pause", "wait");
    }, aborted));
    assertEquals(List.of(PAUSE, RESET), aborted.posts());

    FakeEngine asleep = add(FakeEngine.vllm());
    FleetEngine colocated = new FleetEngine(asleep.url(), EngineKind.VLLM, RolloutMode.COLOCATED, 0, List.of());
    assertOutcome(FleetOutcome.VERIFIED,
        new FleetRefit(config(values -> values.put("path", "sleep"), colocated)).run());
    assertEquals(List.of(PAUSE, RESET, "POST /sleep?level=1"), asleep.posts());
  }

  @Test
  @DisplayName("S2.2 clear-kv-cache leaves an engine paused that was paused before")
  void clearKeepsPaused() {
    FakeEngine engine = add(FakeEngine.vllm("paused"));
    FleetReport report = run(values -> values.put("path", "clear-kv-cache"), engine);
    assertOutcome(FleetOutcome.VERIFIED, report);
    assertEquals(List.of(PAUSE, RESET), engine.posts());
    assertEquals(List.of(engine.url().toString()), report.paused());
  }

  @Test
  @DisplayName("SGLang is paused and flushed; its own unforced removal is not used; what it still writes nothing waits for")
  void sglang() {
    FakeEngine engine = add(FakeEngine.of("sglang-0.5"));
    FleetReport report = new FleetRefit(
        config(values -> {}, new FleetEngine(engine.url(), EngineKind.SGLANG, RolloutMode.STANDALONE, 0, List.of())))
        .run();
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertReason(report, "its reset does not wait for its store connector");
    assertEquals(List.of("POST /pause_generation {\"mode\": \"abort\"}", "POST /flush_cache"), engine.posts());
  }

  @Test
  @DisplayName("S2.4 another rank than 0 returns at once: an engine's node, or the node this runs on")
  void otherRanks() {
    FakeEngine first = add(FakeEngine.vllm());
    FakeEngine second = add(FakeEngine.vllm());
    FleetEngine other = new FleetEngine(second.url(), EngineKind.VLLM, RolloutMode.STANDALONE, 1, List.of());
    assertOutcome(FleetOutcome.VERIFIED, new FleetRefit(config(values -> {}, first.standalone(), other)).run());
    assertEquals(List.of(), second.requests());

    FakeEngine third = add(FakeEngine.vllm());
    assertOutcome(FleetOutcome.SKIPPED, run(values -> values.put("node_rank", 3), third));
    FleetReport nobody = new FleetRefit(config(values -> {}, other)).run();
    assertOutcome(FleetOutcome.REFUSED, nobody);
    assertReason(nobody, "no engine of rank 0");
    assertEquals(List.of(), third.requests());
  }

  @Test
  @DisplayName("a dry run asks and plans, and changes nothing; the plan is what a run then does")
  void plan() {
    FakeEngine engine = add(FakeEngine.vllm());
    put("other-app/run-1/3/page");
    FleetReport plan = new FleetRefit(config(values -> {}, engine.standalone())).plan();
    assertOutcome(FleetOutcome.PLANNED, plan);
    assertTrue(plan.notes().contains(
        "the refit removes everything on this master: gatun other-app; keys of unknown form"), plan::text);
    assertEquals(List.of(PAUSE, RESET, RESUME), plan.engines().getFirst().steps().stream().skip(1)
        .map(FleetReport.Step::request).toList());
    assertEquals(List.of(), engine.posts());
    assertEquals(4, keys());
  }

  @Test
  @DisplayName("an engine that does not resume is no success, though the store is proven")
  void notResumed() {
    FakeEngine engine = add(FakeEngine.vllm()).without(RESUME);
    FleetReport report = run(engine);
    assertOutcome(FleetOutcome.FAILED, report);
    assertEquals(1, report.paused().size());
    assertReason(report, "resume: 404");
  }

  @Test
  @DisplayName("an engine that never answers a resume is waited for to a deadline of its own: UNVERIFIED, the others resumed")
  void resumeHangs() {
    FakeEngine hanging = add(FakeEngine.vllm()).hangingAt(RESUME);
    FakeEngine other = add(FakeEngine.vllm());
    FleetReport report = run(values -> values.put("deadline", "8s"), hanging, other);
    assertOutcome(FleetOutcome.UNVERIFIED, report);
    assertEquals(List.of(PAUSE, RESET, RESUME), other.posts());
    assertEquals(RefitOutcome.VERIFIED, report.store().orElseThrow().outcome());
    assertEquals(List.of(), report.paused(), "nobody knows whether it runs");
    assertEquals(List.of(hanging.url().toString()), report.mayBePaused());
    assertReason(report, "resume: ");
    long waited = phase(report, "resume");
    // a quarter of the attempt's deadline, begun after the attempt; the rest is room for a busy machine
    assertTrue(waited >= TimeUnit.SECONDS.toNanos(2) && waited < TimeUnit.SECONDS.toNanos(2 + 10), report::text);
  }

  @Test
  @DisplayName("watch says how long late removals are looked for once the engines run again; one that comes ends it")
  void watches() throws Exception {
    long start = System.nanoTime();
    FleetReport quiet = run(values -> values.put("watch", "1s"), add(FakeEngine.vllm()));
    assertOutcome(FleetOutcome.VERIFIED, quiet);
    assertTrue(quiet.nanos() >= TimeUnit.SECONDS.toNanos(1) && System.nanoTime() - start >= quiet.nanos(), quiet::text);

    CountDownLatch resumed = new CountDownLatch(1);
    FakeEngine engine = add(FakeEngine.vllm()).before(RESUME, resumed::countDown);
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<FleetReport> running = threads.submit(() -> run(values -> {
        values.put("watch", "10m");
        values.put("weight_version", 3);
      }, engine));
      assertTrue(resumed.await(30, TimeUnit.SECONDS));
      assertFalse(running.isDone());
      engines.refitPort().removeAllForced();
      FleetReport report = running.get(60, TimeUnit.SECONDS);
      assertOutcome(FleetOutcome.UNVERIFIED, report);
      assertReason(report, "late wipe: the sentinel of r@3 is gone");
      assertEquals(List.of(), report.paused(), "it runs again, and is not stopped by what was seen since");
    }
  }

  private static long phase(FleetReport report, String name) {
    return report.phases().stream().filter(phase -> phase.name().equals(name)).mapToLong(FleetReport.PhaseTime::nanos)
        .sum();
  }
}

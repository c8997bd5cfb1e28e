package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KvKey;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The four ways to drop the KV of a host. */
class InferenceEngineTest {
  private static final StoreTransferOptions GROUPS = StoreTransferOptions.SINGLE_PAGES.withBlocksPerGroup(4);

  private final String pool = "engine-" + UUID.randomUUID();
  private final List<Site> open = new ArrayList<>();

  @BeforeEach
  void calm() {
    LoopbackControls.reset();
  }

  @AfterEach
  void close() {
    LoopbackControls.reset();
    open.forEach(Site::close);
  }

  private Site site(RefitPolicy policy) {
    open.add(new Site(StoreOptions.loopback(pool, 16L << 20), Site.PLAIN, policy, GROUPS, 512, 64));
    return open.getLast();
  }

  /** Notes what it is told. */
  private static final class Engine extends InferenceEngine {
    private final List<String> told = new ArrayList<>();
    private List<String> running = List.of();
    private boolean throwing;

    Engine(Optional<KvConnector> connector) {
      super(connector, Duration.ofSeconds(1));
    }

    @Override
    protected List<String> pause(Deadline deadline) {
      told.add("pause");
      return running;
    }

    @Override
    protected void clearOwnCache() {
      told.add("clear");
      if (throwing) throw new IllegalStateException("2 blocks in flight");
    }

    @Override
    protected void fallAsleep(SleepDepth depth) {
      told.add("sleep " + depth);
    }

    @Override
    protected void wake() {
      told.add("wake");
    }

    @Override
    protected void resume() {
      told.add("resume");
    }
  }

  /** The four, as a caller sees them. */
  enum Way {
    RESET,
    RESET_ASYNC,
    SLEEP,
    SLEEP_ASYNC;

    private boolean sleeps() {
      return this == SLEEP || this == SLEEP_ASYNC;
    }

    private EngineReset call(InferenceEngine engine, WeightEpoch next) {
      return switch (this) {
        case RESET -> engine.resetPrefixCache(next);
        case RESET_ASYNC -> engine.resetPrefixCacheAsync(next).join();
        case SLEEP -> engine.sleep(SleepDepth.DROP_WEIGHTS, next);
        case SLEEP_ASYNC -> engine.sleepAsync(SleepDepth.DROP_WEIGHTS, next).join();
      };
    }

    EngineReset reset(InferenceEngine engine, long version) {
      try {
        return call(engine, Site.epoch(version));
      } catch (CompletionException wrapped) {
        if (wrapped.getCause() instanceof RuntimeException cause) throw cause;
        throw wrapped;
      }
    }
  }

  @Test
  @DisplayName("S1.2 K1.10 each of the four ways reaches the forced removal, and no page of before is found afterwards")
  void fourWays() {
    Site site = site(Site.POLICY);
    Engine engine = new Engine(Optional.of(site.connector));
    long version = 1;
    for (Way way : Way.values()) {
      List<KvKey> keys = Site.keys("p", 6);
      site.save("w" + way, keys);
      int before = site.backend.removals.get();
      engine.told.clear();

      EngineReset reset = way.reset(engine, ++version);

      assertTrue(reset.succeeded());
      assertEquals(List.of(ConnectorSide.SCHEDULER, ConnectorSide.WORKER),
          reset.connector().stream().map(ResetReport::side).toList());
      assertTrue(site.backend.removals.get() > before, () -> way + " removes");
      assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(site.request("r" + way, keys), 0));
      assertEquals(List.of("pause", "clear", way.sleeps() ? "sleep DROP_WEIGHTS" : "resume"), engine.told);
    }
  }

  @Test
  @DisplayName("S1.2 no way can be overridden or its own part called from outside, so none leaves the cascade out")
  void cannotBeBypassed() {
    for (String name : List.of("resetPrefixCache", "resetPrefixCacheAsync", "sleep", "sleepAsync", "wakeUp")) {
      assertTrue(Arrays.stream(InferenceEngine.class.getDeclaredMethods()).filter(m -> m.getName().equals(name))
          .allMatch(m -> Modifier.isFinal(m.getModifiers()) && Modifier.isPublic(m.getModifiers())), name);
    }
    assertEquals(List.of(), Arrays.stream(InferenceEngine.class.getDeclaredMethods())
        .filter(m -> Modifier.isAbstract(m.getModifiers()) && !Modifier.isProtected(m.getModifiers())).toList());
    assertEquals(List.of(), Arrays.stream(new Class<?>[]{SchedulerConnector.class, WorkerConnector.class})
        .flatMap(type -> Arrays.stream(type.getMethods()))
        .filter(m -> m.getName().equals("resetCache") && m.isDefault())
        .toList(), "K1.01 a connector without a reset does not compile");
  }

  @Test
  @DisplayName("K1.04 the call without options removes, with force, what was read a moment ago")
  void defaults() {
    Site site = site(Site.POLICY);
    List<KvKey> keys = Site.keys("p", 4);
    site.save("w", keys);
    site.release(site.load(site.request("r", keys), 0).blocks());

    assertTrue(new Engine(Optional.of(site.connector)).resetPrefixCache(Site.epoch(2)).succeeded());

    assertTrue(site.backend.removals.get() >= 1);
    assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(site.request("s", keys), 0));
  }

  @Test
  @DisplayName("S1.4 without a connector there is nothing to reset: success, and it says so")
  void noConnector() {
    for (Way way : Way.values()) {
      EngineReset reset = way.reset(new Engine(Optional.empty()), 2);
      assertTrue(reset.succeeded());
      assertEquals(ResetReport.Outcome.NOTHING_TO_RESET, reset.connector().getFirst().outcome());
      assertEquals("no connector: nothing to reset", reset.connector().getFirst().detail());
    }
  }

  @Test
  @DisplayName("a reset that cannot be proved throws in every way, keeps the host paused, and may be called again")
  void failureThrows() {
    Site site = site(Site.POLICY.withDeadline(Duration.ofMillis(500)));
    Engine engine = new Engine(Optional.of(site.connector));
    LoopbackControls.masterDown("loopback:" + pool);
    long version = 1;
    for (Way way : Way.values()) {
      long next = ++version;
      engine.told.clear();
      EngineResetException failed = assertThrows(EngineResetException.class, () -> way.reset(engine, next));
      assertEquals(2, failed.reset().connector().size());
      assertTrue(String.valueOf(failed.getMessage()).contains("StoreConnector WORKER"), failed::toString);
      assertEquals(List.of("pause", "clear"), engine.told, "neither resumed nor asleep");
    }
    LoopbackControls.masterUp("loopback:" + pool);
    assertTrue(Way.RESET.reset(engine, version).succeeded());
    assertTrue(engine.told.contains("resume"));
  }

  @Test
  @DisplayName("S1.2 no host wakes up to KV of earlier weights: not after a reset that failed, before it slept or while")
  void wakesUp() {
    Site site = site(Site.POLICY);
    Engine engine = new Engine(Optional.of(site.connector));
    engine.wakeUp();
    assertEquals(List.of(), engine.told, "it is awake");
    engine.throwing = true;
    assertThrows(EngineResetException.class, () -> engine.sleep(SleepDepth.KEEP_WEIGHTS, Site.epoch(2)));
    assertThrows(IllegalStateException.class, engine::wakeUp);
    engine.throwing = false;
    engine.sleep(SleepDepth.KEEP_WEIGHTS, Site.epoch(2));
    engine.throwing = true;
    assertThrows(EngineResetException.class, () -> engine.resetPrefixCache(Site.epoch(3)));
    assertThrows(IllegalStateException.class, engine::wakeUp);
    engine.throwing = false;
    engine.resetPrefixCache(Site.epoch(3));
    assertThrows(IllegalArgumentException.class, () -> engine.resetPrefixCache(Site.epoch(1)));
    assertEquals(List.of(), engine.told.stream().filter(told -> told.equals("wake") || told.equals("resume")).toList(),
        "asleep until it is woken");

    engine.wakeUp();

    assertEquals(List.of("wake", "resume"), engine.told.subList(engine.told.size() - 2, engine.told.size()));
  }

  @Test
  @DisplayName("K1.06 with a step that does not end, or a cache that cannot be cleared, the reset fails and names it")
  void stepRuns() {
    Site site = site(Site.POLICY);
    Engine engine = new Engine(Optional.of(site.connector));
    engine.running = List.of("step 7");
    EngineResetException failed = assertThrows(EngineResetException.class,
        () -> engine.resetPrefixCache(Site.epoch(2)));
    assertEquals("still running: step 7", failed.reset().ownCache());
    assertFalse(engine.told.contains("clear"), "its blocks are in use");
    assertTrue(failed.reset().connector().stream().allMatch(ResetReport::succeeded), "the store is reset all the same");
    engine.running = List.of();
    engine.throwing = true;
    assertTrue(String.valueOf(assertThrows(EngineResetException.class,
        () -> engine.sleep(SleepDepth.KEEP_WEIGHTS, Site.epoch(2))).getMessage())
        .contains("own cache: clearing failed: 2 blocks in flight"));
    engine.throwing = false;
    assertTrue(engine.sleep(SleepDepth.KEEP_WEIGHTS, Site.epoch(2)).succeeded());
  }

  @Test
  @DisplayName("an epoch that is refused does not let a host go on whose last reset failed")
  void lowerEpochAfterFailure() {
    Site site = site(Site.POLICY);
    Engine engine = new Engine(Optional.of(site.connector));
    engine.throwing = true;
    assertThrows(EngineResetException.class, () -> engine.resetPrefixCache(Site.epoch(5)));
    engine.told.clear();

    assertThrows(IllegalArgumentException.class, () -> engine.resetPrefixCache(Site.epoch(4)));

    assertFalse(engine.told.contains("resume"), engine.told::toString);
    engine.throwing = false;
    engine.resetPrefixCache(Site.epoch(5));
    assertTrue(engine.told.contains("resume"));
  }

  @Test
  @DisplayName("an epoch that is lower than one in force is refused, and the host goes on as before")
  void lowerEpoch() {
    Site site = site(Site.POLICY);
    Engine engine = new Engine(Optional.of(site.connector));
    engine.resetPrefixCache(Site.epoch(5));
    List<KvKey> keys = Site.keys("p", 4);
    site.save("w", keys);
    engine.told.clear();

    assertThrows(IllegalArgumentException.class, () -> engine.resetPrefixCache(Site.epoch(4)));

    assertEquals(List.of("pause", "resume"), engine.told);
    assertEquals(new PrefixLookup.Found(4), site.connector.scheduler().lookup(site.request("r", keys), 0));
  }
}

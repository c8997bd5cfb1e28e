package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.internal.backend.LoopbackBackendProvider;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Sequence;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.store.Existence;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.StorePolicy;
import dev.gatun.testing.Await;
import dev.gatun.testing.Thrown;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Two stores under one gate as one connector, and connectors that do what they should not. */
class MultiConnectorTest {
  private static final int PAGE_BYTES = 512;
  private static final int PAGES = 64;
  private static final Duration WAIT = Duration.ofSeconds(30);

  private final EpochGate gate = new EpochGate(Site.epoch(1));
  private final List<String> pools = List.of("multi-" + UUID.randomUUID(), "multi-" + UUID.randomUUID());
  private final List<FaultyBackend> backends = new ArrayList<>();
  private final List<KvStore> stores = new ArrayList<>();
  private final BlockPool cache = BlockPool.allocate(new PoolLayout(PAGE_BYTES, PAGES), gate);
  private final RefitCoordinator coordinator;
  private final MultiConnector multi;

  MultiConnectorTest() {
    for (String pool : pools) {
      StoreOptions options = StoreOptions.loopback(pool, 16L << 20);
      FaultyBackend backend = new FaultyBackend(new LoopbackBackendProvider().open(options));
      backends.add(backend);
      stores.add(KvStore.open(backend, options, Site.PLAIN, gate, Observer.NONE, StorePolicy.DEFAULT));
    }
    coordinator = new RefitCoordinator(gate, stores.stream().map(KvStore::refitPort).toList(), Site.POLICY,
        Observer.NONE);
    multi = new MultiConnector(stores.stream().map(store -> StoreConnector.open(store, coordinator,
        StoreTransferOptions.SINGLE_PAGES.withBlocksPerGroup(store == stores.getFirst() ? 4 : 1))).toList());
    multi.worker().registerCache(cache);
  }

  @BeforeEach
  @AfterEach
  void calm() {
    LoopbackControls.reset();
  }

  @AfterEach
  void close() {
    LoopbackControls.reset();
    multi.close();
    stores.forEach(KvStore::close);
    cache.close(Deadline.after(WAIT));
  }

  private KvRequest request(String id, List<KvKey> keys) {
    return new KvRequest(id, Sequence.open(gate), keys);
  }

  private BlockTable lease(KvRequest request, int count) {
    return BlockTable.of(IntStream.range(0, count).mapToLong(i -> request.sequence().lease(cache)).toArray());
  }

  private BlockTable compute(KvRequest request) {
    BlockTable blocks = lease(request, request.keys().size());
    for (int i = 0; i < blocks.size(); i++)
      Site.fill(cache.rewrite(blocks.get(i)), request.keys().get(i), gate.epoch().version());
    return blocks;
  }

  private void step(ScheduledRequest... requests) {
    ConnectorPlan plan = multi.scheduler().plan(List.of(requests));
    multi.worker().startLoad(plan);
    multi.worker().save(plan);
  }

  private FinishedTransfers finish() {
    assertTrue(multi.worker().awaitLoads(Deadline.after(WAIT)));
    assertTrue(multi.worker().awaitSaves(Deadline.after(WAIT)));
    return multi.worker().finished();
  }

  private List<String> save(String id, List<KvKey> keys) {
    KvRequest request = request(id, keys);
    multi.scheduler().lookup(request, 0);
    BlockTable blocks = compute(request);
    step(new ScheduledRequest(request, blocks, keys.size()));
    assertFalse(multi.scheduler().finished(request, blocks, keys.size()).mayFree());
    step();
    List<String> freed = multi.scheduler().update(finish());
    blocks.stream().forEach(cache::release);
    return freed;
  }

  /** Loads all that is found, checks each byte. {@return which child it came from, by its name in the report} */
  private String load(String id, List<KvKey> keys) {
    KvRequest request = request(id, keys);
    PrefixLookup found = multi.scheduler().lookup(request, 0);
    assertEquals(new PrefixLookup.Found(keys.size()), found);
    BlockTable blocks = lease(request, keys.size());
    multi.scheduler().allocated(request, blocks, keys.size());
    step();
    FinishedTransfers done = finish();
    assertEquals(1, done.loads().size(), "one load, from one child");
    assertTrue(done.loads().getFirst().complete(), done::toString);
    for (int i = 0; i < blocks.size(); i++)
      assertEquals(-1, Site.page(keys.get(i), gate.epoch().version(), PAGE_BYTES).mismatch(cache.page(blocks.get(i))));
    multi.scheduler().update(done);
    multi.scheduler().finished(request, blocks, keys.size());
    step();
    multi.scheduler().update(finish());
    blocks.stream().forEach(cache::release);
    return done.loads().getFirst().connector();
  }

  @Test
  @DisplayName("saves go to every child; a load comes from the first that has the prefix, another if it has lost it")
  void savesToAll() {
    List<KvKey> keys = Site.keys("p", 6);
    assertEquals(List.of("r"), save("r", keys));

    assertEquals(Existence.PRESENT, stores.get(0).exists(new PageGroups(4).group(keys, 0).key()));
    assertEquals(Existence.PRESENT, stores.get(1).exists(keys.get(0)));
    assertEquals("0:StoreConnector", load("first", keys));
    stores.get(0).removeAll(true);
    assertEquals("1:StoreConnector", load("second", keys));
    // what the first had lost was saved to it again
    assertEquals(Existence.PRESENT, stores.get(0).exists(new PageGroups(4).group(keys, 0).key()));
    assertEquals("0:StoreConnector", load("third", keys));
  }

  @Test
  @DisplayName("K16.02 a request that two children report as done is let go after the last, and named once")
  void freedAfterTheLast() throws InterruptedException {
    CountDownLatch go = new CountDownLatch(1);
    backends.get(1).before = operation -> {
      if (operation.equals("put")) await(go);
    };
    List<KvKey> keys = Site.keys("p", 4);
    KvRequest request = request("r", keys);
    multi.scheduler().lookup(request, 0);
    BlockTable blocks = compute(request);
    step(new ScheduledRequest(request, blocks, 4));
    assertFalse(multi.scheduler().finished(request, blocks, 4).mayFree());
    List<String> freed = new ArrayList<>();
    Await.until("the first child is done", () -> {
      FinishedTransfers done = multi.worker().finished();
      freed.addAll(multi.scheduler().update(done));
      return !done.saves().isEmpty();
    });
    assertEquals(List.of(), freed, "the second child still reads the blocks");
    go.countDown();
    FinishedTransfers last = finish();

    assertEquals(List.of("r"), multi.scheduler().update(last));
    assertEquals(List.of(), multi.scheduler().update(last), "the same report again");
    assertEquals(1, multi.scheduler().stats().children().get(1).count("late_reports"));
    blocks.stream().forEach(cache::release);
    assertEquals(PAGES, cache.available());
  }

  @Test
  @DisplayName("a reset reaches every child and both stores, each once, and every child reports")
  void resetsAll() {
    List<KvKey> keys = Site.keys("p", 6);
    save("r", keys);

    ResetReport scheduler = multi.scheduler().resetCache(Site.epoch(2));
    List<Integer> removals = backends.stream().map(backend -> backend.removals.get()).toList();
    ResetReport worker = multi.worker().resetCache(Site.epoch(2));

    assertTrue(scheduler.succeeded() && worker.succeeded(), () -> scheduler + "\n" + worker);
    assertEquals(2, scheduler.children().size());
    assertEquals(2, scheduler.children().getFirst().refit().orElseThrow().stores().size());
    assertTrue(removals.stream().allMatch(count -> count > 0));
    assertEquals(removals, backends.stream().map(backend -> backend.removals.get()).toList());
    assertEquals(new PrefixLookup.Found(0), multi.scheduler().lookup(request("s", keys), 0));
  }

  @Test
  @DisplayName("a child that fails to reset, or throws, fails the whole by name, and those behind it are reset as well")
  void neverStopsAtTheFirst() {
    ScriptedConnector broken = new ScriptedConnector("broken");
    broken.throwing = true;
    ScriptedConnector failing = new ScriptedConnector("failing");
    failing.outcome = ResetReport.Outcome.FAILED;
    ScriptedConnector good = new ScriptedConnector("good");
    MultiConnector joined = new MultiConnector(List.of(broken, failing, good));

    ResetReport report = joined.worker().resetCache(Site.epoch(2));

    assertEquals(ResetReport.Outcome.FAILED, report.outcome());
    assertEquals("not reset: broken, failing", report.detail());
    assertEquals(3, report.children().size());
    assertEquals(List.of("resetCache 2"), good.calls);
    List.of(broken, failing, good).forEach(child -> child.outcome = ResetReport.Outcome.NOTHING_TO_RESET);
    broken.throwing = false;
    assertEquals(ResetReport.Outcome.NOTHING_TO_RESET, joined.scheduler().resetCache(Site.epoch(2)).outcome());
  }

  @Test
  @DisplayName("a child that throws on the way keeps no other from its turn: looked up, planned, saved, reported, closed")
  void brokenChild() {
    ScriptedConnector broken = new ScriptedConnector("broken");
    broken.throwing = true;
    ScriptedConnector good = new ScriptedConnector("good");
    good.lookups = request -> new PrefixLookup.Found(2);
    MultiConnector joined = new MultiConnector(List.of(broken, good));
    KvRequest request = request("r", Site.keys("p", 2));
    BlockTable blocks = lease(request, 2);

    assertEquals(new PrefixLookup.Found(2), joined.scheduler().lookup(request, 0));
    good.lookups = asked -> new PrefixLookup.Found(0);
    PrefixLookup failed = joined.scheduler().lookup(request, 0);
    assertInstanceOf(PrefixLookup.Failed.class, failed, "one could not say, so it is no miss");
    ConnectorPlan plan = joined.scheduler().plan(List.of());
    joined.worker().startLoad(plan);
    joined.worker().save(plan);
    assertFalse(joined.worker().awaitLoads(Deadline.after(WAIT)));
    assertTrue(joined.worker().finished().isEmpty());
    assertTrue(joined.scheduler().finished(request, blocks, 0).mayFree());
    assertEquals(List.of(), joined.scheduler().update(FinishedTransfers.NONE));
    joined.close();

    assertEquals(List.of("lookup", "lookup", "plan", "startLoad", "save", "awaitLoads", "finished", "finished",
        "update 0 0", "close"), good.calls);
    assertTrue(joined.scheduler().stats().count("child_failures") >= 3);
    blocks.stream().forEach(cache::release);
  }

  @Test
  @DisplayName("a pending child makes the request wait, whatever the others have; the chosen child alone is told to load")
  void pending() {
    ScriptedConnector first = new ScriptedConnector("first");
    ScriptedConnector second = new ScriptedConnector("second");
    first.lookups = request -> new PrefixLookup.Found(1);
    second.lookups = request -> new PrefixLookup.Pending();
    MultiConnector joined = new MultiConnector(List.of(first, second));
    KvRequest request = request("r", Site.keys("p", 4));
    assertEquals(new PrefixLookup.Pending(), joined.scheduler().lookup(request, 1));
    second.lookups = asked -> new PrefixLookup.Found(3);
    assertEquals(new PrefixLookup.Found(3), joined.scheduler().lookup(request, 1));
    BlockTable blocks = lease(request, 4);
    joined.scheduler().allocated(request, blocks, 3);

    assertEquals(List.of("lookup", "allocated 0"), first.calls);
    assertEquals(List.of("lookup", "lookup", "allocated 3"), second.calls);
    blocks.stream().forEach(cache::release);
  }

  /** A child that looks up in the background: it answers every second time, and forgets what it has answered. */
  private static ScriptedConnector background(String name, int firstAnswer, int blocks) {
    ScriptedConnector child = new ScriptedConnector(name);
    child.lookups = request -> child.calls.size() % 2 == firstAnswer % 2
        ? new PrefixLookup.Found(blocks)
        : new PrefixLookup.Pending();
    return child;
  }

  @Test
  @DisplayName("K7.03 children that look up in the background and never answer at once do not keep a request waiting for ever")
  void neverAtOnce() {
    ScriptedConnector first = background("first", 1, 2);
    ScriptedConnector second = background("second", 2, 3);
    MultiConnector joined = new MultiConnector(List.of(first, second));
    KvRequest request = request("r", Site.keys("p", 4));

    assertEquals(new PrefixLookup.Pending(), joined.scheduler().lookup(request, 0));
    assertEquals(new PrefixLookup.Found(2), joined.scheduler().lookup(request, 0));
    assertEquals(List.of("lookup"), first.calls, "an answer is kept");
    assertEquals(List.of("lookup", "lookup"), second.calls);
  }

  @Test
  @DisplayName("answers that are kept for one that is pending hold for the same question only, and not over a refit")
  void answersAgain() {
    ScriptedConnector first = new ScriptedConnector("first");
    ScriptedConnector second = new ScriptedConnector("second");
    second.lookups = asked -> new PrefixLookup.Pending();
    MultiConnector joined = new MultiConnector(List.of(first, second));
    KvRequest request = request("r", Site.keys("p", 4));
    joined.scheduler().lookup(request, 0);
    joined.scheduler().lookup(request, 0);
    assertEquals(1, first.calls.size());
    joined.scheduler().lookup(request, 1);
    assertEquals(2, first.calls.size(), "from another block on");
    joined.scheduler().lookup(request("r", Site.keys("p", 4)), 1);
    assertEquals(3, first.calls.size(), "another request of the same id");
    joined.scheduler().lookup(request, 1);
    assertTrue(coordinator.refit(Site.epoch(2)).accepted());
    joined.scheduler().lookup(request, 1);
    assertEquals(5, first.calls.size(), "a refit came in between");
  }

  @Test
  @DisplayName("an epoch that is too low is refused as by any connector: nothing was done, so nothing has failed")
  void tooLow() {
    assertTrue(multi.worker().resetCache(Site.epoch(2)).succeeded());
    assertThrows(IllegalArgumentException.class, () -> multi.worker().resetCache(Site.epoch(1)));
    assertThrows(IllegalArgumentException.class, () -> multi.scheduler().resetCache(Site.epoch(1)));
    assertEquals(Site.epoch(2), gate.epoch());
  }

  @Test
  @DisplayName("a cache that a child refuses is given to those behind it, and the refusal is told")
  void refusedCache() {
    ScriptedConnector broken = new ScriptedConnector("broken");
    broken.throwing = true;
    ScriptedConnector good = new ScriptedConnector("good");
    MultiConnector joined = new MultiConnector(List.of(broken, good));

    assertEquals("broken is broken",
        Thrown.message(IllegalStateException.class, () -> joined.worker().registerCache(cache)));
    assertEquals(List.of("registerCache"), good.calls);
  }

  @Test
  @DisplayName("S3.7 counts of a child without metrics are skipped and counted, those of metrics that throw counted too")
  void metrics() {
    ScriptedConnector child = new ScriptedConnector("MooncakeConnector");
    MultiConnector joined = new MultiConnector(List.of(child, new ScriptedConnector("StoreConnector"),
        new ScriptedConnector("Throwing"), child));
    List<ConnectorStats> seen = new ArrayList<>();
    StatsDelivery delivery = new StatsDelivery(Map.of("StoreConnector", seen::add, "Throwing", stats -> {
      throw new AssertionLikeException();
    }));

    for (int i = 0; i < 5; i++)
      delivery.deliver(joined.worker().stats());

    assertEquals(5, seen.size());
    assertEquals(3, seen.getFirst().count("transfers"));
    assertEquals(0, seen.getFirst().count("unheard of"));
    assertEquals(10, delivery.skipped());
    assertEquals(5, delivery.failed());
    assertEquals(5, delivery.delivered());
    child.throwing = true;
    delivery.deliver(joined.worker().stats());
    assertEquals(6, seen.size(), "stats of the others come through");
  }

  private static final class AssertionLikeException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  @Test
  @DisplayName("parameters of the child between processes reach the router beside any stores")
  void parameters() {
    ScriptedConnector peer = new ScriptedConnector("NixlConnector");
    peer.end = new RequestEnd(false, Map.of("remote_engine_id", "e"));
    MultiConnector joined = new MultiConnector(List.of(new ScriptedConnector("StoreConnector"), peer));
    KvRequest request = request("r", Site.keys("p", 1));

    RequestEnd end = joined.scheduler().finished(request, BlockTable.EMPTY, 0);

    assertEquals(Map.of("remote_engine_id", "e"), end.transferParams());
    assertFalse(end.mayFree());
    peer.freed = List.of("r");
    assertEquals(List.of("r"), joined.scheduler().update(FinishedTransfers.NONE));
    assertEquals(List.of(), joined.scheduler().update(FinishedTransfers.NONE));
  }

  @Test
  @DisplayName("a multi connector is made of its configuration, in order; one child that cannot be made closes the others")
  void ofConfiguration() {
    KvTransferConfig config = KvTransferConfig.from(Map.of("kv_connector", "MultiConnector", "kv_role", "kv_both",
        "kv_connector_extra_config", Map.of("connectors", List.of(
            Map.of("kv_connector", "NixlConnector", "kv_role", "kv_both"),
            Map.of("kv_connector", "MooncakeStoreConnector", "kv_role", "kv_both")))));
    List<ScriptedConnector> made = new ArrayList<>();
    MultiConnector joined = MultiConnector.of(config, child -> {
      made.add(new ScriptedConnector(child.kvConnector().orElseThrow()));
      return made.getLast();
    });
    assertEquals(List.of("NixlConnector", "MooncakeStoreConnector"),
        joined.children().stream().map(KvConnector::name).toList());
    assertThrows(IllegalStateException.class, () -> MultiConnector.of(config, child -> {
      if (child.kvConnector().orElseThrow().equals("NixlConnector")) return made.getFirst();
      throw new IllegalStateException("no master");
    }));
    assertEquals(List.of("close"), made.getFirst().calls);
    KvTransferConfig single = config.connectors().getFirst();
    assertEquals("kv_connector must be MultiConnector with connectors: NixlConnector", Thrown.message(
        IllegalArgumentException.class, () -> MultiConnector.of(single, child -> made.getFirst())));
    assertEquals("children must be one or more: none",
        Thrown.message(IllegalArgumentException.class, () -> new MultiConnector(List.of())));
    assertThrows(IllegalArgumentException.class, () -> joined.worker().save(new StorePlan(List.of(), List.of())));
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(WAIT.toSeconds(), TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}

package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreOptions;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.memory.Sequence;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.Existence;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.testing.Await;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A store connector whose store, refits and host do what they should not. */
class StoreConnectorFaultTest {
  private static final int PAGE_BYTES = 512;
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final StoreTransferOptions GROUPS = StoreTransferOptions.SINGLE_PAGES.withBlocksPerGroup(4);
  private static final RefitPolicy QUICK = Site.POLICY.withDeadline(Duration.ofMillis(300));

  private final String pool = "connector-fault-" + UUID.randomUUID();
  private final Deque<Site> open = new ArrayDeque<>();

  @BeforeEach
  void calm() {
    LoopbackControls.reset();
  }

  @AfterEach
  void close() {
    LoopbackControls.reset();
    while (!open.isEmpty())
      open.pop().close();
  }

  private Site site(KeyCodec codec, RefitPolicy policy, StoreTransferOptions options) {
    Site site = new Site(StoreOptions.loopback(pool, 16L << 20), codec, policy, options, PAGE_BYTES, 64);
    open.push(site);
    return site;
  }

  private Site site() {
    return site(Site.KEYED, Site.POLICY, GROUPS);
  }

  /** Holds the next call of an operation inside the library until it is let go. */
  private static final class Held {
    private final CountDownLatch inside = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);

    Held(Site site, String operation) {
      site.backend.before = called -> {
        if (called.equals(operation)) hold();
      };
    }

    private Held() {}

    /** Holds the next call when the library has answered it. */
    static Held afterwards(Site site, String operation) {
      Held held = new Held();
      site.backend.answers = (called, key) -> {
        if (called.equals(operation)) held.hold();
        return FaultyBackend.AS_IT_IS;
      };
      return held;
    }

    private void hold() {
      inside.countDown();
      try {
        assertTrue(go.await(WAIT.toSeconds(), TimeUnit.SECONDS), "let go");
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    void await() throws InterruptedException {
      assertTrue(inside.await(WAIT.toSeconds(), TimeUnit.SECONDS), "reached the library");
    }

    void letGo() {
      go.countDown();
    }
  }

  @Test
  @DisplayName("a store that cannot say whether a key is there makes a lookup failed, not a miss")
  void unknownIsNoMiss() {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 9);
    site.save("w", keys);
    site.backend.answers = (operation, key) -> operation.equals("exists") && key.endsWith("/p-8")
        ? StoreCode.RPC_FAIL.raw()
        : FaultyBackend.AS_IT_IS;

    PrefixLookup found = site.connector.scheduler().lookup(site.request("r", keys), 0);

    assertInstanceOf(PrefixLookup.Failed.class, found);
    assertEquals(8, found.blocks(), "what is known to be there can be loaded all the same");
    assertEquals(1, site.schedulerCount("lookups_failed"));
    LoopbackControls.masterDown("loopback:" + pool);
    assertInstanceOf(PrefixLookup.Failed.class, site.connector.scheduler().lookup(site.request("s", keys), 0));
  }

  @Test
  @DisplayName("K2.04 K2.05 a load whose leases have run out is missing block by block, and the next one works")
  void leaseExpired() {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 9);
    site.save("w", keys);
    site.backend.answers = (operation, key) -> operation.equals("get")
        ? StoreCode.LEASE_EXPIRED.raw()
        : FaultyBackend.AS_IT_IS;
    Site.Loaded expired = site.load(site.request("r", keys), 0);
    site.backend.answers = (operation, key) -> FaultyBackend.AS_IT_IS;

    assertEquals(9, expired.load().missing().size());
    assertEquals(9, site.workerCount("blocks_lease_expired"));
    for (int i = 0; i < 9; i++) {
      long block = expired.blocks().get(i);
      if (i == 8) assertThrows(IllegalStateException.class, () -> site.cache.page(block), "got into and not valid");
    }
    Site.Loaded again = site.load(site.request("s", keys), 0);
    assertTrue(again.load().complete());
    site.release(expired.blocks());
    site.release(again.blocks());
  }

  @Test
  @DisplayName("K10.10 a group with the null block is not stored, nor is the block alone; its neighbours are")
  void nullBlock() {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 11);
    KvRequest request = site.request("r", keys);
    BlockTable blocks = site.compute(request, BlockTable.EMPTY, 11);
    site.cache.reserveNull(blocks.get(5));
    site.cache.reserveNull(blocks.get(9));
    site.step(new ScheduledRequest(request, blocks, 11));
    assertFalse(site.connector.scheduler().finished(request, blocks, 11).mayFree());
    site.step();
    FinishedTransfers done = site.finish();
    assertEquals(List.of("r"), site.connector.scheduler().update(done));

    assertEquals(List.of(4, 1), done.saves().stream().map(FinishedTransfers.Save::failedBlocks).toList());
    assertTrue(done.saves().getFirst().reason().contains("null block"), done::toString);
    PageGroups groups = new PageGroups(4);
    assertEquals(List.of(Existence.PRESENT, Existence.ABSENT, Existence.PRESENT, Existence.ABSENT, Existence.PRESENT),
        site.store.exists(List.of(groups.group(keys, 0).key(), groups.group(keys, 1).key(), keys.get(8), keys.get(9),
            keys.get(10))));
    assertEquals(6, site.workerCount("blocks_saved"));
    assertEquals(5, site.workerCount("blocks_save_failed"));
    site.release(blocks);
  }

  @Test
  @DisplayName("once a save fails, what lies behind it is not saved: nobody could find it")
  void savesStop() {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 12);
    site.backend.answers = (operation, key) -> operation.equals("put") && key.endsWith("p-7")
        ? StoreCode.NO_AVAILABLE_HANDLE.raw()
        : FaultyBackend.AS_IT_IS;
    KvRequest request = site.request("r", keys);
    BlockTable blocks = site.compute(request, BlockTable.EMPTY, 12);
    site.step(new ScheduledRequest(request, blocks, 8));
    FinishedTransfers done = site.finish();
    assertEquals(4, done.saves().getFirst().failedBlocks());
    assertTrue(done.saves().getFirst().reason().contains("NO_AVAILABLE_HANDLE"), done::toString);
    site.connector.scheduler().update(done);

    assertTrue(site.connector.scheduler().plan(List.of(new ScheduledRequest(request, blocks, 12))).isEmpty());
    assertTrue(site.connector.scheduler().finished(request, blocks, 12).mayFree());
    assertEquals(1, site.schedulerCount("saves_stopped"));
    site.release(blocks);
  }

  @Test
  @DisplayName("a sequence that is older than the epoch saves nothing, whatever blocks it brings")
  void staleSequence() {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 8);
    KvRequest old = site.request("r", keys);
    BlockTable before = site.compute(old, BlockTable.EMPTY, 4);
    assertTrue(site.connector.scheduler().resetCache(Site.epoch(2)).succeeded());
    assertThrows(EpochChangedException.class, () -> old.sequence().lease(site.cache));
    BlockTable fresh = site.compute(site.request("other", keys), BlockTable.EMPTY, 8);

    assertTrue(site.connector.scheduler().plan(List.of(new ScheduledRequest(old, fresh, 8))).isEmpty());
    assertEquals(1, site.schedulerCount("saves_refused_stale"));
    // blocks of before under a new sequence: the pool refuses them
    KvRequest dishonest = new KvRequest("d", Sequence.open(site.gate), keys);
    site.step(new ScheduledRequest(dishonest, before, 4));
    FinishedTransfers done = site.finish();
    assertEquals(4, done.saves().getFirst().failedBlocks(), done::toString);
    assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(site.request("l", keys), 0));
    site.release(before);
    site.release(fresh);
  }

  @Test
  @DisplayName("K1.08 after a reset the blocks of before give no bytes: the epoch has changed")
  void blocksOfBefore() {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 4);
    site.save("w", keys);
    Site.Loaded loaded = site.load(site.request("r", keys), 0);
    site.connector.worker().resetCache(Site.epoch(2));

    assertThrows(EpochChangedException.class, () -> site.cache.page(loaded.blocks().get(0)));
    site.release(loaded.blocks());
  }

  @Test
  @DisplayName("S1.6 K1.06 a reset waits for a save that runs, and nothing of it can be found afterwards")
  void drains() throws Exception {
    Site site = site(Site.PLAIN, Site.POLICY, GROUPS);
    List<KvKey> keys = Site.keys("p", 4);
    KvRequest request = site.request("r", keys);
    BlockTable blocks = site.compute(request, BlockTable.EMPTY, 4);
    Held put = new Held(site, "put");
    site.step(new ScheduledRequest(request, blocks, 4));
    put.await();
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<ResetReport> reset = threads.submit(() -> site.connector.worker().resetCache(Site.epoch(2)));
      Await.until("the gate is closed", () -> site.gate.state() == EpochGate.State.CLOSED);
      assertFalse(reset.isDone());
      put.letGo();
      assertEquals(ResetReport.Outcome.RESET, reset.get().outcome(), () -> reset.resultNow().toString());
    }
    assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(site.request("l", keys), 0));
    site.release(blocks);
  }

  @Test
  @DisplayName("K1.06 K1.07 while a load does not come back every reset fails, and says so; none is silently left out")
  void neverSilent() throws Exception {
    Site site = site(Site.PLAIN, QUICK, GROUPS);
    List<KvKey> keys = Site.keys("p", 4);
    site.save("w", keys);
    KvRequest request = site.request("r", keys);
    site.connector.scheduler().lookup(request, 0);
    BlockTable blocks = site.lease(request, 4);
    site.connector.scheduler().allocated(request, blocks, 4);
    Held get = new Held(site, "get");
    site.step();
    get.await();
    for (int i = 0; i < 10; i++) {
      ResetReport report = site.connector.scheduler().resetCache(Site.epoch(2));
      assertEquals(ResetReport.Outcome.FAILED, report.outcome(), report::toString);
      assertFalse(report.refit().orElseThrow().reasons().isEmpty());
    }
    get.letGo();
    Await.until("the load ended", () -> site.connector.worker().awaitLoads(Deadline.after(WAIT)));
    assertTrue(site.connector.scheduler().resetCache(Site.epoch(2)).succeeded());
    assertEquals(4, site.connector.worker().finished().loads().getFirst().missing().size(), "bytes of old weights");
    site.release(blocks);
  }

  @Test
  @DisplayName("K1.11 a reset that the master does not answer fails, and local state is gone all the same")
  void masterDown() {
    Site site = site(Site.PLAIN, QUICK, GROUPS);
    List<KvKey> keys = Site.keys("p", 4);
    site.save("w", keys);
    site.connector.scheduler().lookup(site.request("r", keys), 0);
    LoopbackControls.masterDown("loopback:" + pool);

    ResetReport report = site.connector.scheduler().resetCache(Site.epoch(2));

    assertEquals(ResetReport.Outcome.FAILED, report.outcome());
    assertEquals(0, site.schedulerCount("requests"));
    assertThrows(IllegalArgumentException.class,
        () -> site.connector.scheduler().allocated(site.request("r", keys), site.lease(site.request("x", keys), 4), 4));
    assertFalse(site.connector.worker().resetCache(Site.epoch(2)).succeeded());
    LoopbackControls.masterUp("loopback:" + pool);
    assertTrue(site.connector.scheduler().resetCache(Site.epoch(2)).succeeded());
    assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(site.request("s", keys), 0));
  }

  @Test
  @DisplayName("K1.12 a save that ends after the reset it was caught in changes nothing; its blocks are freed once")
  void lateCompletion() throws Exception {
    Site site = site(Site.KEYED, QUICK, GROUPS);
    List<KvKey> keys = Site.keys("p", 4);
    KvRequest request = site.request("r", keys);
    BlockTable blocks = site.compute(request, BlockTable.EMPTY, 4);
    Held put = new Held(site, "put");
    site.step(new ScheduledRequest(request, blocks, 4));
    assertFalse(site.connector.scheduler().finished(request, blocks, 4).mayFree());
    put.await();
    site.connector.scheduler().resetCache(Site.epoch(2));
    assertEquals(List.of("r"), site.connector.scheduler().update(FinishedTransfers.NONE), "the reset let them go");
    site.release(blocks);
    put.letGo();
    FinishedTransfers late = site.finish();

    assertEquals(1, late.saves().size());
    assertEquals(List.of(), site.connector.scheduler().update(late));
    assertEquals(1, site.schedulerCount("late_reports"));
    assertEquals(64, site.cache.available(), "each block freed once");
    assertEquals(0, site.workerCount("transfers_open"));
  }

  @Test
  @DisplayName("what waits when a reset comes is failed, and reported, not begun afterwards")
  void waitingIsFailed() throws Exception {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 8);
    KvRequest request = site.request("r", keys);
    BlockTable blocks = site.compute(request, BlockTable.EMPTY, 8);
    Held put = new Held(site, "put");
    site.step(new ScheduledRequest(request, blocks, 4));
    put.await();
    site.step(new ScheduledRequest(request, blocks, 8));
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<ResetReport> reset = threads.submit(() -> site.connector.worker().resetCache(Site.epoch(2)));
      Await.until("what waits is failed", () -> site.workerCount("failed_by_reset") == 1);
      put.letGo();
      assertTrue(reset.get().succeeded());
    }
    FinishedTransfers done = site.finish();
    assertEquals(2, done.saves().size());
    assertTrue(done.saves().stream().anyMatch(save -> save.reason().contains("reset")), done::toString);
    assertEquals(1, site.backend.batchPuts.get() - canaries(site));
    site.release(blocks);
  }

  /** Canaries of refits are batch puts too. */
  private static int canaries(Site site) {
    return site.coordinator.lastReport().map(report -> report.attempts()).orElse(0);
  }

  @Test
  @DisplayName("one request whose keys no store takes loses its own saves, and not those of the others in its step")
  void badKeys() {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 4);
    KvRequest good = site.request("good", keys);
    KvRequest bad = site.request("bad", List.of(KvKey.of("page-group/4/x")));
    BlockTable blocks = site.compute(good, BlockTable.EMPTY, 4);
    BlockTable other = site.compute(bad, BlockTable.EMPTY, 1);
    for (int step = 0; step < 2; step++)
      site.step(new ScheduledRequest(good, blocks, 4), new ScheduledRequest(bad, other, 1));
    FinishedTransfers done = site.finish();

    assertEquals(List.of(true), done.saves().stream().map(FinishedTransfers.Save::complete).toList());
    assertEquals(1, site.schedulerCount("saves_refused_keys"));
    assertFalse(site.connector.scheduler().finished(good, blocks, 4).mayFree());
    assertEquals(List.of("good"), site.connector.scheduler().update(done));
    assertTrue(site.connector.scheduler().finished(bad, other, 1).mayFree());
    assertEquals(new PrefixLookup.Found(4), site.connector.scheduler().lookup(site.request("l", keys), 0));
    site.release(blocks);
    site.release(other);
  }

  @Test
  @DisplayName("a side that joins a reset leaves alone what has come since: requests, and saves that wait")
  void joinsTwice() throws Exception {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 8);
    assertTrue(site.connector.scheduler().resetCache(Site.epoch(2)).succeeded());
    KvRequest request = site.request("r", keys);
    BlockTable blocks = site.compute(request, BlockTable.EMPTY, 8);
    Held put = new Held(site, "put");
    site.step(new ScheduledRequest(request, blocks, 4));
    put.await();
    site.step(new ScheduledRequest(request, blocks, 8));

    assertTrue(site.connector.worker().resetCache(Site.epoch(2)).succeeded());

    assertEquals(0, site.workerCount("failed_by_reset"));
    put.letGo();
    FinishedTransfers done = site.finish();
    assertEquals(List.of(true, true), done.saves().stream().map(FinishedTransfers.Save::complete).toList());
    site.connector.scheduler().update(done);
    assertTrue(site.connector.worker().resetCache(Site.epoch(3)).succeeded());
    site.connector.scheduler().lookup(site.request("s", keys), 0);
    assertTrue(site.connector.scheduler().resetCache(Site.epoch(3)).succeeded());
    assertEquals(1, site.schedulerCount("requests"));
    site.release(blocks);
  }

  @Test
  @DisplayName("a save for which there is no place is reported as failed at once, and counted")
  void backPressure() throws Exception {
    Site site = site(Site.KEYED, Site.POLICY, GROUPS.withQueuedSavesMax(1));
    List<KvKey> keys = Site.keys("p", 12);
    KvRequest request = site.request("r", keys);
    BlockTable blocks = site.compute(request, BlockTable.EMPTY, 12);
    Held put = new Held(site, "put");
    site.step(new ScheduledRequest(request, blocks, 4));
    put.await();
    site.step(new ScheduledRequest(request, blocks, 8));
    site.step(new ScheduledRequest(request, blocks, 12));
    FinishedTransfers refused = site.connector.worker().finished();
    put.letGo();

    assertEquals(1, refused.saves().size());
    assertTrue(refused.saves().getFirst().reason().contains("waiting"), refused::toString);
    assertEquals(1, site.workerCount("saves_skipped"));
    assertEquals(2, site.finish().saves().size());
    site.release(blocks);
  }

  @Test
  @DisplayName("a lookup in the background is pending first, then answers; one that a reset overtakes is asked anew")
  void backgroundLookup() throws Exception {
    Site site = site(Site.KEYED, Site.POLICY, GROUPS.withLookupAsync());
    List<KvKey> keys = Site.keys("p", 6);
    KvRequest request = site.request("r", keys);
    Held exists = new Held(site, "exists");
    assertEquals(new PrefixLookup.Pending(), site.connector.scheduler().lookup(request, 0));
    exists.await();
    assertEquals(new PrefixLookup.Pending(), site.connector.scheduler().lookup(request, 0));
    exists.letGo();
    List<PrefixLookup> seen = new ArrayList<>();
    Await.until("an answer", () -> {
      seen.add(site.connector.scheduler().lookup(request, 0));
      return !(seen.getLast() instanceof PrefixLookup.Pending);
    });
    assertEquals(new PrefixLookup.Found(0), seen.getLast());
  }

  @Test
  @DisplayName("a lookup that is pending answers only for the blocks it was asked with: evicted ones are loaded as well")
  void backgroundLookupOfLess() throws Exception {
    Site site = site(Site.KEYED, Site.POLICY, GROUPS.withLookupAsync());
    List<KvKey> keys = Site.keys("p", 8);
    site.save("w", keys);
    KvRequest request = site.request("r", keys);
    Held exists = new Held(site, "exists");
    assertEquals(new PrefixLookup.Pending(), site.connector.scheduler().lookup(request, 4));
    exists.await();
    exists.letGo();
    AtomicReference<PrefixLookup> seen = new AtomicReference<>();
    Await.until("an answer", () -> {
      seen.set(site.connector.scheduler().lookup(request, 0));
      return !(seen.get() instanceof PrefixLookup.Pending);
    });
    assertEquals(new PrefixLookup.Found(8), seen.get());
    site.connector.scheduler().allocated(request, site.lease(request, 8), 8);
    StorePlan plan = (StorePlan) site.connector.scheduler().plan(List.of());
    assertEquals(0, plan.loads().getFirst().from());
  }

  @Test
  @DisplayName("a lookup that a reset overtakes is asked anew, under the new epoch")
  void overtakenLookup() throws Exception {
    Site site = site(Site.KEYED, QUICK, GROUPS);
    List<KvKey> keys = Site.keys("p", 4);
    site.save("w", keys);
    Held exists = Held.afterwards(site, "exists");
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<PrefixLookup> found = threads.submit(() -> site.connector.scheduler().lookup(site.request("r", keys), 0));
      exists.await();
      site.connector.scheduler().resetCache(Site.epoch(2));
      exists.letGo();
      assertEquals(new PrefixLookup.Found(0), found.get());
    }
  }

  @Test
  @DisplayName("a save that is reported twice counts once: the blocks wait for the other one")
  void reportedTwice() {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 8);
    KvRequest request = site.request("r", keys);
    BlockTable blocks = site.compute(request, BlockTable.EMPTY, 8);
    site.step(new ScheduledRequest(request, blocks, 4));
    FinishedTransfers first = site.finish();
    site.step(new ScheduledRequest(request, blocks, 8));
    assertFalse(site.connector.scheduler().finished(request, blocks, 8).mayFree());

    assertEquals(List.of(), site.connector.scheduler().update(first));
    assertEquals(List.of(), site.connector.scheduler().update(first));
    assertEquals(1, site.schedulerCount("late_reports"));
    assertEquals(List.of("r"), site.connector.scheduler().update(site.finish()));
    site.release(blocks);
  }

  @Test
  @DisplayName("a request that is given up before its load was planned, or while it runs, keeps its blocks as told")
  void aborted() throws Exception {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 4);
    site.save("w", keys);
    KvRequest early = site.request("early", keys);
    site.connector.scheduler().lookup(early, 0);
    BlockTable blocks = site.lease(early, 4);
    site.connector.scheduler().allocated(early, blocks, 4);
    assertTrue(site.connector.scheduler().finished(early, blocks, 0).mayFree());
    assertTrue(site.connector.scheduler().plan(List.of()).isEmpty());

    KvRequest running = site.request("running", keys);
    site.connector.scheduler().lookup(running, 0);
    site.connector.scheduler().allocated(running, blocks, 4);
    Held get = new Held(site, "get");
    site.step();
    get.await();
    assertFalse(site.connector.scheduler().finished(running, blocks, 0).mayFree());
    assertEquals(List.of(), site.connector.scheduler().update(site.connector.worker().finished()));
    get.letGo();
    assertEquals(List.of("running"), site.connector.scheduler().update(site.finish()));
    assertTrue(site.connector.scheduler().finished(site.request("unseen", keys), blocks, 4).mayFree());
    site.release(blocks);
  }

  @Test
  @DisplayName("with the store disabled after a failed refit prefixes miss and saves fail; nothing throws")
  void disabled() {
    Site site = site(Site.PLAIN, QUICK.withOnFailure(RefitPolicy.OnFailure.DISABLE_STORE), GROUPS);
    LoopbackControls.masterDown("loopback:" + pool);
    assertFalse(site.connector.scheduler().resetCache(Site.epoch(2)).succeeded());
    LoopbackControls.masterUp("loopback:" + pool);
    List<KvKey> keys = Site.keys("p", 5);

    assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(site.request("r", keys), 0));
    List<FinishedTransfers.Save> saves = site.save("w", keys);
    assertTrue(saves.stream().noneMatch(FinishedTransfers.Save::complete), saves::toString);
  }

  @Test
  @DisplayName("K16.04 counts tell what was saved, found, loaded, missed and reset, in blocks and bytes")
  void countsTell() {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 6);
    site.save("w", keys);
    Site.Loaded loaded = site.load(site.request("r", keys), 0);
    site.release(loaded.blocks());
    site.load(site.request("s", Site.keys("q", 3)), 0);
    site.connector.scheduler().resetCache(Site.epoch(7));

    ConnectorStats worker = site.connector.worker().stats();
    assertEquals(6, worker.count("blocks_saved"));
    assertEquals(6L * PAGE_BYTES, worker.count("bytes_saved"));
    assertEquals(6, worker.count("blocks_hit"));
    assertEquals(6L * PAGE_BYTES, worker.count("bytes_loaded"));
    assertEquals(1, worker.count("resets"));
    assertEquals(7, worker.count("weight_version"));
    assertEquals(6, site.schedulerCount("blocks_found"));
    assertEquals(15, site.schedulerCount("blocks_asked"));
    assertEquals(3, site.schedulerCount("lookups"));
  }

  @Test
  @DisplayName("closing fails what waits, waits for what runs, and leaves the host's cache usable")
  void closes() throws Exception {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 8);
    KvRequest request = site.request("r", keys);
    BlockTable blocks = site.compute(request, BlockTable.EMPTY, 8);
    Held put = new Held(site, "put");
    site.step(new ScheduledRequest(request, blocks, 4));
    put.await();
    site.step(new ScheduledRequest(request, blocks, 8));
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<?> closing = threads.submit(site.connector::close);
      Await.until("what waits has failed", () -> !site.connector.worker().finished().saves().isEmpty());
      put.letGo();
      closing.get();
    }
    site.connector.close();
    assertThrows(ClosedException.class, () -> site.connector.worker().registerCache(site.cache));
    assertFalse(site.store.isRegistered(site.cache.slab()));
    assertEquals(2, site.gate.parts().size(), "store and cache");
    assertTrue(site.holds(blocks.get(0), keys.get(0), 1));
    assertThrows(IllegalStateException.class, () -> site.step(new ScheduledRequest(request, blocks, 8)));
    site.release(blocks);
  }

  @Test
  @DisplayName("what a host gets wrong is refused with field, value and what is allowed, before anything is sent")
  void misuse() {
    Site site = site();
    List<KvKey> keys = Site.keys("p", 4);
    KvRequest request = site.request("r", keys);
    SchedulerConnector scheduler = site.connector.scheduler();
    refused("computedBlocks of request r must be 0 to 4: 5", () -> scheduler.lookup(request, 5));
    scheduler.lookup(request, 0);
    BlockTable blocks = site.lease(request, 4);
    refused("loadBlocks of request r must be at most what was found, 0: 2",
        () -> scheduler.allocated(request, blocks, 2));
    refused("computedBlocks of request r must be 0 to 4: 9", () -> new ScheduledRequest(request, blocks, 9));
    refused("keys of request r must differ, key 1 is there twice: p-0",
        () -> site.request("r", List.of(keys.get(0), keys.get(0))));
    refused("id must not be blank: \" \"", () -> site.request(" ", keys));
    refused("block 1 must be a lease: 0", () -> BlockTable.of(1, 0));
    refused("key 0 of request r must not begin with page-group/: page-group/4/x",
        () -> scheduler.lookup(site.request("r", List.of(KvKey.of("page-group/4/x"))), 0));
    refused("key 0 of request r must be 1 to 1011 bytes: 1020",
        () -> scheduler.lookup(site.request("r", List.of(KvKey.of("k".repeat(1020)))), 0));
    refused("plan must be that of a StoreConnector: ", () -> site.connector.worker().save(() -> false));
    refused("blocksPerGroup must be 1 to 1024: 0", () -> GROUPS.withBlocksPerGroup(0));
    refused("stagingBytes must be positive: 0", () -> GROUPS.withStagingBytes(0));
    refused("queuedSavesMax must be 1 to 65536: 0", () -> GROUPS.withQueuedSavesMax(0));
    refused("closeTimeout must be 0 to 1 hour: PT-1S", () -> GROUPS.withCloseTimeout(Duration.ofSeconds(-1)));
    refused("pageBytes must be positive: 0", () -> StoreTransferOptions.forPages(0));
    assertThrows(IllegalStateException.class, () -> site.connector.worker().registerCache(site.cache));
    site.release(blocks);
  }

  @Test
  @DisplayName("S1.8 a store connector is made of its configuration: a consumer loads and saves nothing, a producer saves")
  void ofConfiguration() {
    Site writer = site(Site.KEYED, Site.POLICY, options("kv_both", Map.of()));
    List<KvKey> keys = Site.keys("p", 6);
    writer.save("w", keys);
    Site consumer = site(Site.KEYED, Site.POLICY, options("kv_consumer", Map.of("lookup_async", false)));
    Site.Loaded loaded = consumer.load(consumer.request("r", keys), 0);
    assertTrue(loaded.load().complete() && loaded.found().blocks() == 6);
    consumer.release(loaded.blocks());
    consumer.save("c", Site.keys("q", 6));
    assertEquals(0, consumer.workerCount("blocks_saved"));
    Site blind = site(Site.KEYED, Site.POLICY, options("kv_producer", Map.of("enable_lookup", false)));
    assertEquals(new PrefixLookup.Found(2), blind.connector.scheduler().lookup(blind.request("b", keys), 2));
    StoreTransferOptions placed = options("kv_both", Map.of("lookup_async", true, "preferred_segment", "host:1"));
    assertEquals(List.of("host:1"), placed.placement().preferredSegments());
    assertTrue(placed.lookupAsync() && placed.saves() && placed.lookups());
    assertEquals(64, placed.blocksPerGroup());
    assertTrue(options("kv_consumer", Map.of("save_decode_cache", true)).saves());
  }

  private static StoreTransferOptions options(String role, Map<String, Object> extra) {
    return StoreTransferOptions.of(KvTransferConfig.from(Map.of("kv_connector", "MooncakeStoreConnector", "kv_role",
        role, "kv_connector_extra_config", extra)), PAGE_BYTES);
  }

  @Test
  @DisplayName("page groups are refused under an engine's keys, and with the coordinator of another gate")
  void refusedAtOpening() {
    Site site = site();
    Site engine = site(KeyCodec.verbatim(), Site.POLICY, StoreTransferOptions.SINGLE_PAGES);
    refused("blocksPerGroup must be 1 under a codec without namespace, whose keys and values are those of an engine: 4",
        () -> StoreConnector.open(engine.store, engine.coordinator, GROUPS));
    refused("coordinator must be that of the gate of store ",
        () -> StoreConnector.open(site.store, engine.coordinator, GROUPS));
    List<KvKey> keys = Site.keys("engine", 3);
    engine.save("w", keys);
    assertEquals(Existence.PRESENT, engine.store.exists(keys.get(2)), "the engine's own key, as it is");
  }

  @Test
  @DisplayName("groups make up 256 KiB, of 64 blocks at most: 64 pages of 4 KiB, 4 of 64 KiB, none from 256 KiB on")
  void defaultGroups() {
    assertEquals(64, StoreTransferOptions.forPages(4 << 10).blocksPerGroup());
    assertEquals(4, StoreTransferOptions.forPages(64 << 10).blocksPerGroup());
    assertEquals(8, StoreTransferOptions.forPages(18_432).blocksPerGroup());
    assertEquals(1, StoreTransferOptions.forPages(256 << 10).blocksPerGroup());
    assertEquals(1, StoreTransferOptions.forPages(16 << 20).blocksPerGroup());
    assertEquals(64, StoreTransferOptions.forPages(1).blocksPerGroup());
  }

  private static void refused(String message, Executable call) {
    String said = String.valueOf(assertThrows(IllegalArgumentException.class, call).getMessage());
    assertTrue(said.startsWith(message), () -> "said: " + said);
  }
}

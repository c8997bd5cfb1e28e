package dev.gatun.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.refit.RefitPolicy.OtherClients;
import dev.gatun.store.Existence;
import dev.gatun.store.GetResult;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.PutResult;
import dev.gatun.store.StoreBatch;
import dev.gatun.testing.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a refit must do on every library, through the real store. */
abstract class RefitContract {
  static final KeyCodec PLAIN = KeyCodec.plain("refit");
  static final KeyCodec KEYED = KeyCodec.epoch("refit");
  static final int PAGE_BYTES = 4096;
  private static final RefitPolicy FENCED = RefitPolicy.DEFAULT.withOtherClients(OtherClients.FENCED);

  final Arena arena = Arena.ofShared(); // one test
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** {@return options of a client; all clients of a test meet in one pool, which has memory of some storage} */
  abstract StoreOptions options();

  /** {@return options of a client of a master that has no memory at all} */
  abstract StoreOptions optionsWithoutMemory();

  @AfterEach
  void closeStores() throws Exception {
    while (!open.isEmpty())
      open.pop().close();
    arena.close();
  }

  /** One replica over the real store. */
  static final class Node {
    final EpochGate gate;
    final KvStore store;
    final RefitCoordinator coordinator;

    Node(EpochGate gate, KvStore store, RefitPolicy policy) {
      this.gate = gate;
      this.store = store;
      coordinator = new RefitCoordinator(gate, List.of(store.refitPort()), policy, Observer.NONE);
    }
  }

  <T extends AutoCloseable> T closing(T resource) {
    open.push(resource);
    return resource;
  }

  Node node(KeyCodec codec, RefitPolicy policy) {
    return node(options(), codec, policy);
  }

  Node node(StoreOptions options, KeyCodec codec, RefitPolicy policy) {
    EpochGate gate = new EpochGate(epoch(1));
    return new Node(gate, closing(KvStore.open(options, codec, gate, Observer.NONE)), policy);
  }

  static WeightEpoch epoch(long version) {
    return new WeightEpoch("run", version);
  }

  static KvKey key(int number) {
    return KvKey.of("page-" + number);
  }

  MemorySegment page(long version) {
    MemorySegment page = arena.allocate(PAGE_BYTES);
    fill(page, version);
    return page;
  }

  static void fill(MemorySegment page, long version) {
    for (long at = 0; at < page.byteSize(); at += Long.BYTES)
      page.set(ValueLayout.JAVA_LONG_UNALIGNED, at, version);
  }

  void putPages(Node node, int count, long version) {
    MemorySegment page = page(version);
    for (int i = 0; i < count; i++)
      assertInstanceOf(PutResult.Stored.class, node.store.put(key(i), page));
  }

  GetResult get(Node node, int number) {
    return node.store.get(key(number), arena.allocate(PAGE_BYTES));
  }

  @Test
  @DisplayName("K10.05 older epochs of a namespace go, proven beside keys of others, which stay and are read")
  void olderEpochsGo() {
    Node own = node(KEYED, FENCED);
    Node others = node(KeyCodec.plain("others"), FENCED);
    putPages(others, 5, 7);
    putPages(own, 10, 1);
    NamespaceReset reset = new NamespaceReset(own.store.refitPort(), FENCED);

    NamespaceReport nothing = reset.below("refit", epoch(1));
    NamespaceReport report = reset.below("refit", epoch(2));

    assertEquals(RefitOutcome.VERIFIED, nothing.outcome(), nothing::text);
    assertEquals(1, nothing.removed(), "the canary");
    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(11, report.removed(), "ten pages and the canary");
    assertEquals(Existence.ABSENT, own.store.exists(key(0)));
    for (int i = 0; i < 5; i++)
      assertEquals(new GetResult.Hit(PAGE_BYTES), get(others, i));
    RefitReport global = own.coordinator.refit(epoch(2));
    assertEquals(RefitOutcome.VERIFIED, global.outcome(), global::text);
  }

  @Test
  @DisplayName("S1 a namespace goes, read moments ago and of every run; one with a longer name stays")
  void namespaceGoes() {
    Node own = node(KEYED, FENCED);
    Node longer = node(KeyCodec.plain("refit.2"), FENCED);
    putPages(own, 3, 1);
    putPages(longer, 3, 1);
    assertEquals(new GetResult.Hit(PAGE_BYTES), get(own, 0));

    NamespaceReport report = new NamespaceReset(longer.store.refitPort(), FENCED).namespace("refit");

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(new GetResult.Miss(), get(own, 0));
    assertEquals(new GetResult.Hit(PAGE_BYTES), get(longer, 0));
    longer.store.removePrefix("", true);
  }

  @Test
  @DisplayName("K1.01 a hundred pages, one refit, a hundred misses, and every witness says so")
  void nothingIsLeft() {
    Node node = node(PLAIN, RefitPolicy.DEFAULT);
    putPages(node, 100, 1);

    RefitReport report = node.coordinator.refit(epoch(2));

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    RefitReport.Store store = report.stores().getFirst();
    assertEquals(101, store.removed(), "a hundred pages and the canary");
    assertEquals("seen, then gone", store.canary());
    assertEquals(0, store.keyCount());
    assertEquals(0, store.foreignPuts());
    for (int i = 0; i < 100; i++) {
      assertEquals(new GetResult.Miss(), get(node, i));
      assertEquals(Existence.ABSENT, node.store.exists(key(i)));
    }
  }

  @Test
  @DisplayName("K1.02 pages under a read lease go too")
  void leasedPages() {
    Node node = node(PLAIN, RefitPolicy.DEFAULT);
    putPages(node, 10, 1);
    for (int i = 0; i < 10; i++)
      assertInstanceOf(GetResult.Hit.class, get(node, i));
    assertEquals(0, node.store.removeAll(false), "without force, leases protect them");

    assertEquals(RefitOutcome.VERIFIED, node.coordinator.refit(epoch(2)).outcome());
    assertEquals(new GetResult.Miss(), get(node, 0));
  }

  @Test
  @DisplayName("K1.09 the client restarts after the refit: still misses")
  void clientRestarts() {
    Node first = node(PLAIN, RefitPolicy.DEFAULT);
    putPages(first, 10, 1);
    first.coordinator.refit(epoch(2)).orThrow();
    first.store.close();

    Node second = node(PLAIN, RefitPolicy.DEFAULT);

    for (int i = 0; i < 10; i++)
      assertEquals(new GetResult.Miss(), get(second, i));
  }

  @Test
  @DisplayName("hard-pinned pages go too, and the same keys hold the new pages afterwards")
  void pinnedPages() {
    Node node = node(PLAIN, RefitPolicy.DEFAULT);
    assertInstanceOf(PutResult.Stored.class, node.store.put(key(0), page(1), ReplicateOptions.hardPinned()));

    node.coordinator.refit(epoch(2)).orThrow();

    assertInstanceOf(PutResult.Stored.class, node.store.put(key(0), page(2)));
    MemorySegment target = arena.allocate(PAGE_BYTES);
    assertEquals(new GetResult.Hit(PAGE_BYTES), node.store.get(key(0), target));
    assertEquals(2, target.get(ValueLayout.JAVA_LONG, 0));
  }

  @Test
  @DisplayName("S1.9 twenty steps with puts, duplicates and gets between: all VERIFIED, no page of an older step")
  void manySteps() {
    Node node = node(PLAIN, RefitPolicy.DEFAULT);
    long removed = 0;
    for (int step = 2; step < 22; step++) {
      putPages(node, 5, step - 1L);
      putPages(node, 5, step - 1L); // duplicates
      assertInstanceOf(GetResult.Hit.class, get(node, 0));
      RefitReport report = node.coordinator.refit(epoch(step));
      assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
      removed += report.removed();
      for (int i = 0; i < 5; i++)
        assertEquals(new GetResult.Miss(), get(node, i));
    }
    assertEquals(20, node.coordinator.resets());
    assertEquals(20 * 6, removed);
    assertEquals(removed, node.coordinator.removed());
  }

  @Test
  @DisplayName("S1.5 K1.15 four clients of one master reset at once: all succeed")
  void fourAtOnce() throws Exception {
    List<Node> nodes = group(PLAIN);
    for (int i = 0; i < 4; i++)
      nodes.get(i).store.put(KvKey.of("of-" + i), page(1));
    CyclicBarrier start = new CyclicBarrier(4);
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<RefitReport>> reports = new ArrayList<>();
      for (Node node : nodes) {
        reports.add(threads.submit(() -> {
          start.await(10, TimeUnit.SECONDS);
          return node.coordinator.refit(epoch(2));
        }));
      }
      for (Future<RefitReport> report : reports) {
        RefitReport each = report.get(60, TimeUnit.SECONDS);
        assertEquals(RefitOutcome.VERIFIED, each.outcome(), each::text);
        assertEquals(4, each.replicas().size());
      }
    }
    for (Node node : nodes) {
      assertEquals(EpochGate.State.OPEN, node.gate.state());
      for (int i = 0; i < 4; i++)
        assertEquals(Existence.ABSENT, node.store.exists(KvKey.of("of-" + i)));
    }
  }

  @Test
  @DisplayName("S1.5 four clients of one master reset in turn: all succeed, and none takes another's new pages")
  void fourInTurn() {
    List<Node> nodes = group(PLAIN);
    for (int i = 0; i < 4; i++) {
      RefitReport report = nodes.get(i).coordinator.refit(epoch(2));
      assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
      assertInstanceOf(PutResult.Stored.class, nodes.get(i).store.put(KvKey.of("of-" + i), page(2)));
    }
    for (int i = 0; i < 4; i++)
      assertEquals(Existence.PRESENT, nodes.get(0).store.exists(KvKey.of("of-" + i)));
  }

  private List<Node> group(KeyCodec codec) {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 4; i++)
      nodes.add(node(codec, RefitPolicy.DEFAULT));
    new RefitGroup(RefitPolicy.DEFAULT, nodes.stream().map(node -> node.coordinator).toList());
    return nodes;
  }

  @Test
  @DisplayName("S1.6 refits over running puts and gets: all VERIFIED, and no get ever returns a page of older weights")
  void underTraffic() throws Exception {
    Node node = node(PLAIN, RefitPolicy.DEFAULT);
    BlockPool pool = closing(BlockPool.allocate(new PoolLayout(PAGE_BYTES, 64, 0), node.gate));
    node.store.register(pool.slab());
    AtomicBoolean over = new AtomicBoolean();
    AtomicLong hits = new AtomicLong();
    AtomicLong puts = new AtomicLong();
    try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
      List<Future<?>> traffic = List.of(threads.submit(() -> write(node, pool, over, puts)),
          threads.submit(() -> write(node, pool, over, puts)), threads.submit(() -> read(node, over, hits)));
      try {
        for (int version = 2; version < 8; version++) {
          long putBefore = puts.get();
          long hitBefore = hits.get();
          Await.until("traffic", () -> (puts.get() > putBefore && hits.get() > hitBefore)
              || traffic.stream().anyMatch(Future::isDone));
          RefitReport report = node.coordinator.refit(epoch(version));
          assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
        }
      } catch (AssertionError unproven) { // the gate stays closed: the traffic fails as well, which is not the cause
        over.set(true);
        throw unproven;
      }
      over.set(true);
      for (Future<?> each : traffic)
        each.get(60, TimeUnit.SECONDS);
    }
    assertEquals(0, node.gate.inside());
    node.store.unregister(pool.slab());
  }

  private void write(Node node, BlockPool pool, AtomicBoolean over, AtomicLong puts) {
    try (StoreBatch batch = node.store.batch(pool, 4)) {
      while (!over.get()) {
        batch.clear();
        long[] blocks = new long[4];
        try {
          for (int i = 0; i < 4; i++) {
            blocks[i] = pool.lease();
            // the lease first: a page never claims a later epoch than the weights it was computed with
            fill(pool.page(blocks[i]), node.gate.epoch().version());
            batch.add(key(i), blocks[i]);
          }
          batch.put();
          puts.incrementAndGet();
        } catch (GateClosedException | EpochChangedException e) {
          // compute again
        } finally {
          for (long block : blocks)
            if (block != 0) pool.release(block);
        }
      }
    }
  }

  private void read(Node node, AtomicBoolean over, AtomicLong hits) {
    MemorySegment target = arena.allocate(PAGE_BYTES);
    int number = 0;
    while (!over.get()) {
      number = (number + 1) % 4;
      long least = node.gate.epoch().version();
      boolean closed = node.gate.state() == EpochGate.State.CLOSED;
      if (node.store.get(key(number), target) instanceof GetResult.Hit) {
        long version = target.get(ValueLayout.JAVA_LONG, 0);
        assertTrue(version >= least, () -> "a page of " + version + " at " + least + (closed ? ", parked" : ""));
        hits.incrementAndGet();
      }
    }
  }

  @Test
  @DisplayName("another client that nobody fences is noticed even though it rests during the refit")
  void restingClient() {
    Node node = node(PLAIN, RefitPolicy.DEFAULT);
    node.coordinator.refit(epoch(2)).orThrow();
    Node other = node(PLAIN, RefitPolicy.DEFAULT);
    other.store.put(key(9), page(1));

    RefitReport report = node.coordinator.refit(epoch(3));

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
    assertFalse(report.open());
  }

  @Test
  @DisplayName("another client that was stopped meanwhile does not spoil the proof; unfenced, keys with epochs isolate")
  void declaredClients() {
    Node fenced = node(PLAIN, RefitPolicy.DEFAULT.withOtherClients(OtherClients.FENCED));
    Node unfenced = node(KEYED, RefitPolicy.DEFAULT.withOtherClients(OtherClients.UNFENCED));
    unfenced.store.put(key(1), page(1));

    RefitReport report = fenced.coordinator.refit(epoch(2));
    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(RefitOutcome.ISOLATED, unfenced.coordinator.refit(epoch(2)).outcome());
    assertEquals(new GetResult.Miss(), get(unfenced, 1));
  }

  @Test
  @DisplayName("a full store: no space for the canary at first, and a proof all the same")
  void fullStore() {
    Node node = node(PLAIN, RefitPolicy.DEFAULT);
    MemorySegment large = arena.allocate(1 << 20);
    int stored = 0;
    while (node.store.put(KvKey.of("large-" + stored), large,
        ReplicateOptions.hardPinned()) instanceof PutResult.Stored) {
      stored++;
    }
    MemorySegment small = arena.allocate(64);
    int fillers = 0;
    while (node.store.put(KvKey.of("small-" + fillers), small,
        ReplicateOptions.hardPinned()) instanceof PutResult.Stored) {
      fillers++;
    }

    RefitReport report = node.coordinator.refit(epoch(2));

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals("seen, then gone", report.stores().getFirst().canary());
    assertTrue(report.steps().stream().anyMatch(step -> step.name().equals("late canary")), report::text);
    assertEquals(stored + fillers + 1, report.removed());
  }

  @Test
  @DisplayName("no memory anywhere: no canary, and a census that counted our attempt proves the store empty")
  void noMemory() {
    Node node = node(optionsWithoutMemory(), PLAIN, RefitPolicy.DEFAULT);

    RefitReport report = node.coordinator.refit(epoch(2));

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals("none: no space", report.stores().getFirst().canary());
  }
}

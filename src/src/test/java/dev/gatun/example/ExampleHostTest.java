package dev.gatun.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.connector.SleepDepth;
import dev.gatun.connector.StoreConnector;
import dev.gatun.connector.StoreTransferOptions;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The example host over the embedded store, held against the same host without a connector. */
class ExampleHostTest {
  private static final int PAGE_BYTES = 1000;
  private static final List<Integer> PROMPT = IntStream.range(0, 200).map(i -> i * 7 % 1000).boxed().toList();

  private final String pool = "example-" + UUID.randomUUID();
  private final Deque<Replica> open = new ArrayDeque<>();

  @AfterEach
  void close() {
    while (!open.isEmpty())
      open.pop().close();
  }

  /** A host with all that belongs to it. */
  private static final class Replica implements AutoCloseable {
    private final EpochGate gate = new EpochGate(new WeightEpoch("run", 1));
    private final KvStore store;
    private final BlockPool cache;
    private final StoreConnector connector;
    private final SteppedConnector refitting;
    private final ExampleHost host;

    Replica(String pool, KeyCodec codec, StoreTransferOptions options, int blocks) {
      store = KvStore.open(StoreOptions.loopback(pool, 16L << 20), codec, gate, Observer.NONE);
      cache = BlockPool.allocate(new PoolLayout(PAGE_BYTES, blocks), gate);
      RefitPolicy policy = RefitPolicy.DEFAULT.withOtherClients(RefitPolicy.OtherClients.FENCED);
      connector = StoreConnector.open(store, new RefitCoordinator(gate, List.of(store.refitPort()), policy,
          Observer.NONE), options);
      refitting = new SteppedConnector(connector);
      host = new ExampleHost(1, cache, Optional.of(refitting));
    }

    @Override
    public void close() {
      host.close();
      connector.close();
      store.close();
      cache.close(Deadline.after(Duration.ofSeconds(30)));
    }
  }

  private Replica replica(KeyCodec codec, StoreTransferOptions options, int blocks) {
    open.push(new Replica(pool, codec, options, blocks));
    return open.getFirst();
  }

  private Replica replica() {
    return replica(KeyCodec.epoch("example"), StoreTransferOptions.SINGLE_PAGES.withBlocksPerGroup(4), 64);
  }

  /** What a host without any cache outside of it generates. */
  private static List<Integer> reference(long weights, List<Integer> prompt, int count) {
    try (BlockPool cache = BlockPool.allocate(new PoolLayout(PAGE_BYTES, 64),
        new EpochGate(new WeightEpoch("reference", 0)));
        ExampleHost host = new ExampleHost(weights, cache, Optional.empty())) {
      return host.generate("reference", prompt, count);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, false", "4, false", "5, true"})
  @DisplayName("a second replica loads what the first computed and generates the same, token by token")
  void sharesPrefixes(int blocksPerGroup, boolean async) {
    StoreTransferOptions options = StoreTransferOptions.SINGLE_PAGES.withBlocksPerGroup(blocksPerGroup);
    if (async) options = options.withLookupAsync();
    Replica first = replica(KeyCodec.epoch("example"), options, 64);
    Replica second = replica(KeyCodec.epoch("example"), options, 64);
    List<Integer> expected = reference(1, PROMPT, 40);

    assertEquals(expected, first.host.generate("a", PROMPT, 40));
    assertTrue(first.connector.worker().awaitSaves(Deadline.after(Duration.ofSeconds(30))));
    assertEquals(expected, second.host.generate("b", PROMPT, 40));

    // the first went on and stored whole groups, so what of the prompt lies in full groups is found
    int full = PROMPT.size() / ToyModel.BLOCK_TOKENS / blocksPerGroup * blocksPerGroup;
    assertEquals(full, second.host.counts().loaded, second.host.counts()::toString);
    assertEquals(expected, second.host.generate("c", PROMPT, 40));
    assertTrue(second.host.counts().cached >= PROMPT.size() / ToyModel.BLOCK_TOKENS, second.host.counts()::toString);
    assertEquals(0, second.host.counts().notLoaded);
  }

  @Test
  @DisplayName("S1.2 S1.9 at each step boundary new weights and a reset: no token is generated from KV of older weights")
  void refits() {
    Replica first = replica(KeyCodec.plain("example"), StoreTransferOptions.SINGLE_PAGES.withBlocksPerGroup(4), 64);
    Replica second = replica(KeyCodec.plain("example"), StoreTransferOptions.SINGLE_PAGES.withBlocksPerGroup(4), 64);
    for (int version = 2; version < 8; version++) {
      WeightEpoch next = new WeightEpoch("run", version);
      for (Replica replica : List.of(first, second)) {
        replica.host.loadWeights(version);
        if (version % 2 == 0) {
          assertTrue(replica.host.resetPrefixCache(next).succeeded());
        } else {
          assertTrue(replica.host.sleep(SleepDepth.KEEP_WEIGHTS, next).succeeded());
          assertThrows(IllegalStateException.class, () -> replica.host.generate("asleep", PROMPT, 1));
          replica.host.wakeUp();
        }
      }
      List<Integer> expected = reference(version, PROMPT, 20);
      assertEquals(expected, first.host.generate("a" + version, PROMPT, 20));
      assertTrue(first.connector.worker().awaitSaves(Deadline.after(Duration.ofSeconds(30))));
      assertEquals(expected, second.host.generate("b" + version, PROMPT, 20));
      // nobody fences the one while the other resets: its puts would spoil the proof
      assertTrue(second.connector.worker().awaitSaves(Deadline.after(Duration.ofSeconds(30))));
    }
    assertTrue(second.host.counts().loaded >= 6 * 12, second.host.counts()::toString);
    assertEquals(6, first.connector.scheduler().stats().count("resets"));
  }

  @Test
  @DisplayName("a refit that comes past the host restarts the request it meets, which then answers for the new epoch")
  void refitPastTheHost() {
    Replica replica = replica();
    AtomicInteger steps = new AtomicInteger();
    replica.refitting.before = () -> {
      // in the middle of the prompt, and in the middle of the answer
      int step = steps.incrementAndGet();
      if (step != 5 && step != 25) return;
      long version = replica.gate.epoch().version() + 1;
      replica.host.loadWeights(version);
      assertTrue(replica.connector.worker().resetCache(new WeightEpoch("run", version)).succeeded());
    };

    assertEquals(reference(3, PROMPT, 300), replica.host.generate("a", PROMPT, 300));

    assertEquals(2, replica.host.counts().restarted, replica.host.counts()::toString);
    assertEquals(3, replica.gate.epoch().version());
  }

  @Test
  @DisplayName("without the reset the old KV would be served: the proof that these tests can fail")
  void withoutReset() {
    Replica replica = replica();
    List<Integer> before = replica.host.generate("a", PROMPT, 20);
    replica.host.loadWeights(2);

    assertNotEquals(reference(2, PROMPT, 20), replica.host.generate("b", PROMPT, 20));
    assertTrue(replica.host.counts().cached > 0);
    assertEquals(reference(1, PROMPT, 20), before);
  }

  @Test
  @DisplayName("a cache smaller than its prompts evicts what no request uses, gives every block back and goes on")
  void smallCache() {
    Replica replica = replica(KeyCodec.epoch("example"), StoreTransferOptions.SINGLE_PAGES.withBlocksPerGroup(4), 40);
    for (int i = 0; i < 12; i++) {
      int shift = i % 5;
      List<Integer> prompt = IntStream.range(shift, shift + 200).boxed().toList();
      assertEquals(reference(1, prompt, 12), replica.host.generate("r" + i, prompt, 12), "request " + i);
      assertTrue(replica.connector.worker().awaitSaves(Deadline.after(Duration.ofSeconds(30))));
    }
    assertTrue(replica.host.resetPrefixCache(new WeightEpoch("run", 2)).succeeded());
    assertEquals(40, replica.cache.available(), () -> replica.cache.outstanding().toString());
  }
}

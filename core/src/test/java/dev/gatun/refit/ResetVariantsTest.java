package dev.gatun.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.refit.RefitPolicy.OtherClients;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.PutResult;
import dev.gatun.store.StorePolicy;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every call that promises that pages are gone, on every kind of client: it does it, or says that it did not. */
class ResetVariantsTest {
  private static final WeightEpoch OLD = new WeightEpoch("run", 1);
  private static final WeightEpoch NEW = new WeightEpoch("run", 2);
  private static final RefitPolicy POLICY = RefitPolicy.DEFAULT.withOtherClients(OtherClients.FENCED);
  private static final List<KvKey> KEYS = IntStream.range(0, 5).mapToObj(i -> KvKey.of("page-" + i)).toList();

  /**
   * One call. It answers whether it claims that everything is gone.
   *
   * @param point where the embedded library is asked for it
   */
  private record Variant(String name, String point, Predicate<Client> call) {}

  private static final List<Variant> VARIANTS = List.of(
      new Variant("removeAll forced", "remove_all.before", client -> client.store.removeAll(true) == KEYS.size()),
      new Variant("removeAll", "remove_all.before", client -> client.store.removeAll(false) == KEYS.size()),
      new Variant("removePrefix forced", "remove_regex.before", client -> client.store.removePrefix("", true) > 0),
      new Variant("removePrefix", "remove_regex.before", client -> client.store.removePrefix("page", false) > 0),
      new Variant("removeMatching", "remove_regex.before", client -> client.store.removeMatching("page", true) > 0),
      new Variant("remove forced", "remove.before", client -> client.store.remove(KEYS, true).allGone()),
      new Variant("remove", "remove.before",
          client -> KEYS.stream().allMatch(key -> client.store.remove(key, false).gone())),
      new Variant("refit", "remove_all.before", client -> proved(client.coordinator.refit(NEW))),
      new Variant("refit of a group", "remove_all.before",
          client -> proved(new RefitGroup(POLICY, List.of(client.coordinator)).refit(NEW))),
      new Variant("bracket", "remove_all.before", client -> {
        try (Refit refit = client.coordinator.begin(NEW)) {
          refit.clear();
          return proved(refit.open());
        }
      }));

  /** One client of a pool of its own, in which somebody else has put pages of its codec. */
  private static final class Client implements AutoCloseable {
    final EpochGate gate = new EpochGate(OLD);
    final KvStore store;
    final RefitCoordinator coordinator;
    private final KvStore writer;

    Client(long segmentBytes, long localBufferBytes, KeyCodec codec, StorePolicy policy) {
      String pool = "variants-" + UUID.randomUUID();
      writer = KvStore.open(StoreOptions.loopback(pool, 16L << 20), codec, new EpochGate(OLD), Observer.NONE);
      StoreOptions options = StoreOptions.loopback(pool, segmentBytes).toBuilder().localBufferBytes(localBufferBytes)
          .build();
      store = KvStore.open(options, codec, gate, Observer.NONE, policy);
      coordinator = new RefitCoordinator(gate, List.of(store.refitPort()), POLICY, Observer.NONE);
      MemorySegment page = MemorySegment.ofArray(new byte[1000]);
      for (KvKey key : KEYS)
        assertInstanceOf(PutResult.Stored.class, writer.put(key, page));
      assertEquals(KEYS.size(), keys());
    }

    long keys() {
      return writer.refitPort().census().orElseThrow().read(Deadline.after(Duration.ofSeconds(5))).keyCount();
    }

    @Override
    public void close() {
      store.close();
      writer.close();
    }
  }

  private interface Mode {
    Client open();
  }

  private static final KeyCodec PLAIN = KeyCodec.plain("variants");
  private static final StorePolicy PATTERNS = StorePolicy.DEFAULT.withPatterns();

  private static boolean proved(RefitReport report) {
    return report.outcome() == RefitOutcome.VERIFIED;
  }

  private static Mode mode(long segmentBytes, long localBufferBytes, KeyCodec codec, StorePolicy policy) {
    return () -> new Client(segmentBytes, localBufferBytes, codec, policy);
  }

  @AfterEach
  void undo() {
    LoopbackControls.reset();
  }

  @TestFactory
  @DisplayName("K1.10 each reset variant on each client mode reaches the library and does it, or throws and did nothing")
  Stream<DynamicTest> variants() {
    return Stream.of(
        each("with memory", mode(16L << 20, 16L << 20, PLAIN, PATTERNS), List.of()),
        each("without memory", mode(0, 16L << 20, PLAIN, PATTERNS), List.of()),
        each("without local buffer", mode(0, 0, PLAIN, PATTERNS), List.of()),
        each("epoch in the keys", mode(0, 0, KeyCodec.epoch("variants"), PATTERNS), List.of()),
        each("keys as given", mode(0, 0, KeyCodec.verbatim(), PATTERNS), List.of("removePrefix forced")),
        each("patterns off", mode(0, 0, PLAIN, StorePolicy.DEFAULT), List.of("removeMatching")),
        each("store disabled", () -> disabled(mode(0, 0, PLAIN, PATTERNS)), List.of("removeAll forced", "removeAll",
            "removePrefix forced", "removePrefix", "removeMatching", "remove forced", "remove")),
        each("store closed", () -> closed(mode(0, 0, PLAIN, PATTERNS)), List.of("removeAll forced", "removeAll",
            "removePrefix forced", "removePrefix", "removeMatching", "remove forced", "remove", "refit",
            "refit of a group", "bracket")))
        .flatMap(tests -> tests);
  }

  private static Client disabled(Mode mode) {
    Client client = mode.open();
    client.coordinator.control().close();
    client.coordinator.control().open(EpochGate.State.DISABLED);
    return client;
  }

  private static Client closed(Mode mode) {
    Client client = mode.open();
    client.store.close();
    return client;
  }

  private static Stream<DynamicTest> each(String name, Mode mode, List<String> refused) {
    return VARIANTS.stream().map(variant -> DynamicTest.dynamicTest(name + ": " + variant.name, () -> {
      LoopbackControls.reset();
      try (Client client = mode.open()) {
        LoopbackControls.arm(variant.point, Action.DELAY, 0, 0); // counts
        boolean claimed = claims(variant, client);
        assertEquals(!refused.contains(variant.name), claimed, "whether it claims that all is gone");
        assertEquals(claimed, LoopbackControls.hits(variant.point) > 0, "whether the library was asked");
        assertEquals(claimed ? 0 : KEYS.size(), client.keys());
      }
    }));
  }

  @TestFactory
  @DisplayName("K1.10 where the library refuses, or answers and does nothing, no reset variant claims success")
  Stream<DynamicTest> failures() {
    return Stream.of(Action.FAIL, Action.SKIP).flatMap(fault -> VARIANTS.stream()
        // an answer of 0 to the removal of one key cannot be told from its removal
        .filter(variant -> fault == Action.FAIL || !variant.point.equals("remove.before"))
        .map(variant -> DynamicTest.dynamicTest(fault + ": " + variant.name, () -> {
          LoopbackControls.reset();
          try (Client client = mode(0, 0, PLAIN, PATTERNS).open()) {
            LoopbackControls.arm(variant.point, fault, StoreCode.RPC_FAIL.raw(), 0);
            assertFalse(claims(variant, client));
            assertTrue(LoopbackControls.hits(variant.point) > 0);
            assertTrue(client.keys() >= KEYS.size());
          }
        })));
  }

  private static boolean claims(Variant variant, Client client) {
    try {
      return variant.call.test(client);
    } catch (GatunException | IllegalStateException | IllegalArgumentException refusal) {
      assertFalse(String.valueOf(refusal.getMessage()).isBlank());
      return false;
    }
  }
}

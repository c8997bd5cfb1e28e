package dev.gatun.store;

import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreCode;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/** Removal, and the leases that hold it up. */
final class RemovalCases {
  private static final RemoveResult LEASED = new RemoveResult.RemoveFailed(StoreCode.OBJECT_HAS_LEASE, -706);
  private static final RemoveResult REMOVED = new RemoveResult.Removed();
  private static final RemoveResult ABSENT = new RemoveResult.Absent();

  private RemovalCases() {}

  static List<ContractCase> all() {
    return List.of(
        ContractCase.always("K2.01 removing twice is as good as once", RemovalCases::twice),
        ContractCase.always("K2.01 removing keys of which half are absent fails for none", RemovalCases::halfAbsent),
        ContractCase.always("K2.02 a key that was asked for is leased; force removes it", RemovalCases::afterExists),
        ContractCase.always("K2.02 a key that was got is leased; force removes it", RemovalCases::afterGet),
        ContractCase.always("a key whose size was asked for is leased", RemovalCases::afterSize),
        ContractCase.always("a put leases nothing", RemovalCases::afterPut),
        ContractCase.always("a lease runs out", RemovalCases::leaseEnds),
        ContractCase.always("a hard pin does not hold up a removal", RemovalCases::hardPin),
        ContractCase.always("K1.02 removing all spares leased keys; forced, none", RemovalCases::all1),
        ContractCase.always("K1.15 removing all of nothing is success", RemovalCases::nothing),
        ContractCase.always("K1.01 after a forced removal all 60 keys miss, for every client",
            RemovalCases::everything),
        ContractCase.always("K2.03 a forced removal of leased keys frees their space at once", RemovalCases::space),
        ContractCase.always("a removed key can be put again with other bytes", RemovalCases::putAgain),
        ContractCase.always("a prefix is taken literally and stays in its namespace", RemovalCases::prefix),
        ContractCase.always("a prefix of the longest length removes its key, whatever it is of",
            RemovalCases::longestPrefix),
        ContractCase.always("a prefix without force spares leased keys", RemovalCases::prefixLeased),
        ContractCase.always("patterns are off unless permitted, and restricted", RemovalCases::patterns));
  }

  private static void twice(ContractBench bench) {
    KvStore store = bench.store();
    bench.putAll(store, bench.pool(store), 1);
    assertEquals(REMOVED, store.remove(key(1), false));
    assertEquals(Existence.ABSENT, store.exists(key(1)));
    assertEquals(ABSENT, store.remove(key(1), false));
    assertEquals(ABSENT, store.remove(key(1), true));
    assertTrue(ABSENT.gone() && REMOVED.gone() && !LEASED.gone());
  }

  private static void halfAbsent(ContractBench bench) {
    KvStore store = bench.store();
    bench.putAll(store, bench.pool(store), 0, 2, 4, 6, 8);
    List<KvKey> keys = IntStream.range(0, 10).mapToObj(ContractBench::key).toList();
    RemoveSummary summary = store.remove(keys, false);
    assertEquals(5, summary.removed());
    assertEquals(5, summary.absent());
    assertTrue(summary.allGone());
    bench.putAll(store, bench.pool(store), 3);
    store.exists(key(3));
    RemoveSummary leased = store.remove(keys, false);
    assertEquals(List.of(key(3)), leased.retryable());
    assertEquals(LEASED, leased.failed().get(key(3)));
    assertEquals(9, leased.absent());
  }

  private static void afterExists(ContractBench bench) {
    KvStore store = bench.store();
    bench.putAll(store, bench.pool(store), 1);
    assertEquals(Existence.PRESENT, store.exists(key(1)));
    assertEquals(LEASED, store.remove(key(1), false));
    assertTrue(((RemoveResult.RemoveFailed) store.remove(key(1), false)).retryable());
    assertEquals(REMOVED, store.remove(key(1), true));
    assertEquals(Existence.ABSENT, store.exists(key(1)));
  }

  private static void afterGet(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    bench.assertHit(store, pool, 1);
    assertEquals(LEASED, store.remove(key(1), false));
    assertEquals(REMOVED, store.remove(key(1), true));
    assertEquals(new GetResult.Miss(), bench.get(store, pool, key(1)));
  }

  private static void afterSize(ContractBench bench) {
    KvStore store = bench.store();
    bench.putAll(store, bench.pool(store), 1);
    assertEquals(new SizeResult.Known(ContractBench.PAGE_BYTES), store.size(key(1)));
    assertEquals(LEASED, store.remove(key(1), false));
  }

  private static void afterPut(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    assertEquals(REMOVED, store.remove(key(1), false));
    bench.putAll(store, pool, 1, 2);
    bench.putAll(store, pool, 1);
    assertEquals(2, store.removeAll(false));
  }

  private static void leaseEnds(ContractBench bench) {
    KvStore store = bench.store();
    bench.putAll(store, bench.pool(store), 1);
    store.exists(key(1));
    assertEquals(LEASED, store.remove(key(1), false));
    bench.removeAfterLease(store, key(1));
    assertEquals(ABSENT, store.remove(key(1), false));
  }

  private static void hardPin(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 1)) {
      batch.replicate(ReplicateOptions.hardPinned()).add(key(1), bench.filled(pool, 1)).put();
      assertTrue(batch.isStored(0));
    }
    assertEquals(REMOVED, store.remove(key(1), false));
  }

  private static void all1(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 0, 1, 2, 3, 4);
    store.exists(List.of(key(1), key(3)));
    assertEquals(3, store.removeAll(false));
    assertEquals(List.of(Existence.ABSENT, Existence.PRESENT, Existence.ABSENT, Existence.PRESENT, Existence.ABSENT),
        store.exists(IntStream.range(0, 5).mapToObj(ContractBench::key).toList()));
    assertEquals(2, store.removeAll(true));
    assertEquals(new GetResult.Miss(), bench.get(store, pool, key(1)));
    assertEquals(0, store.removeAll(true));
  }

  private static void nothing(ContractBench bench) {
    assertEquals(0, bench.store().removeAll(true));
    assertEquals(0, bench.otherStore().removeAll(true));
    assertEquals(0, bench.store().removeAll(false));
  }

  private static void everything(ContractBench bench) {
    KvStore store = bench.store();
    KvStore other = bench.otherStore();
    BlockPool pool = bench.pool(store);
    BlockPool otherPool = bench.pool(other);
    int[] seeds = IntStream.range(0, 60).toArray();
    bench.putAll(store, pool, seeds);
    bench.assertHit(other, otherPool, 30);
    assertEquals(60, other.removeAll(true));
    List<KvKey> keys = IntStream.range(0, 60).mapToObj(ContractBench::key).toList();
    assertTrue(store.exists(keys).stream().allMatch(Existence.ABSENT::equals));
    assertTrue(other.exists(keys).stream().allMatch(Existence.ABSENT::equals));
    for (int seed : seeds)
      assertEquals(new GetResult.Miss(), bench.get(store, pool, key(seed)));
  }

  private static void space(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, 2L << 20, 2);
    for (int round = 0; round < 16; round++) {
      for (int i = 0; i < 10; i++) {
        bench.putAll(store, pool, i);
        assertEquals(Existence.PRESENT, store.exists(key(i)), "round " + round + ", key " + i);
      }
      RemoveSummary summary = store.remove(IntStream.range(0, 10).mapToObj(ContractBench::key).toList(), true);
      assertEquals(10, summary.removed());
    }
  }

  private static void putAgain(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    assertEquals(REMOVED, store.remove(key(1), false));
    long block = bench.filled(pool, 77);
    assertEquals(new PutResult.Stored(), store.putPage(key(1), pool, block));
    assertEquals(new GetResult.Hit(pool.pageBytes()), store.getPage(key(1), pool, block));
    ContractBench.assertPattern(pool.page(block), pool.pageBytes(), 77, "the bytes put last");
  }

  private static void prefix(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    List<String> names = List.of("a.b*c", "a.b*cd", "aXb*c", "a.bbc", "xa.b*c", "(a|b)", "(a|b)c", "a", "ä[1]",
        "ä[1]2");
    for (String name : names)
      store.putPage(KvKey.of(name), pool, bench.filled(pool, 1));
    KvStore neighbour = bench.open(KeyCodec.plain("contract2"));
    BlockPool neighbourPool = bench.pool(neighbour);
    neighbour.putPage(KvKey.of("a.b*c"), neighbourPool, bench.filled(neighbourPool, 1));
    assertEquals(2, store.removePrefix("a.b*c", false));
    assertEquals(2, store.removePrefix("(a|b)", false));
    assertEquals(2, store.removePrefix("ä[1]", false));
    List<KvKey> left = List.of(KvKey.of("aXb*c"), KvKey.of("a.bbc"), KvKey.of("xa.b*c"), KvKey.of("a"));
    assertTrue(store.exists(left).stream().allMatch(Existence.PRESENT::equals));
    assertEquals(0, store.removePrefix("a.b*c", true));
    assertEquals(4, store.removePrefix("", true));
    assertEquals(Existence.PRESENT, neighbour.exists(KvKey.of("a.b*c")));
    assertThrows(IllegalArgumentException.class, () -> store.removePrefix("a\0b", true));
    assertThrows(IllegalArgumentException.class, () -> store.removePrefix("a".repeat(KvKey.BYTES_MAX + 1), true));
    assertThrows(IllegalArgumentException.class, () -> bench.open(KeyCodec.verbatim()).removePrefix("", true));
  }

  private static void longestPrefix(ContractBench bench) {
    KvStore store = bench.store();
    for (String part : List.of("*", "a", "\\", "ä")) {
      String longest = part.repeat(KvKey.BYTES_MAX / part.getBytes(StandardCharsets.UTF_8).length);
      assertEquals(new PutResult.Stored(), store.put(KvKey.of(longest), MemorySegment.ofArray(new byte[]{1})));
      assertEquals(1, store.removePrefix(longest, true), part);
    }
  }

  private static void prefixLeased(ContractBench bench) {
    KvStore store = bench.store();
    bench.putAll(store, bench.pool(store), 1, 2, 3);
    store.exists(key(2));
    assertEquals(2, store.removePrefix("key-", false));
    assertEquals(1, store.removePrefix("key-", true));
  }

  private static void patterns(ContractBench bench) {
    assertThrows(IllegalStateException.class, () -> bench.store().removeMatching("key-1", true));
    KvStore store = bench.open(StorePolicy.DEFAULT.withPatterns());
    bench.putAll(store, bench.pool(store), 1, 2, 3, 11, 12, 31);
    for (String pattern : List.of("(a+)+", "(key)*", "(key){2}", "(a)\\1", "(?:a)", "(?=a)", "a)|(b", "(a", "[a", "a\\",
        "a\0", "ä", "", "a".repeat(KvKey.BYTES_MAX + 1))) {
      assertThrows(IllegalArgumentException.class, () -> store.removeMatching(pattern, true), pattern);
    }
    assertEquals(3, store.removeMatching("key-1.?$", false));
    assertEquals(0, store.removeMatching("ey-", true));
    assertEquals(2, store.removeMatching("key-2|key-31", false));
    assertEquals(Existence.PRESENT, store.exists(key(3)));
  }
}

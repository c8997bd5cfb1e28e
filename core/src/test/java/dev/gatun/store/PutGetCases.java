package dev.gatun.store;

import static dev.gatun.store.ContractBench.assertPattern;
import static dev.gatun.store.ContractBench.fill;
import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreCode;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** Puts and gets that nothing disturbs. */
final class PutGetCases {
  private static final int THREADS = 8;
  private static final int ROUNDS = 20;

  private PutGetCases() {}

  static List<ContractCase> all() {
    return List.of(
        ContractCase.always("a batch of 32 pages comes back byte for byte", PutGetCases::batch),
        ContractCase.always("K3.07 one missing key leaves the other nine, in order", PutGetCases::nineOfTen),
        ContractCase.always("K3.14 hits after a miss are not part of the usable prefix", PutGetCases::prefix),
        ContractCase.always("K3.03 an existing key is a success and keeps its bytes, in a batch",
            PutGetCases::existing),
        ContractCase.always("K3.03 an existing key is a success and keeps its bytes, alone",
            PutGetCases::existingSingle),
        ContractCase.always("K3.03 a store that probes tells which keys were there", PutGetCases::probing),
        ContractCase.always("K3.11 an absent key is a miss, absent, and has no size", PutGetCases::absent),
        ContractCase.always("existence of some of many keys, in order", PutGetCases::existence),
        ContractCase.always("single values from and to the heap and native memory", PutGetCases::singles),
        ContractCase.always("K2.06 a second get sees the same bytes", PutGetCases::twice),
        ContractCase.always("a batch is reused with other keys, blocks and sizes", PutGetCases::reuse),
        ContractCase.always("K4.06 a batch above the call limits is split and joined in order", PutGetCases::split),
        ContractCase.always("keys that differ in their last byte only are different", PutGetCases::longKeys),
        ContractCase.always("8 threads put and get pages of their own", PutGetCases::threads),
        ContractCase.always("K3.04 16 threads check, then put, the same keys", PutGetCases::checkThenPut),
        ContractCase.always("K12.05 a page put with a soft pin, a hard pin or two replicas is there",
            PutGetCases::pins));
  }

  private static void batch(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    int count = 32;
    bench.putAll(store, pool, IntStream.range(0, count).toArray());
    try (StoreBatch batch = store.batch(pool, count)) {
      for (int i = 0; i < count; i++)
        batch.add(key(i), bench.blank(pool));
      batch.get();
      for (int i = 0; i < count; i++) {
        assertEquals(new GetResult.Hit(pool.pageBytes()), batch.getResult(i));
        assertEquals(StoreCode.OK, batch.code(i));
        assertEquals(0, batch.rawCode(i));
        assertPattern(pool.page(batch.block(i)), pool.pageBytes(), i, batch.key(i).toString());
      }
      assertEquals(count, batch.leadingHits());
    }
  }

  private static void nineOfTen(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    try (StoreBatch batch = store.batch(pool, 10)) {
      for (int i = 0; i < 10; i++) {
        if (i != 4) batch.add(key(i), bench.filled(pool, i), 100 + i);
      }
      batch.put();
      batch.clear();
      for (int i = 0; i < 10; i++)
        batch.add(key(i), bench.blank(pool));
      batch.get();
      for (int i = 0; i < 10; i++) {
        if (i == 4) continue;
        assertEquals(100 + i, batch.bytes(i), "length of entry " + i);
        assertPattern(ContractBench.raw(pool, batch.block(i)), 100 + i, i, "entry " + i);
      }
      assertEquals(new GetResult.Miss(), batch.getResult(4));
      assertEquals(StoreCode.OBJECT_NOT_FOUND, batch.code(4));
      ContractBench.assertUntouched(ContractBench.raw(pool, batch.block(4)), "the block of the miss");
    }
  }

  private static void prefix(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 0, 1, 3, 4);
    try (StoreBatch batch = store.batch(pool, 5)) {
      for (int i = 0; i < 5; i++)
        batch.add(key(i), bench.blank(pool));
      assertEquals(2, batch.get().leadingHits());
      assertTrue(batch.isHit(3) && batch.isHit(4));
    }
  }

  private static void existing(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    try (StoreBatch batch = store.batch(pool, 2)) {
      batch.add(key(1), bench.filled(pool, 99), 700).add(key(2), bench.filled(pool, 2)).put();
      assertEquals(new PutResult.Stored(), batch.putResult(0));
      assertEquals(new PutResult.Stored(), batch.putResult(1));
    }
    bench.assertHit(store, pool, 1);
    bench.assertHit(store, pool, 2);
  }

  private static void existingSingle(ContractBench bench) {
    KvStore store = bench.store();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment first = arena.allocate(900);
      fill(first, 1);
      assertEquals(new PutResult.Stored(), store.put(key(1), first));
      MemorySegment second = arena.allocate(300);
      fill(second, 2);
      assertEquals(new PutResult.Stored(), store.put(key(1), second));
      MemorySegment target = arena.allocate(1000);
      assertEquals(new GetResult.Hit(900), store.get(key(1), target));
      assertPattern(target, 900, 1, "the value put first");
    }
  }

  private static void probing(ContractBench bench) {
    KvStore store = bench.open(StorePolicy.DEFAULT.probing());
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1, 3);
    try (StoreBatch batch = store.batch(pool, 4)) {
      for (int i = 0; i < 4; i++)
        batch.add(key(i), bench.filled(pool, i));
      batch.put();
      for (int i = 0; i < 4; i++) {
        assertEquals(i % 2 == 0 ? new PutResult.Stored() : new PutResult.AlreadyPresent(), batch.putResult(i));
        assertTrue(batch.isStored(i));
      }
    }
    for (int i = 0; i < 4; i++)
      bench.assertHit(store, pool, i);
  }

  private static void absent(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    assertEquals(new GetResult.Miss(), bench.get(store, pool, key("none")));
    assertEquals(new GetResult.Miss(), store.get(key("none"), MemorySegment.ofArray(new byte[8])));
    assertEquals(Existence.ABSENT, store.exists(key("none")));
    assertEquals(new SizeResult.Absent(), store.size(key("none")));
  }

  private static void existence(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 0, 2, 5, 6);
    List<KvKey> keys = IntStream.range(0, 8).mapToObj(ContractBench::key).toList();
    List<Existence> wanted = IntStream.range(0, 8)
        .mapToObj(i -> List.of(0, 2, 5, 6).contains(i) ? Existence.PRESENT : Existence.ABSENT).toList();
    assertEquals(wanted, store.exists(keys));
    try (StoreBatch batch = store.batch(pool, 8)) {
      keys.forEach(batch::add);
      batch.exists();
      for (int i = 0; i < 8; i++) {
        assertEquals(wanted.get(i), batch.existence(i));
        assertEquals(wanted.get(i) == Existence.PRESENT ? StoreCode.OK : StoreCode.OBJECT_NOT_FOUND, batch.code(i));
      }
    }
    assertEquals(List.of(), store.exists(List.of()));
  }

  private static void singles(ContractBench bench) {
    KvStore store = bench.store();
    byte[] value = new byte[5000];
    fill(MemorySegment.ofArray(value), 3);
    assertEquals(new PutResult.Stored(), store.put(key(3), MemorySegment.ofArray(value)));
    byte[] target = new byte[6000];
    assertEquals(new GetResult.Hit(5000), store.get(key(3), MemorySegment.ofArray(target)));
    assertPattern(MemorySegment.ofArray(target), 5000, 3, "value on the heap");
    assertEquals(0, target[5000]);
    assertEquals(new SizeResult.Known(5000), store.size(key(3)));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment native1 = arena.allocate(5000);
      assertEquals(new GetResult.Hit(5000), store.get(key(3), native1));
      assertPattern(native1, 5000, 3, "value in native memory");
    }
  }

  private static void twice(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 7);
    bench.assertHit(store, pool, 7);
    bench.assertHit(store, pool, 7);
    KvStore other = bench.otherStore();
    bench.assertHit(other, bench.pool(other), 7);
  }

  private static void reuse(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    long[] blocks = IntStream.range(0, 6).mapToLong(i -> pool.lease()).toArray();
    try (StoreBatch batch = store.batch(pool, 6)) {
      for (int round = 0; round < 5; round++) {
        int entries = 6 - round;
        batch.clear();
        for (int i = 0; i < entries; i++) {
          fill(pool.rewrite(blocks[i]), 10 * round + i);
          batch.add(key(10 * round + i), blocks[i], 64 + 8L * round + 8L * i);
        }
        batch.put();
        for (int i = 0; i < entries; i++)
          assertTrue(batch.isStored(i));
        batch.clear();
        for (int i = 0; i < entries; i++)
          batch.add(key(10 * round + i), blocks[entries - 1 - i]);
        batch.get();
        for (int i = 0; i < entries; i++) {
          long bytes = 64 + 8L * round + 8L * i;
          assertEquals(bytes, batch.bytes(i));
          assertPattern(pool.page(blocks[entries - 1 - i]), bytes, 10 * round + i, "round " + round + " entry " + i);
        }
      }
    }
  }

  private static void split(ContractBench bench) {
    int count = 50;
    for (StorePolicy policy : List.of(StorePolicy.DEFAULT.withCallLimits(7, 1L << 40),
        StorePolicy.DEFAULT.withCallLimits(1000, 3L * ContractBench.PAGE_BYTES),
        StorePolicy.DEFAULT.withCallLimits(1000, 1))) {
      KvStore store = bench.open(policy);
      store.removeAll(true);
      BlockPool pool = bench.pool(store);
      try (StoreBatch batch = store.batch(pool, count)) {
        for (int i = 0; i < count; i++) {
          if (i % 9 != 0) batch.add(key(i), bench.filled(pool, i));
        }
        batch.put();
        for (int i = 0; i < batch.size(); i++) {
          assertTrue(batch.isStored(i));
          pool.release(batch.block(i));
        }
        batch.clear();
        for (int i = 0; i < count; i++)
          batch.add(key(i), bench.blank(pool));
        batch.get();
        for (int i = 0; i < count; i++) {
          assertEquals(i % 9 != 0, batch.isHit(i), "entry " + i);
          if (batch.isHit(i)) assertPattern(pool.page(batch.block(i)), pool.pageBytes(), i, "entry " + i);
        }
        batch.exists();
        for (int i = 0; i < count; i++) {
          assertEquals(i % 9 != 0 ? Existence.PRESENT : Existence.ABSENT, batch.existence(i));
        }
      }
    }
  }

  private static void longKeys(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    for (int length : new int[]{64, 65, 240, 255, 256, 1023, KvKey.BYTES_MAX}) {
      KvKey first = KvKey.of("k".repeat(length - 1) + 'a');
      KvKey second = KvKey.of("k".repeat(length - 1) + 'b');
      long a = bench.filled(pool, 1);
      long b = bench.filled(pool, 2);
      try (StoreBatch batch = store.batch(pool, 2)) {
        batch.add(first, a).add(second, b).put();
        batch.clear().add(second, b).add(first, a).get();
        assertEquals(2, batch.leadingHits(), "keys of " + length + " bytes");
        assertPattern(pool.page(b), pool.pageBytes(), 2, "second key of " + length + " bytes");
        assertPattern(pool.page(a), pool.pageBytes(), 1, "first key of " + length + " bytes");
      }
      pool.release(a);
      pool.release(b);
    }
  }

  private static void threads(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    List<CompletableFuture<Integer>> work = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      int thread = t;
      work.add(bench.start(() -> putAndGetOwn(bench, store, pool, thread)));
    }
    for (CompletableFuture<Integer> hits : work)
      assertEquals(ROUNDS * 4, ContractBench.join(hits));
  }

  private static int putAndGetOwn(ContractBench bench, KvStore store, BlockPool pool, int thread) {
    int hits = 0;
    try (StoreBatch batch = store.batch(pool, 4)) {
      for (int round = 0; round < ROUNDS; round++) {
        int first = (thread * ROUNDS + round) * 4;
        int[] seeds = {first, first + 1, first + 2, first + 3};
        bench.putAll(store, pool, seeds);
        batch.clear();
        for (int seed : seeds)
          batch.add(key(seed), pool.lease());
        batch.get();
        for (int i = 0; i < 4; i++) {
          assertPattern(pool.page(batch.block(i)), pool.pageBytes(), seeds[i], "page of thread " + thread);
          pool.release(batch.block(i));
          if (batch.isHit(i)) hits++;
        }
      }
    }
    return hits;
  }

  private static void checkThenPut(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, 512, 512);
    int keys = 20;
    List<CompletableFuture<Boolean>> work = new ArrayList<>();
    for (int t = 0; t < 16; t++) {
      work.add(bench.start(() -> {
        boolean stored = true;
        for (int i = 0; i < keys; i++) {
          if (store.exists(key(i)) == Existence.PRESENT) continue;
          long block = bench.filled(pool, i);
          stored &= store.putPage(key(i), pool, block) instanceof PutResult.Stored;
          pool.release(block);
        }
        return stored;
      }));
    }
    for (CompletableFuture<Boolean> stored : work)
      assertTrue(ContractBench.join(stored));
    for (int i = 0; i < keys; i++)
      bench.assertHit(store, pool, i);
  }

  private static void pins(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    List<ReplicateOptions> placements = List.of(
        new ReplicateOptions(1, true, false, List.of()), ReplicateOptions.hardPinned(),
        new ReplicateOptions(2, false, false, List.of()),
        new ReplicateOptions(1, false, false, List.of("127.0.0.1:1", store.hostname())));
    try (StoreBatch batch = store.batch(pool, 1)) {
      for (int i = 0; i < placements.size(); i++) {
        batch.clear().replicate(placements.get(i)).add(key(i), bench.filled(pool, i)).put();
        assertEquals(new PutResult.Stored(), batch.putResult(0), placements.get(i).toString());
        bench.assertHit(store, pool, i);
        assertEquals(new RemoveResult.Removed(), store.remove(key(i), true));
        assertFalse(store.exists(key(i)) == Existence.PRESENT);
      }
    }
  }
}

package dev.gatun.store;

import static dev.gatun.store.ContractBench.assertPattern;
import static dev.gatun.store.ContractBench.assertUntouched;
import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.backend.StoreCode;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Lengths: odd, large, and rooms that are too small or too large. */
final class SizeCases {
  private static final int[] SIZES = {1, 7, 511, 512, 513, 4095, 4096, 65_537};

  private SizeCases() {}

  static List<ContractCase> all() {
    return List.of(
        ContractCase.always("K4.10 sizes from 1 to 65537 come back byte for byte, from blocks", SizeCases::blocks),
        ContractCase.always("K4.10 sizes from 1 to 65537 come back byte for byte, one by one", SizeCases::singles),
        ContractCase.always("K4.08 a room one byte short fails its own key only and stays as it was",
            SizeCases::shortRoom),
        ContractCase.always("K4.08 a single get into too little room changes nothing", SizeCases::shortTarget),
        ContractCase.always("a room larger than the value gets the value's length and keeps its end",
            SizeCases::largeRoom),
        ContractCase.always("a page of 20 MiB, larger than one chunk of the library", SizeCases::largePage));
  }

  private static void blocks(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, 65_537, 2 * SIZES.length);
    try (StoreBatch batch = store.batch(pool, SIZES.length)) {
      for (int i = 0; i < SIZES.length; i++)
        batch.add(key(i), bench.filled(pool, i), SIZES[i]);
      batch.put();
      batch.clear();
      for (int i = 0; i < SIZES.length; i++)
        batch.add(key(i), bench.blank(pool), SIZES[i]);
      batch.get();
      for (int i = 0; i < SIZES.length; i++) {
        assertEquals(SIZES[i], batch.bytes(i), "length of " + SIZES[i]);
        MemorySegment page = pool.page(batch.block(i));
        assertPattern(page, SIZES[i], i, "value of " + SIZES[i]);
        assertUntouched(page.asSlice(SIZES[i]), "after the value of " + SIZES[i]);
      }
    }
    for (int i = 0; i < SIZES.length; i++)
      assertEquals(new SizeResult.Known(SIZES[i]), store.size(key(i)));
  }

  private static void singles(ContractBench bench) {
    KvStore store = bench.store();
    for (int i = 0; i < SIZES.length; i++) {
      byte[] value = new byte[SIZES[i]];
      ContractBench.fill(MemorySegment.ofArray(value), i);
      assertEquals(new PutResult.Stored(), store.put(key(i), MemorySegment.ofArray(value)));
      byte[] target = new byte[SIZES[i] + 9];
      MemorySegment room = MemorySegment.ofArray(target).fill(ContractBench.UNTOUCHED);
      assertEquals(new GetResult.Hit(SIZES[i]), store.get(key(i), room));
      assertPattern(room, SIZES[i], i, "value of " + SIZES[i]);
      assertUntouched(room.asSlice(SIZES[i]), "after the value of " + SIZES[i]);
      assertEquals(new GetResult.Hit(SIZES[i]), store.get(key(i), MemorySegment.ofArray(new byte[SIZES[i]])));
    }
  }

  private static void shortRoom(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 0, 1, 2);
    try (StoreBatch batch = store.batch(pool, 3)) {
      long bytes = pool.pageBytes();
      batch.add(key(0), bench.blank(pool)).add(key(1), bench.blank(pool), bytes - 1).add(key(2), bench.blank(pool));
      batch.get();
      assertEquals(new GetResult.Hit(bytes), batch.getResult(0));
      assertEquals(new GetResult.GetFailed(StoreCode.INVALID_PARAMS, -600), batch.getResult(1));
      assertEquals(new GetResult.Hit(bytes), batch.getResult(2));
      assertPattern(pool.page(batch.block(0)), bytes, 0, "first");
      assertPattern(pool.page(batch.block(2)), bytes, 2, "third");
      assertUntouched(ContractBench.raw(pool, batch.block(1)), "the room that was too small");
    }
  }

  private static void shortTarget(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 5);
    MemorySegment room = MemorySegment.ofArray(new byte[ContractBench.PAGE_BYTES - 1]).fill(ContractBench.UNTOUCHED);
    assertEquals(new GetResult.GetFailed(StoreCode.INVALID_PARAMS, -600), store.get(key(5), room));
    assertUntouched(room, "the room that was too small");
  }

  private static void largeRoom(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store);
    long source = bench.filled(pool, 1);
    try (StoreBatch batch = store.batch(pool, 1)) {
      batch.add(key(1), source, 1000).put();
      long target = bench.blank(pool);
      batch.clear().add(key(1), target).get();
      assertEquals(1000, batch.bytes(0));
      assertPattern(pool.page(target), 1000, 1, "value");
      assertUntouched(pool.page(target).asSlice(1000), "after the value");
    }
  }

  private static void largePage(ContractBench bench) {
    KvStore store = bench.store();
    BlockPool pool = bench.pool(store, 20L << 20, 2);
    bench.putAll(store, pool, 1);
    bench.assertHit(store, pool, 1);
    assertEquals(new SizeResult.Known(20L << 20), store.size(key(1)));
  }
}

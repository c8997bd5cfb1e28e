package dev.gatun.store;

import static dev.gatun.store.ContractBench.fill;
import static dev.gatun.store.ContractBench.join;
import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.memory.BlockPool;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Pages that are not what was asked for, as codecs with stamps see them. */
final class StampCases {
  private static final KeyCodec PLAIN = KeyCodec.plain("contract");
  private static final KeyCodec STAMP = PLAIN.withVerify(Verify.STAMP);
  private static final KeyCodec FULL = PLAIN.withVerify(Verify.FULL);

  private StampCases() {}

  static List<ContractCase> all() {
    return List.of(
        ContractCase.always("stamped pages come back byte for byte, in batches and alone", StampCases::roundTrip),
        ContractCase.always("a page of older weights is STALE under a key without an epoch", StampCases::stale),
        ContractCase.always("a page of another run is STALE", StampCases::otherRun),
        ContractCase.always("a page under another key is SWAPPED", StampCases::swapped),
        ContractCase.always("a page without a stamp, or of another namespace, is FOREIGN", StampCases::foreign),
        ContractCase.always("a page with one wrong byte is TORN, wherever the byte is", StampCases::torn),
        ContractCase.always("a page that is too short is TORN", StampCases::cut),
        ContractCase.always("a reader that demands checksums takes no page without one", StampCases::noChecksum),
        ContractCase.always("a rejected page leaves its block unusable and its neighbours hits",
            StampCases::neighbours),
        ContractCase.always("sizes count pages, not stamps", StampCases::sizes),
        ContractCase.controlled("one block under two keys at once is refused, under one key it is not",
            StampCases::twoKeys));
  }

  private static GetResult rejected(Rejection reason) {
    return new GetResult.Rejected(reason);
  }

  private static void roundTrip(ContractBench bench) {
    for (KeyCodec codec : List.of(STAMP, FULL, KeyCodec.epoch("contract").withVerify(Verify.FULL))) {
      KvStore store = bench.open(codec);
      store.removeAll(true);
      BlockPool pool = bench.pool(store);
      bench.putAll(store, pool, 0, 1, 2, 3);
      for (int i = 0; i < 4; i++)
        bench.assertHit(store, pool, i);
      byte[] value = new byte[777];
      fill(MemorySegment.ofArray(value), 9);
      assertEquals(new PutResult.Stored(), store.put(key(9), MemorySegment.ofArray(value)));
      byte[] target = new byte[800];
      assertEquals(new GetResult.Hit(777), store.get(key(9), MemorySegment.ofArray(target)));
      ContractBench.assertPattern(MemorySegment.ofArray(target), 777, 9, codec.toString());
      long block = pool.lease();
      assertEquals(new GetResult.Hit(777), store.getPage(key(9), pool, block));
      ContractBench.assertPattern(pool.page(block), 777, 9, codec.toString());
    }
  }

  private static void raise(EpochGate gate, WeightEpoch next) {
    gate.close();
    gate.raise(next);
    gate.open(EpochGate.State.OPEN);
  }

  private static void stale(ContractBench bench) {
    KvStore store = bench.open(STAMP);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    raise(bench.gate, new WeightEpoch("run", 2));
    assertEquals(rejected(Rejection.STALE), bench.get(store, pool, key(1)));
    assertEquals(rejected(Rejection.STALE), store.get(key(1), MemorySegment.ofArray(new byte[4096])));
    assertEquals(new RemoveResult.Removed(), store.remove(key(1), true));
    bench.putAll(store, pool, 1);
    bench.assertHit(store, pool, 1);
  }

  private static void otherRun(ContractBench bench) {
    KvStore store = bench.open(FULL);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    raise(bench.gate, new WeightEpoch("walk", 1));
    assertEquals(rejected(Rejection.STALE), bench.get(store, pool, key(1)));
  }

  /** What the library holds under a key, stamp included. */
  private static byte[] object(ContractBench bench, KvKey whole, int bytes) {
    byte[] object = new byte[bytes];
    assertEquals(new GetResult.Hit(bytes), bench.open(KeyCodec.verbatim()).get(whole, MemorySegment.ofArray(object)));
    return object;
  }

  private static void replace(ContractBench bench, KvKey whole, byte[] object) {
    KvStore verbatim = bench.open(KeyCodec.verbatim());
    verbatim.remove(whole, true);
    assertEquals(new PutResult.Stored(), verbatim.put(whole, MemorySegment.ofArray(object)));
  }

  private static void swapped(ContractBench bench) {
    KvStore store = bench.open(STAMP);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    replace(bench, KvKey.of("contract//key-2"), object(bench, KvKey.of("contract//key-1"), 4096 + 64));
    assertEquals(rejected(Rejection.SWAPPED), bench.get(store, pool, key(2)));
    bench.assertHit(store, pool, 1);
  }

  private static void foreign(ContractBench bench) {
    KvStore store = bench.open(STAMP);
    BlockPool pool = bench.pool(store);
    for (int bytes : new int[]{1, 63, 64, 4096, 4096 + 64}) {
      byte[] engine = new byte[bytes];
      fill(MemorySegment.ofArray(engine), 3);
      replace(bench, KvKey.of("contract//key-3"), engine);
      assertEquals(rejected(Rejection.FOREIGN), bench.get(store, pool, key(3)), bytes + " bytes of an engine");
    }
    KvStore neighbour = bench.open(KeyCodec.plain("contract2").withVerify(Verify.STAMP));
    bench.putAll(neighbour, bench.pool(neighbour), 1);
    replace(bench, KvKey.of("contract//key-1"), object(bench, KvKey.of("contract2//key-1"), 4096 + 64));
    assertEquals(rejected(Rejection.FOREIGN), bench.get(store, pool, key(1)));
  }

  private static void torn(ContractBench bench) {
    KvStore store = bench.open(FULL);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    KvKey whole = KvKey.of("contract//key-1");
    byte[] good = object(bench, whole, 4096 + 64);
    for (int at : new int[]{8, 16, 24, 32, 40, 48, 52, 56, 60, 63, 64, 65, 2000, 4096 + 63}) {
      byte[] bad = good.clone();
      bad[at] ^= 0x10;
      replace(bench, whole, bad);
      assertEquals(rejected(Rejection.TORN), bench.get(store, pool, key(1)), "byte " + at);
    }
    byte[] magic = good.clone();
    magic[0]++;
    replace(bench, whole, magic);
    assertEquals(rejected(Rejection.FOREIGN), bench.get(store, pool, key(1)));
    replace(bench, whole, good);
    bench.assertHit(store, pool, 1);
  }

  private static void cut(ContractBench bench) {
    KvStore store = bench.open(STAMP);
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 1);
    KvKey whole = KvKey.of("contract//key-1");
    byte[] good = object(bench, whole, 4096 + 64);
    for (int bytes : new int[]{64, 65, 4096 + 63}) {
      replace(bench, whole, Arrays.copyOf(good, bytes));
      assertEquals(rejected(Rejection.TORN), bench.get(store, pool, key(1)), bytes + " of 4160 bytes");
    }
  }

  private static void noChecksum(ContractBench bench) {
    KvStore writer = bench.open(STAMP);
    bench.putAll(writer, bench.pool(writer), 1);
    KvStore reader = bench.open(FULL);
    assertEquals(rejected(Rejection.FOREIGN), bench.get(reader, bench.pool(reader), key(1)));
  }

  private static void neighbours(ContractBench bench) {
    long[] seen = new long[6];
    KvStore store = bench.open(0, FULL, StorePolicy.DEFAULT, new Observer() {
      @Override
      public void onGet(int hits, int misses, int expired, int rejected, int failed, long bytes, long nanos) {
        long[] counts = {hits, misses, expired, rejected, failed, bytes};
        System.arraycopy(counts, 0, seen, 0, counts.length);
      }
    });
    BlockPool pool = bench.pool(store);
    bench.putAll(store, pool, 0, 1, 2);
    KvKey whole = KvKey.of("contract//key-1");
    byte[] bad = object(bench, whole, 4096 + 64);
    bad[100]++;
    replace(bench, whole, bad);
    try (StoreBatch batch = store.batch(pool, 4)) {
      for (int i = 0; i < 4; i++)
        batch.add(key(i), bench.blank(pool));
      batch.get();
      assertEquals(Rejection.TORN, batch.rejection(1));
      assertEquals(StoreCode.PAGE_REJECTED, batch.code(1));
      assertEquals(0, batch.bytes(1));
      assertThrows(IllegalStateException.class, () -> pool.page(batch.block(1)));
      assertTrue(batch.isHit(0) && batch.isHit(2) && !batch.isHit(1));
      assertEquals(null, batch.rejection(0));
      assertEquals(1, batch.leadingHits());
    }
    assertEquals("[2, 1, 0, 1, 0, 8192]", Arrays.toString(seen));
  }

  private static void sizes(ContractBench bench) {
    KvStore store = bench.open(STAMP);
    bench.putAll(store, bench.pool(store), 1);
    assertEquals(new SizeResult.Known(4096), store.size(key(1)));
    assertEquals(64, STAMP.headerBytes());
    assertEquals(0, PLAIN.headerBytes());
  }

  private static void twoKeys(ContractBench bench) {
    KvStore store = bench.open(STAMP);
    KvStore other = bench.open(1, STAMP, StorePolicy.DEFAULT, Observer.NONE);
    BlockPool pool = bench.pool(store);
    other.register(pool.slab());
    long block = bench.filled(pool, 1);
    LoopbackControls.arm("put.before_copy", Action.HANG, 0, 1);
    CompletableFuture<PutResult> put = bench.start(() -> store.putPage(key(1), pool, block));
    LoopbackControls.awaitHanging("put.before_copy", 1);
    InUseException refusal = assertThrows(InUseException.class, () -> other.putPage(key(2), pool, block));
    ContractBench.assertSays("entry 0 (key-2)", refusal);
    assertEquals(new PutResult.Stored(), other.putPage(key(1), pool, block));
    LoopbackControls.release("put.before_copy");
    assertEquals(new PutResult.Stored(), join(put));
    assertEquals(new PutResult.Stored(), other.putPage(key(2), pool, block));
    assertEquals(new GetResult.Hit(4096), store.getPage(key(2), pool, block));
    ContractBench.assertPattern(pool.page(block), 4096, 1, "the page under its second key");
    bench.assertHit(store, pool, 1);
    other.unregister(pool.slab());
  }
}

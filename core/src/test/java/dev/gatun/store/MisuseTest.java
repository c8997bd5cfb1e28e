package dev.gatun.store;

import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What callers must not do, and what may not come of it: no crash, no block that never becomes free. */
class MisuseTest {
  private static final int PAGE = 4096;

  private final EpochGate gate = new EpochGate(new WeightEpoch("run", 1));

  private KvStore store(KeyCodec codec) {
    return KvStore.open(StoreOptions.loopback("misuse", 64L << 20), codec, gate, Observer.NONE);
  }

  @Test
  @DisplayName("a batch that another thread fills meanwhile lets go the blocks that it marked, and no other")
  void filledMeanwhile() {
    KeyCodec codec = KeyCodec.plain("ns");
    try (KvStore store = store(codec);
        BlockPool pool = BlockPool.allocate(new PoolLayout(PAGE, 2), gate);
        Arena arena = Arena.ofConfined()) {
      StoreCore core = store.core();
      BatchEntries entries = new BatchEntries(arena, 2, codec, gate);
      BatchPins pins = new BatchPins(entries, pool, new RegisteredSlab(core.backend, core.activities),
          core.quarantined, codec, null);
      long mine = pool.lease();
      long other = pool.lease();
      for (boolean put : new boolean[]{true, false}) {
        entries.clear();
        entries.add(key("mine"), mine, PAGE);
        entries.seal();
        if (put) pins.forPut();
        else
          pins.forGet(false, 1);
        entries.clear();
        entries.add(key("other"), other, PAGE);
        entries.add(key("another"), other, PAGE);
        assertEquals(1, entries.sealed, "the running operation keeps its length");
        if (put) pins.endPut(0, 0);
        else
          pins.endGet(0, PAGE);
        assertTrue(pool.pending().isEmpty(), () -> "still marked: " + pool.pending());
      }
      pool.release(mine);
      pool.release(other);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @DisplayName("a value in a mapped file that was cut short is refused, also through a view that does not tell that it is "
      + "mapped; so is a target; the process lives")
  void mappedFileCutShort(boolean view, @TempDir Path folder) throws IOException {
    try (KvStore store = store(KeyCodec.plain("ns"));
        FileChannel file = FileChannel.open(folder.resolve("value"), StandardOpenOption.CREATE,
            StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MappedByteBuffer buffer = file.map(MapMode.READ_WRITE, 0, 1 << 20);
      MemorySegment mapped = MemorySegment.ofBuffer(view ? buffer.asLongBuffer() : buffer);
      assertEquals(!view, mapped.isMapped());
      assertInstanceOf(PutResult.Stored.class, store.put(key("whole"), mapped));
      file.truncate(PAGE);
      ContractBench.assertSays("value cannot be read: the file it is mapped from was cut short",
          assertThrows(IllegalArgumentException.class, () -> store.put(key("cut"), mapped)));
      assertEquals(Existence.ABSENT, store.exists(key("cut")));
      ContractBench.assertSays("target cannot be written: the file it is mapped from was cut short",
          assertThrows(IllegalArgumentException.class, () -> store.get(key("whole"), mapped)));
      assertEquals(new GetResult.Hit(1 << 20), store.get(key("whole"), MemorySegment.ofArray(new byte[1 << 20])));
    }
  }

  @ParameterizedTest
  @EnumSource(Verify.class)
  @DisplayName("a batch of adopted memory whose owner has freed it is refused, and its blocks are let go")
  @SuppressWarnings("MustBeClosedChecker") // closed too early, which is what this is about
  void adoptedMemoryGone(Verify verify) {
    KeyCodec codec = KeyCodec.plain("ns").withVerify(verify);
    Arena owner = Arena.ofShared();
    try (KvStore store = store(codec);
        Slab slab = Slab.adopt("adopted", owner.allocate(1 << 16, PAGE));
        BlockPool pool = BlockPool.over(slab, new PoolLayout(PAGE, 2, codec.headerBytes()), gate)) {
      store.register(slab);
      StoreBatch batch = store.batch(pool, 1).add(key("page"), pool.lease());
      owner.close();
      ContractBench.assertSays("put refused: the owner of " + slab + " has closed its arena",
          assertThrows(ClosedException.class, batch::put));
      ContractBench.assertSays("get refused: the owner of " + slab + " has closed its arena",
          assertThrows(ClosedException.class, batch::get));
      assertTrue(pool.pending().isEmpty(), () -> "still marked: " + pool.pending());
      store.unregister(slab);
    }
  }

  @Test
  @DisplayName("what an observer throws reaches no operation, and leaves no block marked")
  void observerThrows() {
    try (KvStore store = KvStore.open(StoreOptions.loopback("misuse", 64L << 20), KeyCodec.plain("ns"), gate,
        new ThrowingObserver());
        BlockPool pool = BlockPool.allocate(new PoolLayout(PAGE, 2), gate)) {
      store.register(pool.slab());
      StoreBatch batch = store.batch(pool, 2).add(key("a"), pool.lease()).add(key("b"), pool.lease());
      assertTrue(batch.put().isStored(1));
      assertEquals(2, batch.get().leadingHits());
      assertEquals(Existence.PRESENT, batch.exists().existence(0));
      assertInstanceOf(PutResult.Stored.class, store.put(key("single"), MemorySegment.ofArray(new byte[1])));
      assertEquals(new GetResult.Hit(1), store.get(key("single"), MemorySegment.ofArray(new byte[1])));
      assertEquals(new RemoveResult.Removed(), store.remove(key("single"), true));
      assertEquals(2, store.removeAll(true));
      store.core().failedKeys.add(key("b").hash(), StoreCode.LEASE_EXPIRED.raw());
      assertEquals(StoreCode.LEASE_EXPIRED, batch.get().code(1));
      assertTrue(pool.pending().isEmpty(), () -> "still marked: " + pool.pending());
      gate.close();
      assertThrows(GateClosedException.class, batch::put);
      gate.open(EpochGate.State.OPEN);
      store.unregister(pool.slab());
    }
  }

  /** Throws whatever it is told. */
  private static final class ThrowingObserver implements Observer {
    @Override
    public void onPut(int stored, int alreadyPresent, int failed, long bytes, long nanos) {
      throw new IllegalStateException("onPut");
    }

    @Override
    public void onGet(int hits, int misses, int leaseExpired, int rejected, int failed, long bytes, long nanos) {
      throw new IllegalStateException("onGet");
    }

    @Override
    public void onExists(int present, int absent, int failed, long nanos) {
      throw new NoClassDefFoundError("onExists");
    }

    @Override
    public void onRemove(long removed, boolean failed, long nanos) {
      throw new IllegalStateException("onRemove");
    }

    @Override
    public void onSkip(String reason, int keys) {
      throw new IllegalStateException("onSkip");
    }
  }

  @Test
  @DisplayName("an interrupted thread puts where nothing must be waited for, and stays interrupted")
  void interruptedPut() {
    try (KvStore store = store(KeyCodec.plain("ns"))) {
      Thread.currentThread().interrupt();
      PutResult put = store.put(key("a"), MemorySegment.ofArray(new byte[1]));
      assertTrue(Thread.interrupted());
      assertInstanceOf(PutResult.Stored.class, put);
    }
  }

  @Test
  @DisplayName("a removal by prefix needs no stack of its caller: compiling the pattern recurses in native code")
  void removalOnSmallStack() throws InterruptedException {
    try (KvStore store = store(KeyCodec.plain("ns"))) {
      store.put(key("a".repeat(KvKey.BYTES_MAX)), MemorySegment.ofArray(new byte[1]));
      AtomicLong removed = new AtomicLong(-1);
      Thread small = new Thread(null, () -> removed.set(store.removePrefix("a".repeat(KvKey.BYTES_MAX), true)),
          "small stack", 1); // the least that the JVM gives
      small.start();
      small.join();
      assertEquals(1, removed.get());
    }
  }

  @Test
  @DisplayName("a get into far more room than there is memory takes no more of it than the value has")
  void roomWithoutEnd() {
    try (KvStore store = store(KeyCodec.plain("ns").withVerify(Verify.FULL)); Arena arena = Arena.ofConfined()) {
      MemorySegment room = arena.allocate(PAGE).reinterpret(1L << 46); // of which only the first page is there
      assertEquals(new GetResult.Miss(), store.get(key("a"), room));
      store.put(key("a"), MemorySegment.ofArray(new byte[]{7}));
      assertEquals(new GetResult.Hit(1), store.get(key("a"), room));
      assertEquals(7, room.get(ValueLayout.JAVA_BYTE, 0));
    }
  }
}

package dev.gatun.store;

import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
          pins.forGet(false);
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

  @Test
  @DisplayName("a value in a mapped file that was cut short is refused; the process lives")
  void mappedFileCutShort(@TempDir Path folder) throws IOException {
    try (KvStore store = store(KeyCodec.plain("ns"));
        FileChannel file = FileChannel.open(folder.resolve("value"), StandardOpenOption.CREATE,
            StandardOpenOption.READ, StandardOpenOption.WRITE);
        Arena arena = Arena.ofConfined()) {
      MemorySegment value = file.map(MapMode.READ_WRITE, 0, 1 << 20, arena);
      assertInstanceOf(PutResult.Stored.class, store.put(key("whole"), value));
      file.truncate(PAGE);
      ContractBench.assertSays("value cannot be read: the file it is mapped from was cut short",
          assertThrows(IllegalArgumentException.class, () -> store.put(key("cut"), value)));
      assertEquals(Existence.ABSENT, store.exists(key("cut")));
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
}

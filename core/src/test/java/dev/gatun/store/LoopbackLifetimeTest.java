package dev.gatun.store;

import static dev.gatun.store.ContractBench.join;
import static dev.gatun.store.ContractBench.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What stays flat over many operations, stores and collections, on the embedded library. */
class LoopbackLifetimeTest {
  private static final int KEYS = 128;

  @BeforeEach
  @AfterEach
  void reset() {
    LoopbackControls.reset();
  }

  private static long collections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
  }

  private static long residentKib() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElseThrow();
  }

  private static long entries(String folder) throws IOException {
    try (Stream<Path> entries = Files.list(Path.of(folder))) {
      return entries.count();
    }
  }

  private static KvStore store(EpochGate gate, KeyCodec codec) {
    return KvStore.open(StoreOptions.loopback("lifetime", 64L << 20), codec, gate, Observer.NONE);
  }

  @ParameterizedTest
  @EnumSource(Verify.class)
  @DisplayName("K13.04 K13.11 puts, gets and questions in steady state allocate nothing on the heap and nothing native")
  void allocation(Verify verify) {
    EpochGate gate = new EpochGate(new WeightEpoch("run", 1));
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    KeyCodec codec = KeyCodec.epoch("ns").withVerify(verify);
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(4096, KEYS, codec.headerBytes()), gate);
        KvStore store = store(gate, codec)) {
      store.register(pool.slab());
      KvKey[] keys = IntStream.range(0, KEYS).mapToObj(ContractBench::key).toArray(KvKey[]::new);
      long[] blocks = IntStream.range(0, KEYS).mapToLong(i -> pool.lease()).toArray();
      StoreBatch batch = store.batch(pool, KEYS);
      long nativeBytes = batch.nativeBytes();
      long before = 0;
      int warmUp = 20_000;
      int rounds = 2_000;
      for (int round = 0; round < warmUp + rounds; round++) {
        if (round == warmUp) before = threads.getCurrentThreadAllocatedBytes();
        // another order each round, so that every key is copied
        batch.clear();
        for (int i = 0; i < 16; i++)
          batch.add(keys[(round + i) % KEYS], blocks[i]);
        batch.put().get().exists();
      }
      long bytes = threads.getCurrentThreadAllocatedBytes() - before;
      // one deoptimisation allocates a few boxed frames; a single object an operation would be 16 bytes * 3 * rounds
      assertTrue(bytes < 16L * rounds, "bytes in " + rounds + " rounds: " + bytes);
      assertEquals(nativeBytes, batch.nativeBytes());
    }
  }

  @Test
  @DisplayName("K6.09 200 stores opened and closed leave threads, descriptors and native stores as they were")
  void twoHundredClients() throws IOException {
    EpochGate gate = new EpochGate(new WeightEpoch("run", 1));
    openAndClose(gate);
    long stores = LoopbackControls.liveStores();
    long threads = entries("/proc/self/task");
    long descriptors = entries("/proc/self/fd");
    for (int i = 0; i < 200; i++)
      openAndClose(gate);
    assertEquals(stores, LoopbackControls.liveStores());
    assertTrue(entries("/proc/self/task") <= threads + 2,
        "threads: " + threads + ", now " + entries("/proc/self/task"));
    assertTrue(entries("/proc/self/fd") <= descriptors + 2, "descriptors: " + descriptors);
    assertEquals(0, gate.parts().size());
  }

  private static void openAndClose(EpochGate gate) {
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(4096, 4), gate);
        KvStore store = store(gate, KeyCodec.plain("ns"))) {
      store.register(pool.slab());
      long block = pool.lease();
      assertEquals(new PutResult.Stored(), store.batch(pool, 2).add(key(1), block).put().putResult(0));
      pool.release(block);
    }
  }

  @Test
  @DisplayName("K12.06 a million puts and removals leave the resident memory as it was")
  void million() throws IOException {
    EpochGate gate = new EpochGate(new WeightEpoch("run", 1));
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(512, 1000), gate);
        KvStore store = store(gate, KeyCodec.plain("ns"))) {
      store.register(pool.slab());
      long[] blocks = IntStream.range(0, 1000).mapToLong(i -> pool.lease()).toArray();
      KvKey[] keys = IntStream.range(0, 1000).mapToObj(ContractBench::key).toArray(KvKey[]::new);
      StoreBatch batch = store.batch(pool, keys.length);
      long settled = 0;
      for (int round = 0; round < 1000; round++) {
        if (round == 100) settled = residentKib();
        batch.clear();
        for (int i = 0; i < keys.length; i++)
          batch.add(keys[i], blocks[i]);
        batch.put();
        assertTrue(batch.isStored(999));
        assertEquals(1000, store.removeAll(true));
      }
      long grown = residentKib() - settled;
      assertTrue(grown < 64 << 10, "KiB grown over 900,000 puts: " + grown);
    }
  }

  @Test
  @DisplayName("K13.06 a collection ends while a put hangs in native code")
  void collectionDuringPut() {
    try (ContractBench bench = new ContractBench(new LoopbackSubject(0))) {
      KvStore store = bench.store();
      BlockPool pool = bench.pool(store);
      long block = bench.filled(pool, 1);
      LoopbackControls.arm("put.before_copy", Action.HANG, 0, 1);
      CompletableFuture<PutResult> put = bench.start(() -> store.putPage(key(1), pool, block));
      LoopbackControls.awaitHanging("put.before_copy", 1);
      long before = collections();
      CompletableFuture<Boolean> collected = bench.start(() -> {
        System.gc();
        return true;
      });
      assertTrue(join(collected));
      assertTrue(collections() > before);
      LoopbackControls.release("put.before_copy");
      assertEquals(new PutResult.Stored(), join(put));
    }
  }

  @Test
  @DisplayName("K4.03 a page of 2 GiB and 4096 bytes comes back whole")
  void beyondTwoGiB() {
    long pageBytes = (2L << 30) + 4096;
    EpochGate gate = new EpochGate(new WeightEpoch("run", 1));
    LoopbackControls.watermark(100); // the one page fills the pool
    LoopbackControls.lease(Duration.ofMinutes(5)); // of size, not of how fast this machine copies
    StoreOptions options = StoreOptions.loopback("large", (2L << 30) + (16L << 20));
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(pageBytes, 1), gate);
        KvStore store = KvStore.open(options, KeyCodec.plain("ns"), gate, Observer.NONE)) {
      store.register(pool.slab());
      long block = pool.lease();
      long[] marks = {0, 1L << 30, (2L << 30) - 4096, pageBytes - 4096};
      for (int i = 0; i < marks.length; i++)
        ContractBench.fill(pool.page(block).asSlice(marks[i], 4096), i);
      assertEquals(new PutResult.Stored(), store.putPage(key(1), pool, block));
      for (long mark : marks)
        pool.page(block).asSlice(mark, 4096).fill((byte) 0);
      assertEquals(new GetResult.Hit(pageBytes), store.getPage(key(1), pool, block));
      for (int i = 0; i < marks.length; i++) {
        ContractBench.assertPattern(pool.page(block).asSlice(marks[i]), 4096, i, "at " + marks[i]);
      }
    }
  }
}

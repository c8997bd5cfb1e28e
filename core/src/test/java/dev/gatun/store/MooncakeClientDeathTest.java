package dev.gatun.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.ChildJvm;
import dev.gatun.internal.backend.MooncakeTestRuntime;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.testing.Await;
import dev.gatun.testing.FreePort;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients of a real master that contribute memory and end, with a word and without, and others that come under their names. */
@Tag("mooncake")
@Timeout(300)
class MooncakeClientDeathTest {
  private static final long SEGMENT_BYTES = 16L << 20;
  private static final int PAGE_BYTES = 65_536;
  private static final int PAGES = 4;
  private static final int BLOCKS = 64; // those of gets in doubt stay in quarantine

  private static MooncakeMaster master(String clientSeconds) {
    return MooncakeTestRuntime
        .startMaster(MooncakeTestRuntime.masterOptions().withFlag("client_ttl", clientSeconds));
  }

  @Test
  @DisplayName("K8.03 a client that was killed is forgotten by its master after the time that the master gives it")
  void killed() {
    try (MooncakeMaster master = master("2"); ChildJvm storage = MooncakeTestRuntime.storage(master, SEGMENT_BYTES)) {
      assertEquals(1, MooncakeTestRuntime.segments(master).size());
      storage.kill();
      Await.until("the master forgets its segment", () -> MooncakeTestRuntime.segments(master).isEmpty());
    }
  }

  @Test
  @DisplayName("K8.03 a client that closes takes its segment along at once")
  void closed() {
    try (MooncakeMaster master = master("600")) {
      try (ChildJvm storage = MooncakeTestRuntime.storage(master, SEGMENT_BYTES)) {
        assertEquals(1, MooncakeTestRuntime.segments(master).size());
        storage.closeInput();
        assertEquals(0, storage.await().code(), storage::output);
      }
      assertEquals(List.of(), MooncakeTestRuntime.segments(master));
    }
  }

  @Test
  @DisplayName("K8.06 storage that dies and comes back at once under its name: no page of the old one is served with other bytes")
  void sameName() {
    String name = "127.0.0.1:" + FreePort.find();
    EpochGate gate = new EpochGate(new WeightEpoch("run", 1));
    KeyCodec stamped = KeyCodec.epoch("death").withVerify(Verify.FULL);
    try (MooncakeMaster master = master("5");
        BlockPool pool = BlockPool.allocate(new PoolLayout(PAGE_BYTES, BLOCKS, stamped.headerBytes()), gate)) {
      KvStore store = KvStore.open(MooncakeTestRuntime.client(master).build(), stamped, gate, Observer.NONE);
      store.register(pool.slab());
      try (ChildJvm first = MooncakeTestRuntime.storage(master, SEGMENT_BYTES, name)) {
        for (int i = 0; i < PAGES; i++)
          assertEquals(new PutResult.Stored(), put(store, pool, "old", i));
        assertEquals(PAGES, hits(store, pool, "old"));
        first.kill();
        first.await();
      }
      try (ChildJvm second = MooncakeTestRuntime.storage(master, SEGMENT_BYTES, name)) {
        assertEquals(0, hits(store, pool, "old"));
        for (int i = 0; i < PAGES; i++) {
          int number = i; // the master may still place it in the memory of the dead
          Await.until("a page is stored", () -> put(store, pool, "new", number) instanceof PutResult.Stored);
        }
        assertEquals(PAGES, hits(store, pool, "new"));
        assertEquals(0, hits(store, pool, "old"));
        assertTrue(second.isAlive());
      }
      assertEquals(List.of(), store.close(Deadline.after(Duration.ofMinutes(2))));
    }
  }

  private static KvKey key(String name, int number) {
    return KvKey.of(name + '-' + number);
  }

  private static PutResult put(KvStore store, BlockPool pool, String name, int number) {
    long block = pool.lease();
    try {
      ContractBench.fill(pool.rewrite(block), name.hashCode() + number);
      return store.putPage(key(name, number), pool, block);
    } finally {
      pool.release(block);
    }
  }

  /** {@return pages that are served, each with the bytes that were put} */
  private static int hits(KvStore store, BlockPool pool, String name) {
    int hits = 0;
    for (int i = 0; i < PAGES; i++) {
      long block = pool.lease();
      try {
        if (!(store.getPage(key(name, i), pool, block) instanceof GetResult.Hit)) continue;
        ContractBench.assertPattern(pool.page(block), PAGE_BYTES, name.hashCode() + i, name + ' ' + i);
        hits++;
      } finally {
        pool.release(block);
      }
    }
    return hits;
  }
}

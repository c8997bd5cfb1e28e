package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.StoreOptions;
import dev.gatun.internal.backend.ChildJvm;
import dev.gatun.internal.backend.MooncakeTestRuntime;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.store.KvKey;
import dev.gatun.testing.Await;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A store connector over a real master and a real storage process. */
@Tag("mooncake")
class MooncakeStoreConnectorTest extends StoreConnectorContract {
  private static final long STORAGE_BYTES = 64L << 20;

  private static final MooncakeMaster MASTER = MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions());
  private static final ChildJvm STORAGE = MooncakeTestRuntime.storage(MASTER, STORAGE_BYTES);

  @BeforeAll
  static void start() {
    assertTrue(MASTER.isAlive());
  }

  @AfterAll
  static void stop() {
    STORAGE.close();
    MASTER.close();
  }

  @Override
  StoreOptions options() {
    return MooncakeTestRuntime.client(MASTER).localBufferBytes(16L << 20).build();
  }

  @Test
  @DisplayName("K8.01 after a restart of the master prefixes miss, and what is saved then is found and loaded")
  void masterRestart() {
    MooncakeMaster own = MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions());
    StoreOptions options = MooncakeTestRuntime.client(own).segmentBytes(16L << 20).localBufferBytes(16L << 20).build();
    RefitPolicy patient = Site.POLICY.withDeadline(Duration.ofSeconds(20));
    try (own; Site site = new Site(options, Site.KEYED, patient, GROUPS, PAGE_BYTES, 64)) {
      List<KvKey> keys = Site.keys("p", 9);
      site.save("w", keys);
      own.kill();
      assertEquals(0, site.connector.scheduler().lookup(site.request("down", keys), 0).blocks());
      own.restart();
      Await.until("the store answers again", () -> site.connector.scheduler()
          .lookup(site.request("up", keys), 0) instanceof PrefixLookup.Found);
      assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(site.request("r", keys), 0));
      Await.until("saving works again", () -> site.save("again", keys).stream()
          .allMatch(FinishedTransfers.Save::complete));
      Site.Loaded loaded = site.load(site.request("s", keys), 0);
      assertEquals(new PrefixLookup.Found(9), loaded.found());
      assertTrue(loaded.load().complete(), loaded.load()::toString);
      for (int i = 0; i < keys.size(); i++)
        assertTrue(site.holds(loaded.blocks().get(i), keys.get(i), 1), "block " + i);
      site.release(loaded.blocks());
    }
  }

  @Test
  @DisplayName("K8.04 pages in the writer's own memory are a miss when it has closed")
  void writerCloses() {
    MooncakeMaster own = MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions());
    StoreOptions pure = MooncakeTestRuntime.client(own).localBufferBytes(16L << 20).build();
    StoreOptions owning = MooncakeTestRuntime.client(own).segmentBytes(16L << 20).localBufferBytes(16L << 20).build();
    List<KvKey> keys = Site.keys("p", 5);
    try (own; Site reader = new Site(pure, Site.KEYED, Site.POLICY, GROUPS, PAGE_BYTES, 64)) {
      try (Site writer = new Site(owning, Site.KEYED, Site.POLICY, GROUPS, PAGE_BYTES, 64)) {
        writer.save("w", keys);
        assertEquals(new PrefixLookup.Found(5), reader.connector.scheduler().lookup(reader.request("r", keys), 0));
      }
      assertEquals(new PrefixLookup.Found(0), reader.connector.scheduler().lookup(reader.request("s", keys), 0));
    }
  }
}

package dev.gatun.store;

import static java.net.URLEncoder.encode;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.ChildJvm;
import dev.gatun.internal.backend.MasterAdmin;
import dev.gatun.internal.backend.MooncakeTestRuntime;
import dev.gatun.nativelib.MasterOptions;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.testing.Await;
import dev.gatun.testing.FreePort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A master whose own HTTP service tells clients where storage is, and forgets that when it starts anew. */
@Tag("mooncake")
@Timeout(120)
class MooncakeMetadataTest {
  private static final long SEGMENT_BYTES = 16L << 20;
  private static final int PAGE_BYTES = 65_536;

  private final EpochGate gate = new EpochGate(new WeightEpoch("run", 1));

  /** {@return whether the service says where the one segment of a master is} */
  private static boolean knowsSegment(MooncakeMaster master, int port) {
    List<String> segments = MooncakeTestRuntime.segments(master);
    assertEquals(1, segments.size());
    Duration most = Duration.ofSeconds(5);
    try (MasterAdmin service = new MasterAdmin("http://127.0.0.1:" + port, most, most)) {
      String key = encode("mooncake/ram/" + segments.getFirst(), UTF_8);
      return service.find("/metadata?key=" + key, Deadline.after(most)).isPresent();
    }
  }

  private KvStore client(MooncakeMaster master, String metadata) {
    return KvStore.open(MooncakeTestRuntime.client(master).metadataServer(metadata).build(), KeyCodec.verbatim(), gate,
        Observer.NONE);
  }

  private static void close(KvStore store) {
    assertEquals(List.of(), store.close(Deadline.after(Duration.ofMinutes(1))));
  }

  @Test
  @DisplayName("K8.02 the master starts anew with its metadata service empty: clients publish again, what was there is missed,"
      + " new pages are stored and found by old and new clients")
  void restart() {
    int port = FreePort.find();
    String metadata = "http://127.0.0.1:" + port + "/metadata";
    MasterOptions options = MooncakeTestRuntime.masterOptions().withFlag("enable_http_metadata_server", "true")
        .withFlag("http_metadata_server_host", "127.0.0.1")
        .withFlag("http_metadata_server_port", Integer.toString(port));
    try (MooncakeMaster master = MooncakeTestRuntime.startMaster(options);
        ChildJvm storage = MooncakeTestRuntime.storage(master, SEGMENT_BYTES, "127.0.0.1", metadata);
        Arena arena = Arena.ofShared()) { // test
      MemorySegment page = arena.allocate(PAGE_BYTES).fill((byte) 7);
      MemorySegment got = arena.allocate(PAGE_BYTES);
      KvStore store = client(master, metadata);
      assertTrue(knowsSegment(master, port));
      assertEquals(new PutResult.Stored(), store.put(KvKey.of("old"), page));
      assertEquals(new GetResult.Hit(PAGE_BYTES), store.get(KvKey.of("old"), got));

      master.restart();

      Await.until("memory is mounted again", () -> store.put(KvKey.of("new"), page) instanceof PutResult.Stored);
      assertTrue(knowsSegment(master, port));
      assertEquals(new GetResult.Miss(), store.get(KvKey.of("old"), got));
      KvStore fresh = client(master, metadata);
      for (KvStore client : List.of(store, fresh)) {
        got.fill((byte) 0);
        assertEquals(new GetResult.Hit(PAGE_BYTES), client.get(KvKey.of("new"), got));
        assertEquals(-1, page.mismatch(got));
      }
      assertTrue(storage.isAlive());
      close(fresh);
      close(store);
    }
  }
}

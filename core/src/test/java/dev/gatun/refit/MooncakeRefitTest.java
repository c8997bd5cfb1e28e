package dev.gatun.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreOptions;
import dev.gatun.internal.backend.ChildJvm;
import dev.gatun.internal.backend.MooncakeTestRuntime;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.refit.RefitPolicy.OtherClients;
import dev.gatun.store.GetResult;
import dev.gatun.store.PutResult;
import dev.gatun.testing.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Refits on a real master and a real storage process. */
@Tag("mooncake")
@TestInstance(TestInstance.Lifecycle.PER_METHOD)
class MooncakeRefitTest extends RefitContract {
  /** Above the 2 s after which a call to a master that does not answer returns, so that both endings are seen. */
  private static final RefitPolicy QUICK = RefitPolicy.DEFAULT.withDeadline(Duration.ofSeconds(3))
      .withOtherClients(OtherClients.FENCED);
  private static final long STORAGE_BYTES = 64L << 20;

  private static MooncakeMaster master = MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions());
  private static ChildJvm storage = MooncakeTestRuntime.storage(master, STORAGE_BYTES);

  @BeforeAll
  static void start() {
    assertTrue(master.isAlive());
  }

  @AfterAll
  static void stop() {
    storage.close();
    master.close();
  }

  @Override
  StoreOptions options() {
    return MooncakeTestRuntime.client(master).localBufferBytes(16L << 20).build();
  }

  @Override
  StoreOptions optionsWithoutMemory() {
    MooncakeMaster bare = closing(MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions()));
    return MooncakeTestRuntime.client(bare).localBufferBytes(16L << 20).build();
  }

  @Test
  @DisplayName("the master is killed: FAILED and closed, ISOLATED and open with epochs; a new master proves anew")
  void masterKilled() {
    MooncakeMaster own = closing(MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions()));
    StoreOptions options = MooncakeTestRuntime.client(own).segmentBytes(16L << 20).localBufferBytes(16L << 20).build();
    RefitPolicy patient = RefitPolicy.DEFAULT.withDeadline(Duration.ofSeconds(20));
    Node plain = node(options, PLAIN, patient.withOtherClients(OtherClients.FENCED));
    Node keyed = node(options, KEYED, patient.withOtherClients(OtherClients.FENCED));
    putPages(keyed, 3, 1);
    own.kill();

    RefitReport failed = plain.coordinator.refit(epoch(2));
    RefitReport isolated = keyed.coordinator.refit(epoch(2));

    assertEquals(RefitOutcome.FAILED, failed.outcome(), failed::text);
    assertTrue(failed.reasons().toString().contains("removeAll failed"), failed::text);
    assertEquals(EpochGate.State.CLOSED, plain.gate.state());
    assertEquals(RefitOutcome.ISOLATED, isolated.outcome(), isolated::text);
    own.restart();
    Await.until("a proof at the new master",
        () -> plain.coordinator.refit(epoch(2)).outcome() == RefitOutcome.VERIFIED);
    assertEquals(EpochGate.State.OPEN, plain.gate.state());
  }

  @Test
  @DisplayName("the master is frozen: the refit returns by its deadline and says what hangs; thawed, it succeeds")
  void masterFrozen() {
    MooncakeMaster own = closing(MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions()));
    Node node = node(MooncakeTestRuntime.client(own).segmentBytes(16L << 20).localBufferBytes(16L << 20).build(), PLAIN,
        QUICK);
    putPages(node, 3, 1);
    own.freeze();
    RefitReport report;
    try {
      report = node.coordinator.refit(epoch(2));
      // ours ended it, not the library's own 30 s; the rest is room for a busy machine
      assertTrue(report.nanos() < QUICK.deadline().plusSeconds(9).toNanos(), report::text);
      assertEquals(RefitOutcome.FAILED, report.outcome(), report::text);
      assertEquals(EpochGate.State.CLOSED, node.gate.state());
    } finally {
      own.thaw();
    }
    Await.until("the calls came back", () -> node.coordinator.unfinished().isEmpty());
    Await.until("a proof", () -> node.coordinator.refit(epoch(2)).outcome() == RefitOutcome.VERIFIED);
    assertEquals(new GetResult.Miss(), get(node, 0));
  }

  @Test
  @DisplayName("K1.14 pages on disk go too: after a restart their keys miss, and then hold the new pages alone")
  void pagesOnDisk(@TempDir Path disk) {
    MooncakeMaster own = closing(MooncakeTestRuntime.startMaster(
        MooncakeTestRuntime.masterOptions().withFlag("root_fs_dir", disk.toString())));
    StoreOptions options = MooncakeTestRuntime.client(own).segmentBytes(16L << 20).localBufferBytes(16L << 20).build();
    Node first = node(options, PLAIN, RefitPolicy.DEFAULT);
    putPages(first, 10, 1);
    Await.until("old pages on disk", () -> filesUnder(disk) == 10);

    RefitReport report = first.coordinator.refit(epoch(2));

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
    assertEquals(1, report.reasons().size(), report::text);
    assertTrue(report.reasons().getFirst().contains("the master keeps objects on disk as well"), report::text);
    assertEquals(0, report.stores().getFirst().keyCount());
    Await.until("no file on disk", () -> filesUnder(disk) == 0);
    first.store.close();
    Node second = node(options, PLAIN, RefitPolicy.DEFAULT);
    for (int i = 0; i < 10; i++)
      assertEquals(new GetResult.Miss(), get(second, i));
    putPages(second, 10, 2);
    Await.until("new pages on disk", () -> filesUnder(disk) == 10);
    second.store.close(); // and with it their memory
    Node third = node(options, PLAIN, RefitPolicy.DEFAULT);
    int fromDisk = 0;
    for (int i = 0; i < 10; i++) {
      MemorySegment target = arena.allocate(PAGE_BYTES);
      if (third.store.get(key(i), target) instanceof GetResult.Hit) {
        fromDisk++;
        assertEquals(2, target.get(ValueLayout.JAVA_LONG, 0), "page " + i);
      }
    }
    assertEquals(10, fromDisk);
  }

  private static long filesUnder(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).count();
    } catch (IOException | UncheckedIOException e) {
      return -1; // a file went while it was looked at
    }
  }

  @Test
  @DisplayName("a foreign put in flight during the removal: list empty, removal 0, gauge 1; it lands, and is caught")
  void foreignPutInFlight() throws Exception {
    MooncakeMaster own = closing(MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions()));
    ChildJvm frozen = closing(MooncakeTestRuntime.storage(own, 16L << 20));
    String there = frozen.output().lines().filter(line -> line.startsWith("storage ready ")).findFirst().orElseThrow()
        .substring("storage ready ".length());
    Node node = node(MooncakeTestRuntime.client(own).segmentBytes(32L << 20).localBufferBytes(16L << 20).build(), PLAIN,
        QUICK.withDeadline(Duration.ofSeconds(4)));
    Node foreign = node(MooncakeTestRuntime.client(own).localBufferBytes(32L << 20).build(), PLAIN, QUICK);
    // so large that nothing else finds room in the frozen segment
    MemorySegment large = arena.allocate((16L << 20) - (64 << 10));
    signal("-STOP", frozen.pid());
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<PutResult> putting = threads.submit(() -> foreign.store.put(key(0), large,
          new ReplicateOptions(1, false, false, List.of(there))));
      Await.until("the put has started", () -> census(node).keyCount() == 1);

      RefitReport report = node.coordinator.refit(epoch(2));

      assertEquals(RefitOutcome.FAILED, report.outcome(), report::text);
      assertEquals(1, report.stores().getFirst().keyCount(), report::text);
      assertEquals(List.of(), report.stores().getFirst().leftovers());
      assertEquals(EpochGate.State.CLOSED, node.gate.state());
      signal("-CONT", frozen.pid());
      assertEquals(new PutResult.Stored(), putting.get(60, TimeUnit.SECONDS));
    } finally {
      signal("-CONT", frozen.pid());
    }
    assertEquals(new GetResult.Hit(large.byteSize()), foreign.store.get(key(0), large), "it landed after the removal");
    RefitReport again = node.coordinator.refit(epoch(2));
    assertEquals(RefitOutcome.VERIFIED, again.outcome(), again::text);
    assertEquals(new GetResult.Miss(), get(node, 0));
  }

  @Test
  @DisplayName("K8.01 the master restarts between two refits: misses, new puts work, the next refit is VERIFIED")
  void masterRestarts() {
    MooncakeMaster own = closing(MooncakeTestRuntime.startMaster(MooncakeTestRuntime.masterOptions()));
    Node node = node(MooncakeTestRuntime.client(own).segmentBytes(16L << 20).localBufferBytes(16L << 20).build(), PLAIN,
        RefitPolicy.DEFAULT);
    putPages(node, 3, 1);
    node.coordinator.refit(epoch(2)).orThrow();
    putPages(node, 3, 2);
    own.restart();
    Await.until("memory is mounted again", () -> node.store.put(key(7), page(2)) instanceof PutResult.Stored);
    assertEquals(new GetResult.Miss(), get(node, 0));

    RefitReport report = node.coordinator.refit(epoch(3));

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(new GetResult.Miss(), get(node, 7));
  }

  private static StoreCensus.Reading census(Node node) {
    return node.store.refitPort().census().orElseThrow()
        .read(Deadline.after(Duration.ofSeconds(5)));
  }

  private static void signal(String which, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("kill", which, Long.toString(pid)).start().waitFor();
  }
}

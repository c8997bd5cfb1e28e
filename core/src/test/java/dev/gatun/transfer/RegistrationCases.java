package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.deadline;
import static dev.gatun.transfer.TransferBench.eventually;
import static dev.gatun.transfer.TransferBench.holds;
import static dev.gatun.transfer.TransferBench.run;
import static dev.gatun.transfer.TransferCase.always;
import static dev.gatun.transfer.TransferCase.controlled;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineInstance;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.MemoryRange;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.memory.Slab;
import dev.gatun.testing.Thrown;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What is registered, under which name, and what is left of an engine that was closed. */
final class RegistrationCases {
  private RegistrationCases() {}

  static List<TransferCase> all() {
    return List.of(always("K5.01 overlapping views are registered as one range, neighbours stay apart",
        RegistrationCases::views),
        always("K5.12 memory registered anew with another size is seen so by a peer that was told",
            RegistrationCases::resized),
        controlled("K10.09 a page of which one part is missing holds nothing of use", RegistrationCases::missingPart),
        always("K9.04 engines opened at the same time have names of their own and move their own bytes",
            RegistrationCases::manyAtOnce),
        always("K6.09 engines that are opened and closed leave neither threads nor descriptors",
            RegistrationCases::leavesNothing),
        always("K7.11 a peer that takes connections and answers nothing ends the opening by its deadline",
            RegistrationCases::silentPeer),
        always(
            "a descriptor of an engine whose name another has since is refused, and nothing more goes out to its memory",
            RegistrationCases::restarted));
  }

  private static void views(TransferBench bench) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(400, 4096);
      List<Slab> slabs = Slab.adoptViews("views",
          List.of(memory.asSlice(50, 100), memory.asSlice(0, 100), memory.asSlice(300, 100), memory.asSlice(150, 50)));
      long base = memory.address();
      slabs.forEach(bench.there.engine::register);
      List<MemoryRange> ranges = new ArrayList<>(bench.there.engine.descriptor().ranges());
      ranges.removeIf(range -> !new MemoryRange(base, 400, "*").contains(range.address(), 1));
      assertEquals(List.of(new MemoryRange(base, 150, "*"), new MemoryRange(base + 150, 50, "*"),
          new MemoryRange(base + 300, 100, "*")), ranges);
      Segment peer = bench.here.engine.openSegment(bench.there.engine.descriptor());
      long mine = bench.here.filled(1);
      try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 8)) {
        for (long[] view : new long[][]{{50, 100}, {0, 100}, {300, 100}, {150, 50}})
          batch.write(mine, 0, view[1], peer, base + view[0]);
        assertThrows(IllegalArgumentException.class, () -> batch.write(mine, 0, 8, peer, base + 200));
        assertThrows(IllegalArgumentException.class, () -> batch.write(mine, 0, 8, peer, base + 146));
        run(batch);
      }
      slabs.forEach(bench.there.engine::unregister);
    }
  }

  private static void resized(TransferBench bench) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(8192, 4096);
      TransferBench.fill(memory, 77);
      Slab small = Slab.adopt("small", memory.asSlice(0, 4096));
      bench.there.engine.register(small);
      Segment peer = bench.here.engine.openSegment(bench.there.engine.descriptor());
      bench.there.engine.unregister(small);
      Slab large = Slab.adopt("large", memory);
      bench.there.engine.register(large);
      long mine = bench.here.filled(1);
      try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
        assertThrows(IllegalArgumentException.class, () -> batch.read(mine, 0, 4096, peer, memory.address() + 4096));
        bench.here.engine.refresh(peer, bench.there.engine.descriptor(), deadline());
        run(batch.read(mine, 0, 8192, peer, memory.address()));
        assertTrue(holds(bench.here.pool.page(mine).asSlice(0, 8192), 77));
      }
      bench.there.engine.unregister(large);
    }
  }

  private static void missingPart(TransferBench bench) {
    long mine = bench.here.filled(1);
    long theirs = bench.there.address(bench.there.filled(2));
    long third = TransferBench.PAGE_BYTES / 3;
    LoopbackControls.armAfter("engine.copy", Action.FAIL, 1, 1, 1);
    try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 3)) {
      for (int part = 0; part < 3; part++)
        batch.read(mine, part * third, third, bench.peer, theirs + part * third);
      assertTrue(batch.submit().await(deadline()));
      assertFalse(batch.allCompleted());
      assertEquals(1, IntStream.range(0, 3).filter(i -> batch.outcome(i) == TransferOutcome.FAILED).count());
      assertThrows(IllegalStateException.class, () -> bench.here.pool.page(mine));
      run(batch);
      assertTrue(holds(bench.here.pool.page(mine), 2));
    }
  }

  private static void manyAtOnce(TransferBench bench) {
    List<CompletableFuture<TransferBench.Side>> opening = IntStream.range(0, 16)
        .mapToObj(i -> CompletableFuture.supplyAsync(() -> new TransferBench.Side(bench.subject, "many " + i)))
        .toList();
    List<TransferBench.Side> sides = opening.stream().map(CompletableFuture::join).toList();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < sides.size(); i++) {
      TransferBench.Side side = sides.get(i);
      assertTrue(names.add(side.engine.segmentName()), side.engine.segmentName());
      long theirs = side.filled(100 + i);
      Segment peer = bench.here.engine.openSegment(side.engine.descriptor());
      long mine = bench.here.filled(0);
      try (TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1)) {
        run(batch.read(mine, peer, side.address(theirs)));
      }
      assertTrue(holds(bench.here.pool.page(mine), 100 + i), "engine " + i);
    }
    List<CompletableFuture<Void>> closing = sides.stream()
        .map(side -> CompletableFuture.runAsync(side::close)).toList();
    closing.forEach(CompletableFuture::join);
  }

  private static void leavesNothing(TransferBench bench) {
    openAndClose(bench, 4);
    long threads = threads();
    long descriptors = descriptors();
    openAndClose(bench, 8);
    eventually("threads: " + threads + " before, " + threads() + " now", () -> threads() <= threads + 2);
    eventually("descriptors: " + descriptors + " before, " + descriptors() + " now",
        () -> descriptors() <= descriptors + 2);
  }

  private static void openAndClose(TransferBench bench, int times) {
    for (int i = 0; i < times; i++) {
      try (TransferBench.Side side = new TransferBench.Side(bench.subject, "again " + i);
          Handovers handovers = Handovers.over(side.engine)) {
        Segment peer = side.engine.openSegment(bench.there.engine.descriptor());
        try (TransferBatch batch = side.engine.batch(side.pool, 1)) {
          run(batch.write(side.filled(i), peer, bench.there.address(bench.there.filled(0))));
        }
        assertEquals(0, handovers.open());
      }
    }
  }

  private static long threads() {
    return count("/proc/self/task");
  }

  private static long descriptors() {
    return count("/proc/self/fd");
  }

  private static long count(String folder) {
    try (Stream<Path> entries = Files.list(Path.of(folder))) {
      return entries.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void silentPeer(TransferBench bench) throws IOException {
    SegmentDescriptor real = bench.there.engine.descriptor();
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      SegmentDescriptor absent = new SegmentDescriptor(real.engine(), "127.0.0.1:" + silent.getLocalPort(), new byte[0],
          real.ranges());
      long began = System.nanoTime();
      assertThrows(GatunException.class,
          () -> bench.here.engine.openSegment(absent, Deadline.after(Duration.ofSeconds(2))));
      assertTrue(System.nanoTime() - began < Duration.ofSeconds(15).toNanos());
    }
  }

  private static void restarted(TransferBench bench) {
    SegmentDescriptor now = bench.there.engine.descriptor();
    long started = now.instance().orElseThrow().startedMillis();
    SegmentDescriptor past = of(now, started - 1);
    TransferEngine engine = bench.here.engine;
    String refusal = Thrown.message(PeerRestartedException.class, () -> engine.openSegment(past));
    assertTrue(refusal.startsWith("openSegment " + now.name() + " refused: "), refusal);
    assertThrows(PeerRestartedException.class, () -> engine.refresh(bench.peer, past, deadline()));
    long block = bench.here.filled(1);
    long theirs = bench.there.filled(2);
    try (TransferBatch batch = engine.batch(bench.here.pool, 1)) {
      TransferBench.run(batch.write(block, bench.peer, bench.there.address(theirs)));
      SegmentDescriptor next = of(now, started + 1);
      assertThrows(PeerRestartedException.class, () -> engine.refresh(bench.peer, next, deadline()));
      assertThrows(ClosedException.class, batch::submit);
      assertThrows(ClosedException.class,
          () -> batch.clear().write(block, bench.peer, bench.there.address(theirs)));
      assertThrows(PeerRestartedException.class, () -> engine.openSegment(now));
      Segment since = engine.openSegment(next);
      TransferBench.run(batch.clear().read(block, since, bench.there.address(theirs)));
    }
  }

  private static SegmentDescriptor of(SegmentDescriptor other, long startedMillis) {
    return new SegmentDescriptor(other.engine(), other.name(), other.metadata(), other.ranges(),
        Optional.of(new EngineInstance(startedMillis, 0)));
  }
}

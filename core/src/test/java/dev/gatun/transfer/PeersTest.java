package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.deadline;
import static dev.gatun.transfer.TransferBench.holds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineInstance;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.MemoryRange;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PeersTest {
  private final SteeredBackend library = new SteeredBackend();
  private TransferBench.Side mine;
  private TransferBench.Side one;
  private TransferBench.Side other;
  private Peers peers;

  @BeforeEach
  void open() {
    LoopbackControls.reset();
    mine = side("mine", library);
    one = side("one", new SteeredBackend());
    other = side("other", new SteeredBackend());
    peers = new Peers(mine.engine);
  }

  private static TransferBench.Side side(String name, SteeredBackend library) {
    return new TransferBench.Side(name, gate -> TransferEngine.open(library, EngineOptions.loopback(), gate));
  }

  @AfterEach
  void close() {
    mine.close();
    one.close();
    other.close();
  }

  @Test
  @DisplayName("a peer whose opening hangs holds up no other")
  void oneHangs() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    String silent = one.engine.segmentName();
    library.beforeOpen = descriptor -> {
      if (!descriptor.name().equals(silent)) return;
      hangs.countDown();
      try {
        assertTrue(ends.await(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    };
    CompletableFuture<Segment> opening = CompletableFuture.supplyAsync(
        () -> peers.open(Told.by(one.engine), deadline()),
        Thread.ofPlatform().daemon()::start);
    assertTrue(hangs.await(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
    CompletableFuture<Segment> second = CompletableFuture.supplyAsync(
        () -> peers.open(Told.by(other.engine), deadline()),
        Thread.ofPlatform().daemon()::start);
    Segment opened = second.get(TransferBench.WAIT_MAX.toSeconds() / 2, TimeUnit.SECONDS);
    assertEquals(other.engine.segmentName(), opened.name());
    assertSame(opened, peers.byName(other.engine.segmentName()));
    ends.countDown();
    assertEquals(silent, opening.get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS).name());
  }

  @Test
  @DisplayName("what a peer told earlier and is heard later does not take the place of what it told since")
  void outOfOrder() {
    List<Integer> opened = Collections.synchronizedList(new ArrayList<>());
    library.beforeOpen = descriptor -> opened.add(descriptor.ranges().size());
    SegmentDescriptor before = described(1);
    SegmentDescriptor since = described(2);
    peers.know(new Told(since, 20));
    assertEquals(since, peers.open(new Told(before, 10), deadline()).descriptor());
    peers.know(new Told(before, 19));
    assertEquals(since, peers.byName(one.engine.segmentName()).descriptor());
    assertEquals(List.of(2), opened);
    assertEquals(before, peers.open(new Told(before, 21), deadline()).descriptor());
  }

  @Test
  @DisplayName("an engine whose opening ends after that of the next one with its name is the past: it gets no segment, the next keeps its")
  void openedLate() {
    SegmentDescriptor name = one.engine.descriptor();
    long started = name.instance().orElseThrow().startedMillis();
    SegmentDescriptor past = of(name, new EngineInstance(started - 1, 0));
    long theirs = one.filled(2);
    AtomicReference<Segment> next = new AtomicReference<>();
    library.beforeOpen = descriptor -> {
      if (descriptor.equals(past)) next.set(mine.engine.openSegment(name));
    };
    assertThrows(PeerRestartedException.class, () -> mine.engine.openSegment(past));
    try (TransferBatch batch = mine.engine.batch(mine.pool, 1)) {
      TransferBench.run(batch.write(mine.filled(1), next.get(), one.address(theirs)));
    }
    assertTrue(holds(one.pool.page(theirs), 1));
  }

  @Test
  @DisplayName("an engine that was started anew under its name is another peer: nothing more goes out to the one before")
  void anotherInstance() {
    SegmentDescriptor name = one.engine.descriptor();
    long started = name.instance().orElseThrow().startedMillis();
    long block = mine.filled(1);
    long theirs = one.filled(2);
    Segment before = peers.open(new Told(name, 10), deadline());
    try (TransferBatch batch = mine.engine.batch(mine.pool, 1); TransferBatch made = mine.engine.batch(mine.pool, 1)) {
      made.write(block, before, one.address(theirs));
      LoopbackControls.arm("engine.copy", Action.HANG, 0, 0);
      batch.read(mine.filled(3), before, one.address(theirs)).submit();
      Told anew = new Told(of(name, new EngineInstance(started + 1, 0)), 20);
      assertEquals(EngineCode.NOT_ALLOWED,
          assertThrows(EngineException.class, () -> peers.open(anew, deadline())).code(), "something is under way");
      assertThrows(ClosedException.class, made::submit);
      assertThrows(EngineException.class, () -> peers.byName(name.name()), "nor does a message go to the one before");
      LoopbackControls.release("engine.copy");
      assertTrue(batch.await(deadline()));
      Segment since = peers.open(anew, deadline());
      assertNotSame(before, since);
      assertSame(since, peers.byName(name.name()));
      assertThrows(ClosedException.class, made::submit);
      assertThrows(ClosedException.class, () -> batch.clear().write(block, before, one.address(theirs)));
      assertTrue(holds(one.pool.page(theirs), 2), "nothing was written");
      TransferBench.run(batch.clear().write(block, since, one.address(theirs)));
      assertTrue(holds(one.pool.page(theirs), 1));
    }
  }

  private static SegmentDescriptor of(SegmentDescriptor other, EngineInstance instance) {
    return new SegmentDescriptor(other.engine(), other.name(), other.metadata(), other.ranges(), Optional.of(instance));
  }

  private SegmentDescriptor described(int ranges) {
    List<MemoryRange> some = new ArrayList<>();
    for (int i = 1; i <= ranges; i++)
      some.add(new MemoryRange(i * 8_192L, 4_096, MemoryRange.ANYWHERE));
    return new SegmentDescriptor(EngineOptions.LOOPBACK, one.engine.segmentName(), new byte[0], some,
        one.engine.descriptor().instance());
  }
}

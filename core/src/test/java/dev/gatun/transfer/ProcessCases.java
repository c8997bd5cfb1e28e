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

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.internal.backend.ChildJvm;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Engines of two processes. */
final class ProcessCases {
  private static final String COPY = "engine.copy";

  private ProcessCases() {}

  static List<TransferCase> all() {
    return List.of(always("pages and messages cross to another process and back", ProcessCases::cross),
        always("hand-overs by push and by pull between two processes", ProcessCases::handOver),
        always("a peer that is killed under a batch: typed outcomes, free blocks, a usable engine",
            ProcessCases::killed),
        always("a peer that is frozen: the deadline holds, and the blocks come back when it thaws",
            ProcessCases::frozen),
        always("a peer that is killed after a grant: the push ends, and nothing is left", ProcessCases::killedGranter),
        always("a sender that is killed: its target is taken back when it is declared dead",
            ProcessCases::killedSender),
        controlled("a push to a granter that is frozen stays in doubt until it goes on, however long the library waits",
            ProcessCases::frozenGranter));
  }

  /** A peer process and what it printed. */
  private record Peer(ChildJvm child, List<Long> addresses, SegmentDescriptor descriptor) implements AutoCloseable {
    static Peer start(TransferBench bench, int pages) {
      ChildJvm child = ChildJvm.start(TransferPeer.class, bench.here.engine.descriptor().engine(),
          Integer.toString(TransferBench.PAGE_BYTES), Integer.toString(pages));
      child.awaitLine("descriptor ");
      return new Peer(child, Stream.of(last(child, "addresses ").split(",", -1)).map(Long::valueOf).toList(),
          SegmentDescriptor.parse(Base64.getDecoder().decode(last(child, "descriptor "))));
    }

    /** {@return what the peer answers to a command, without its first word} */
    String ask(String command, String answer) {
      child.send(command);
      child.awaitLine(answer);
      return last(child, answer);
    }

    long address(int page) {
      return addresses.get(page);
    }

    private static String last(ChildJvm child, String prefix) {
      return child.output().lines().filter(line -> line.startsWith(prefix)).reduce((a, b) -> b).orElseThrow()
          .substring(prefix.length());
    }

    @Override
    public void close() {
      child.close();
    }
  }

  private static void cross(TransferBench bench) {
    int pages = 16;
    try (Peer peer = Peer.start(bench, pages); TransferBatch batch = bench.here.engine.batch(bench.here.pool, pages)) {
      Segment segment = bench.here.engine.openSegment(peer.descriptor);
      long[] mine = new long[pages];
      for (int i = 0; i < pages; i++) {
        mine[i] = bench.here.filled(0);
        batch.read(mine[i], segment, peer.address(i));
      }
      run(batch);
      for (int i = 0; i < pages; i++)
        assertTrue(holds(bench.here.pool.page(mine[i]), 1_000 + i), "page " + i);
      batch.clear();
      for (int i = 0; i < pages; i++) {
        TransferBench.fill(bench.here.pool.rewrite(mine[i]), 2_000 + i);
        batch.write(mine[i], segment, peer.address(i));
      }
      run(batch.message("written".getBytes(StandardCharsets.UTF_8)));
      assertEquals("written", peer.ask("message", "message "));
      assertEquals("true", peer.ask("check 2000", "check 2000 "));
    }
  }

  private static void handOver(TransferBench bench) {
    int pages = 16;
    try (Peer peer = Peer.start(bench, pages); Handovers handovers = Handovers.over(bench.here.engine)) {
      long[] mine = new long[pages];
      for (int i = 0; i < pages; i++)
        mine[i] = bench.here.filled(3_000 + i);
      Grant grant = Grant.parse(Base64.getDecoder().decode(peer.ask("grant", "grant ")));
      assertEquals(HandoverOutcome.COMMITTED,
          handovers.push(grant, TransferPeer.LAYOUT, bench.here.pool, mine, deadline()));
      assertEquals("COMMITTED", peer.ask("outcome", "outcome "));
      assertEquals("true", peer.ask("check 3000", "check 3000 "));
      for (long block : mine)
        TransferBench.fill(bench.here.pool.rewrite(block), 0);
      Grant offer = Grant.parse(Base64.getDecoder().decode(peer.ask("offer", "offer ")));
      assertEquals(HandoverOutcome.COMMITTED,
          handovers.pull(offer, TransferPeer.LAYOUT, bench.here.pool, mine, deadline()));
      for (int i = 0; i < pages; i++)
        assertTrue(holds(bench.here.pool.page(mine[i]), 3_000 + i), "page " + i);
    }
  }

  private static void killed(TransferBench bench) throws Exception {
    int pages = 32;
    int writes = 512;
    try (Peer peer = Peer.start(bench, pages); TransferBatch batch = bench.here.engine.batch(bench.here.pool, writes)) {
      Segment segment = bench.here.engine.openSegment(peer.descriptor);
      long mine = bench.here.filled(0);
      for (int i = 0; i < writes; i++)
        batch.write(mine, segment, peer.address(i % pages));
      // it stands still before it dies, so that the writes are under way when it does
      signal("-STOP", peer.child.pid());
      batch.submit();
      peer.child.close();
      assertTrue(batch.await(Deadline.after(Duration.ofSeconds(90))), "it ends");
      int failed = 0;
      for (int i = 0; i < writes; i++) {
        if (batch.outcome(i) == TransferOutcome.FAILED) failed++;
        else
          assertEquals(TransferOutcome.COMPLETED, batch.outcome(i));
      }
      // the kernel copies for NIXL, whether the peer moves or not
      boolean byTheKernel = bench.here.engine.descriptor().engine().equals(EngineOptions.NIXL);
      assertTrue(byTheKernel || failed == writes, failed + " failed");
      assertEquals(List.of(), bench.here.pool.pending());
      assertEquals(0, segment.inFlight());
      batch.clear().write(mine, segment, peer.address(0));
      assertTrue(fails(batch), "what comes after fails too");
      assertThrows(GatunException.class, () -> bench.here.engine.notify(segment, new byte[1], deadline()));
      // the engine is good for others
      run(batch.clear().write(mine, bench.peer, bench.there.address(bench.there.filled(0))));
    }
  }

  /** An engine that knows of the end refuses to send; one that does not finds out. */
  private static boolean fails(TransferBatch batch) {
    try {
      batch.submit();
    } catch (EngineException refused) {
      return true;
    }
    return batch.await(Deadline.after(Duration.ofSeconds(90))) && batch.outcome(0) == TransferOutcome.FAILED;
  }

  private static void frozen(TransferBench bench) throws Exception {
    int pages = 32;
    try (Peer peer = Peer.start(bench, pages); TransferBatch batch = bench.here.engine.batch(bench.here.pool, 1_024)) {
      Segment segment = bench.here.engine.openSegment(peer.descriptor);
      long mine = bench.here.filled(0);
      for (int i = 0; i < 1_024; i++)
        batch.read(mine, segment, peer.address(i % pages));
      signal("-STOP", peer.child.pid());
      try {
        batch.submit();
        long began = System.nanoTime();
        assertFalse(batch.await(Deadline.after(Duration.ofSeconds(1))));
        Duration waited = Duration.ofNanos(System.nanoTime() - began);
        assertTrue(waited.compareTo(Duration.ofSeconds(10)) < 0, () -> "it waited for " + waited);
        assertTrue(batch.inDoubt() > 0);
        assertEquals(1, bench.here.pool.quarantined());
        assertEquals(1, bench.here.engine.inDoubt());
        bench.here.engine.core().drain(Deadline.after(Duration.ofMillis(100)));
        assertEquals(1, bench.here.pool.quarantined(), "nothing has come back while it stands still");
      } finally {
        signal("-CONT", peer.child.pid());
      }
      Deadline thawed = Deadline.after(Duration.ofSeconds(90));
      while (bench.here.engine.inDoubt() > 0 && !thawed.reached())
        LockSupport.parkNanos(10_000_000);
      assertEquals(0, bench.here.engine.inDoubt());
      assertEquals(0, bench.here.pool.quarantined());
      assertEquals(0, segment.inFlight());
      assertThrows(IllegalStateException.class, () -> bench.here.pool.page(mine), "what came late is no page");
      run(batch.clear().read(mine, segment, peer.address(1)));
      assertTrue(holds(bench.here.pool.page(mine), 1_001));
    }
  }

  /** Sends a signal; a process that is to stop has, with every thread, when this returns. */
  private static void signal(String name, long pid) throws IOException, InterruptedException {
    assertEquals(0, new ProcessBuilder("kill", name, Long.toString(pid)).start().waitFor());
    if (name.equals("-STOP")) eventually("every thread has stopped", () -> isStopped(pid));
  }

  private static boolean isStopped(long pid) {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      return threads.allMatch(ProcessCases::isThreadStopped);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isThreadStopped(Path thread) {
    try {
      String stat = Files.readString(thread.resolve("stat"));
      return stat.startsWith(") T", stat.lastIndexOf(')'));
    } catch (IOException ended) {
      return true;
    }
  }

  private static void killedGranter(TransferBench bench) {
    int pages = 16;
    try (Peer peer = Peer.start(bench, pages); Handovers handovers = Handovers.over(bench.here.engine)) {
      long[] mine = new long[pages];
      for (int i = 0; i < pages; i++)
        mine[i] = bench.here.filled(i);
      Grant grant = Grant.parse(Base64.getDecoder().decode(peer.ask("grant", "grant ")));
      peer.child.close();
      eventually("it has ended", () -> !peer.child.isAlive());
      assertThrows(EngineException.class,
          () -> handovers.push(grant, TransferPeer.LAYOUT, bench.here.pool, mine, deadline()));
      assertEquals(List.of(), bench.here.pool.pending());
      assertEquals(0, bench.here.pool.quarantined());
    }
  }

  private static void killedSender(TransferBench bench) {
    try (Handovers there = Handovers.over(bench.there.engine); Peer peer = Peer.start(bench, 1)) {
      PushTarget live = begun(there, bench, peer);
      live.revoke();
      eventually("a sender that lives says that nothing moves", live::isOver);
      PushTarget target = begun(there, bench, peer);
      peer.child.close();
      eventually("it has ended", () -> !peer.child.isAlive());
      target.revoke();
      assertFalse(target.isOver());
      assertEquals(1, bench.there.pool.quarantined());
      target.declareSenderDead();
      assertEquals(0, bench.there.pool.quarantined());
      assertEquals(0, there.open());
    }
  }

  /** {@return a grant that a peer's process has accepted} */
  private static PushTarget begun(Handovers there, TransferBench bench, Peer peer) {
    PushTarget target = there.grantPush(bench.there.pool, new long[]{bench.there.filled(1)}, TransferPeer.LAYOUT,
        Duration.ofSeconds(60));
    peer.ask("begin " + Base64.getEncoder().encodeToString(target.grant().toBytes()), "begun " + target.grant().id());
    eventually("it has begun", () -> target.toString().contains(" by " + peer.descriptor.name()));
    return target;
  }

  /** What lies in a frozen granter's socket lands when it goes on: until then nobody may say that nothing moves. */
  private static void frozenGranter(TransferBench bench) throws Exception {
    try (Peer peer = Peer.start(bench, 1); Handovers handovers = Handovers.over(bench.here.engine)) {
      long[] mine = {bench.here.filled(3_000)};
      Grant grant = Grant.parse(Base64.getDecoder().decode(peer.ask("grant", "grant ")));
      LoopbackControls.arm(COPY, Action.HANG, 0, 0);
      CompletableFuture<HandoverOutcome> push = CompletableFuture.supplyAsync(() -> handovers.push(grant,
          TransferPeer.LAYOUT, bench.here.pool, mine, Deadline.after(Duration.ofSeconds(3))),
          Thread.ofPlatform().daemon()::start);
      LoopbackControls.awaitHanging(COPY, 1);
      LoopbackControls.arm("engine.progress", Action.FAIL, 100, 0);
      signal("-STOP", peer.child.pid());
      try {
        LoopbackControls.release(COPY);
        assertEquals(HandoverOutcome.IN_DOUBT, push.get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
        assertEquals(1, bench.here.engine.inDoubt());
      } finally {
        signal("-CONT", peer.child.pid());
      }
      eventually("it has ended", () -> bench.here.engine.inDoubt() == 0);
      // in the end all has landed, and the granter was told with it
      assertEquals("COMMITTED", peer.ask("outcome", "outcome "));
      assertEquals("true", peer.ask("check 3000", "check 3000 "));
    }
  }
}

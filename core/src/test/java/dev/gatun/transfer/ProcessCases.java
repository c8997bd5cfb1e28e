package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.deadline;
import static dev.gatun.transfer.TransferBench.eventually;
import static dev.gatun.transfer.TransferBench.holds;
import static dev.gatun.transfer.TransferBench.run;
import static dev.gatun.transfer.TransferCase.always;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.internal.backend.ChildJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Engines of two processes. */
final class ProcessCases {
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
            ProcessCases::killedSender));
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

  private static void killed(TransferBench bench) {
    int pages = 32;
    try (Peer peer = Peer.start(bench, pages); TransferBatch batch = bench.here.engine.batch(bench.here.pool, 512)) {
      Segment segment = bench.here.engine.openSegment(peer.descriptor);
      long mine = bench.here.filled(0);
      for (int i = 0; i < 512; i++)
        batch.write(mine, segment, peer.address(i % pages));
      batch.submit();
      peer.child.close();
      assertTrue(batch.await(Deadline.after(Duration.ofSeconds(90))), "it ends");
      for (int i = 0; i < 512; i++) {
        TransferOutcome outcome = batch.outcome(i);
        assertTrue(outcome == TransferOutcome.COMPLETED || outcome == TransferOutcome.FAILED, outcome.toString());
      }
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
        assertFalse(batch.await(Deadline.after(Duration.ofSeconds(1))));
        assertTrue(batch.inDoubt() > 0);
        assertEquals(1, bench.here.pool.quarantined());
        assertEquals(1, bench.here.engine.inDoubt());
      } finally {
        signal("-CONT", peer.child.pid());
      }
      Deadline thawed = Deadline.after(Duration.ofSeconds(90));
      while (bench.here.engine.inDoubt() > 0 && !thawed.reached())
        LockSupport.parkNanos(10_000_000);
      assertEquals(0, bench.here.engine.inDoubt());
      assertEquals(0, bench.here.pool.quarantined());
      assertEquals(0, segment.inFlight());
      run(batch.clear().read(mine, segment, peer.address(1)));
      assertTrue(holds(bench.here.pool.page(mine), 1_001));
    }
  }

  private static void signal(String name, long pid) throws IOException, InterruptedException {
    assertEquals(0, new ProcessBuilder("kill", name, Long.toString(pid)).start().waitFor());
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
    try (Handovers there = Handovers.over(bench.there.engine)) {
      long block = bench.there.filled(1);
      PushTarget target = there.grantPush(bench.there.pool, new long[]{block}, TransferPeer.LAYOUT,
          Duration.ofSeconds(60));
      try (Peer peer = Peer.start(bench, 1)) {
        assertTrue(target.accept(peer.descriptor.name()));
        peer.child.close();
        eventually("it has ended", () -> !peer.child.isAlive());
      }
      target.revoke();
      assertEquals(1, bench.there.pool.quarantined());
      target.declareSenderDead();
      assertEquals(0, bench.there.pool.quarantined());
      assertEquals(0, there.open());
    }
  }
}

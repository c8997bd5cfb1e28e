package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.deadline;
import static dev.gatun.transfer.TransferBench.eventually;
import static dev.gatun.transfer.TransferBench.holds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.InUseException;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.transfer.HandoverMessage.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Hand-overs whose messages are late, lost or doubled, and whose transfers fail: no page changes under its owner. */
class HandoverFaultTest {
  private static final String COPY = "engine.copy";
  private static final String LAYOUT = "sha256:fault";
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final Duration SOON = Duration.ofMillis(100);

  private SteeredBackend myLibrary;
  private SteeredBackend theirLibrary;
  private TransferBench.Side mine;
  private TransferBench.Side theirs;
  private Handovers here;
  private Handovers there;

  @BeforeEach
  void open() {
    LoopbackControls.reset();
    myLibrary = new SteeredBackend();
    theirLibrary = new SteeredBackend();
    mine = side("mine", myLibrary);
    theirs = side("theirs", theirLibrary);
    here = Handovers.over(mine.engine);
    there = Handovers.over(theirs.engine);
  }

  private static TransferBench.Side side(String name, SteeredBackend library) {
    return new TransferBench.Side(name, gate -> TransferEngine.open(library, EngineOptions.loopback(), gate));
  }

  @AfterEach
  void close() {
    LoopbackControls.reset();
    eventually("nothing is open", () -> here.open() + there.open() == 0);
    here.close();
    there.close();
    mine.close();
    theirs.close();
    LoopbackControls.reset();
  }

  private static long[] filled(TransferBench.Side side, int count, int seed) {
    long[] blocks = new long[count];
    for (int i = 0; i < count; i++)
      blocks[i] = side.filled(seed + i);
    return blocks;
  }

  private PushTarget granted(int blocks) {
    return there.grantPush(theirs.pool, filled(theirs, blocks, 1_000), LAYOUT, LEASE);
  }

  private CompletableFuture<HandoverOutcome> push(PushTarget target, long[] blocks, Deadline deadline) {
    return CompletableFuture
        .supplyAsync(() -> here.push(target.grant(), LAYOUT, mine.pool, blocks, deadline),
            Thread.ofPlatform().daemon()::start);
  }

  private static HandoverOutcome outcome(CompletableFuture<HandoverOutcome> running) throws Exception {
    return running.get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS);
  }

  private static Consumer<HandoverMessage> at(Kind kind, Runnable then) {
    return message -> {
      if (message.kind() == kind) then.run();
    };
  }

  private static Runnable waitingFor(CountDownLatch latch) {
    return () -> {
      try {
        assertTrue(latch.await(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    };
  }

  private static Runnable failing(int times, AtomicInteger count) {
    return () -> {
      if (count.incrementAndGet() <= times) throw new EngineException("notify", EngineCode.SOCKET, -102, "lost");
    };
  }

  @Test
  @DisplayName("a grant carried again while the end of the first attempt is on its way: no block comes back under the second")
  void twice() throws Exception {
    CountDownLatch answers = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    theirLibrary.beforeNotify = at(Kind.ACCEPTED, waitingFor(answers));
    myLibrary.beforeNotify = at(Kind.ABORTED, waitingFor(ends));
    PushTarget target = granted(2);
    long[] blocks = filled(mine, 2, 1);
    // it is accepted, but hears so too late
    assertEquals(HandoverOutcome.ABORTED, outcome(push(target, blocks, Deadline.after(SOON))));
    answers.countDown();
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    CompletableFuture<HandoverOutcome> second = push(target, blocks, deadline());
    eventually("the second moves or is refused", () -> second.isDone() || LoopbackControls.hanging(COPY) > 0);
    ends.countDown();
    eventually("the first has ended", target::isOver);
    assertEquals(0, LoopbackControls.hanging(COPY), "blocks came back under a push that runs");
    assertEquals(HandoverOutcome.REFUSED, outcome(second));
    assertEquals(0, theirs.pool.quarantined());
  }

  @Test
  @DisplayName("what a past attempt says has no effect on the one that was accepted")
  void pastAttempt() throws Exception {
    PushTarget target = granted(1);
    long[] blocks = filled(mine, 1, 1);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    CompletableFuture<HandoverOutcome> push = push(target, blocks, deadline());
    LoopbackControls.awaitHanging(COPY, 1);
    Segment granter = mine.engine.openSegment(theirs.engine.descriptor());
    for (Kind kind : List.of(Kind.COMMIT, Kind.ABORTED, Kind.LOST)) {
      mine.engine.notify(granter, HandoverMessage
          .of(kind, target.grant().id(), UUID.randomUUID(), target.grant().epoch()).encode(), deadline());
    }
    // messages of one sender are looked at in order
    mine.engine.notify(granter, new byte[]{1}, deadline());
    assertNotNull(theirs.engine.takeNotification(deadline()));
    assertEquals(HandoverOutcome.PENDING, target.outcome());
    assertFalse(target.isOver());
    LoopbackControls.release(COPY);
    assertEquals(HandoverOutcome.COMMITTED, outcome(push));
    assertTrue(holds(theirs.pool.page(target.blocks[0]), 1));
  }

  @Test
  @DisplayName("memory of an offer that was withdrawn or has expired stays registered while a late reader may read it")
  void lateReader() throws Exception {
    for (boolean expires : new boolean[]{false, true}) {
      PullSource source = there.offer(theirs.pool, filled(theirs, 2, 7), LAYOUT,
          expires ? Duration.ofSeconds(1) : LEASE);
      LoopbackControls.arm(COPY, Action.HANG, 0, 0);
      long[] blocks = filled(mine, 2, 1);
      CompletableFuture<HandoverOutcome> pull = CompletableFuture.supplyAsync(
          () -> here.pull(source.grant(), LAYOUT, mine.pool, blocks, deadline()), Thread.ofPlatform().daemon()::start);
      eventually("it reads", () -> LoopbackControls.hanging(COPY) > 0);
      if (!expires) source.withdraw();
      assertEquals(HandoverOutcome.REVOKED, source.await(deadline()));
      assertFalse(source.isOver());
      assertEquals(List.of(), theirs.pool.pending(), "the blocks are free at once");
      assertThrows(InUseException.class,
          () -> theirs.pool.slab().registrations().getFirst().close(Deadline.after(SOON)));
      LoopbackControls.release(COPY);
      assertEquals(HandoverOutcome.SOURCE_CHANGED, outcome(pull));
      eventually("the reader has said so", source::isOver);
    }
    theirs.engine.unregister(theirs.pool.slab());
    theirs.engine.register(theirs.pool.slab());
  }

  @Test
  @DisplayName("a reader that is declared dead lets the memory go, and closing the engine ends one that is not")
  void deadReader() {
    PullSource source = there.offer(theirs.pool, filled(theirs, 1, 7), LAYOUT, LEASE);
    assertTrue(source.accept(new Carry("127.0.0.1:1", UUID.randomUUID())));
    source.withdraw();
    assertFalse(source.isOver());
    source.declareReaderDead();
    assertTrue(source.isOver());
    theirs.engine.unregister(theirs.pool.slab());
    theirs.engine.register(theirs.pool.slab());

    PullSource left = there.offer(theirs.pool, filled(theirs, 1, 8), LAYOUT, LEASE);
    assertTrue(left.accept(new Carry("127.0.0.1:1", UUID.randomUUID())));
    there.close();
    assertFalse(left.isOver());
    assertEquals(List.of(), theirs.engine.close(deadline()));
    assertTrue(left.isOver());
  }

  @Test
  @DisplayName("K6.10 a sender that is frozen does not keep the engine open: closing it ends the target")
  void silentSender() {
    PushTarget target = granted(2);
    assertTrue(target.accept(new Carry("127.0.0.1:1", UUID.randomUUID())));
    there.close();
    assertFalse(target.isOver());
    assertEquals(2, theirs.pool.quarantined());
    assertThrows(InUseException.class,
        () -> theirs.pool.slab().registrations().getFirst().close(Deadline.after(SOON)));
    assertEquals(List.of(), theirs.engine.close(deadline()));
    assertTrue(target.isOver());
    assertEquals(0, theirs.pool.quarantined());
  }

  @Test
  @DisplayName("the grant of a peer that is dead is watched at a walk, and one that nobody can say more about not at all")
  void deadPeersGrant() {
    Carry dead = new Carry("127.0.0.1:1", UUID.randomUUID());
    AtomicInteger rounds = new AtomicInteger();
    theirLibrary.beforeDrain = rounds::incrementAndGet;
    PushTarget target = granted(1);
    assertTrue(target.accept(dead));
    target.revoke();
    int first = rounds.get();
    long began = System.nanoTime();
    eventually("it is watched", () -> rounds.get() >= first + 40);
    Duration took = Duration.ofNanos(System.nanoTime() - began);
    assertTrue(took.compareTo(Duration.ofMillis(100)) > 0, () -> "40 rounds took " + took);
    target.lost(dead);
    there.close();
    eventually("the watch has ended", () -> !theirs.engine.core().handedOver.get());
    assertFalse(target.isOver());
    target.declareSenderDead();
    assertEquals(0, theirs.pool.quarantined());
  }

  @Test
  @DisplayName("what is to be done once nothing moves is done at once, and after a failure of unknown extent with the engine")
  void still() throws Exception {
    AtomicInteger done = new AtomicInteger();
    assertTrue(here.whenStill(done::incrementAndGet));
    assertEquals(1, done.get());
    myLibrary.claims = SteeredBackend::unsettled;
    PushTarget target = granted(1);
    LoopbackControls.arm(COPY, Action.FAIL, 1, 1);
    assertEquals(HandoverOutcome.ABORTED, outcome(push(target, filled(mine, 1, 1), deadline())));
    assertEquals(HandoverOutcome.ABORTED, target.await(deadline()));
    assertFalse(here.whenStill(done::incrementAndGet));
    here.close();
    assertEquals(1, done.get());
    assertEquals(List.of(), mine.engine.close(deadline()));
    assertEquals(2, done.get());
    assertTrue(here.whenStill(done::incrementAndGet));
    assertEquals(3, done.get());
    target.declareSenderDead();
  }

  @Test
  @DisplayName("a failed push whose bytes may still land keeps the blocks until its sender is declared dead")
  void unsettled() throws Exception {
    myLibrary.claims = SteeredBackend::unsettled;
    PushTarget target = granted(2);
    LoopbackControls.arm(COPY, Action.FAIL, 1, 1);
    assertEquals(HandoverOutcome.ABORTED, outcome(push(target, filled(mine, 2, 1), deadline())));
    assertEquals(HandoverOutcome.ABORTED, target.await(deadline()));
    assertFalse(target.isOver());
    assertEquals(2, theirs.pool.quarantined());
    assertEquals(List.of(), mine.pool.pending(), "the sender's own blocks are free");
    target.declareSenderDead();
    assertEquals(0, theirs.pool.quarantined());
  }

  @Test
  @DisplayName("a sender that is asked about a failed attempt never says that nothing of it moves")
  void unsettledRevoked() throws Exception {
    myLibrary.claims = SteeredBackend::unsettled;
    List<Kind> said = Collections.synchronizedList(new ArrayList<>());
    AtomicInteger lost = new AtomicInteger();
    myLibrary.beforeNotify = message -> {
      said.add(message.kind());
      if (message.kind() == Kind.LOST) failing(Outbox.TRIES_MAX, lost).run();
    };
    PushTarget target = granted(1);
    LoopbackControls.arm(COPY, Action.FAIL, 1, 1);
    assertEquals(HandoverOutcome.ABORTED, outcome(push(target, filled(mine, 1, 1), deadline())));
    eventually("nobody tries to tell it any more", () -> lost.get() == Outbox.TRIES_MAX);
    target.revoke();
    eventually("it is said in answer", () -> lost.get() > Outbox.TRIES_MAX);
    assertFalse(said.contains(Kind.ABORTED), said.toString());
    assertFalse(target.isOver());
    target.declareSenderDead();
  }

  @Test
  @DisplayName("a push in doubt that fails in the end says so, and not that nothing moves")
  void unsettledInDoubt() throws Exception {
    myLibrary.claims = SteeredBackend::unsettled;
    PushTarget target = granted(1);
    LoopbackControls.arm(COPY, Action.FAIL, 1, 1);
    LoopbackControls.arm("engine.status", Action.FAIL, 202, 0);
    assertEquals(HandoverOutcome.IN_DOUBT, outcome(push(target, filled(mine, 1, 1), deadline())));
    assertEquals(HandoverOutcome.PENDING, target.outcome());
    LoopbackControls.release("engine.status");
    assertEquals(HandoverOutcome.ABORTED, target.await(deadline()));
    assertFalse(target.isOver());
    assertEquals(1, theirs.pool.quarantined());
    target.declareSenderDead();
  }

  @Test
  @DisplayName("two pushes of more requests than the engine takes at once wait for room")
  void room() throws Exception {
    myLibrary.claims = SteeredBackend.atMost(4);
    PushTarget first = granted(6);
    PushTarget second = granted(6);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    CompletableFuture<HandoverOutcome> one = push(first, filled(mine, 6, 1), deadline());
    eventually("the first fills the engine", () -> LoopbackControls.hanging(COPY) > 0);
    CompletableFuture<HandoverOutcome> two = push(second, filled(mine, 6, 11), deadline());
    eventually("the second was accepted and waits",
        () -> two.isDone() || second.toString().contains(" by " + mine.engine.segmentName()));
    LoopbackControls.release(COPY);
    assertEquals(HandoverOutcome.COMMITTED, outcome(one));
    assertEquals(HandoverOutcome.COMMITTED, outcome(two));
    for (int i = 0; i < 6; i++)
      assertTrue(holds(theirs.pool.page(second.blocks[i]), 11 + i), "block " + i);
  }

  @Test
  @DisplayName("a pull of more blocks than the engine takes at once arrives whole")
  void longPull() throws Exception {
    myLibrary.claims = SteeredBackend.atMost(4);
    PullSource source = there.offer(theirs.pool, filled(theirs, 10, 70), LAYOUT, LEASE);
    long[] blocks = filled(mine, 10, 0);
    assertEquals(HandoverOutcome.COMMITTED, here.pull(source.grant(), LAYOUT, mine.pool, blocks, deadline()));
    for (int i = 0; i < 10; i++)
      assertTrue(holds(mine.pool.page(blocks[i]), 70 + i), "block " + i);
  }

  @Test
  @DisplayName("a push that was taken back under its last pages does not say COMMITTED")
  void revokedAtTheEnd() throws Exception {
    PushTarget target = granted(1);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    CompletableFuture<HandoverOutcome> push = push(target, filled(mine, 1, 1), deadline());
    LoopbackControls.awaitHanging(COPY, 1);
    target.revoke();
    LoopbackControls.release(COPY);
    assertEquals(HandoverOutcome.REVOKED, outcome(push));
    eventually("the target is over", target::isOver);
    assertEquals(HandoverOutcome.REVOKED, target.outcome());
  }

  @Test
  @DisplayName("a revoke that is lost again and again is said again, until it is answered")
  void lostRevoke() throws Exception {
    AtomicInteger revokes = new AtomicInteger();
    theirLibrary.beforeNotify = at(Kind.REVOKE, failing(Outbox.TRIES_MAX, revokes));
    PushTarget target = granted(1);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    CompletableFuture<HandoverOutcome> push = push(target, filled(mine, 1, 1), Deadline.after(SOON.multipliedBy(5)));
    LoopbackControls.awaitHanging(COPY, 1);
    target.revoke();
    assertEquals(HandoverOutcome.IN_DOUBT, outcome(push));
    eventually("the first try is given up", () -> revokes.get() >= Outbox.TRIES_MAX);
    myLibrary.beforeNotify = at(Kind.ABORTED, failing(Outbox.TRIES_MAX, new AtomicInteger()));
    LoopbackControls.release(COPY);
    eventually("the target is over", target::isOver);
    assertEquals(0, theirs.pool.quarantined());
  }

  @Test
  @DisplayName("an end that is not delivered at first is told again")
  void lostEnd() throws Exception {
    myLibrary.beforeNotify = at(Kind.ABORTED, failing(1, new AtomicInteger()));
    PushTarget target = granted(1);
    LoopbackControls.arm(COPY, Action.FAIL, 1, 1);
    assertEquals(HandoverOutcome.ABORTED, outcome(push(target, filled(mine, 1, 1), deadline())));
    assertEquals(HandoverOutcome.ABORTED, target.await(deadline()));
    eventually("the target is over", target::isOver);
  }

  @Test
  @DisplayName("an engine that throws something unexpected once does not end the watch over leases")
  void watchGoesOn() {
    AtomicInteger drains = new AtomicInteger();
    theirLibrary.beforeDrain = () -> {
      if (drains.getAndIncrement() == 0) throw new IllegalStateException("unexpected");
    };
    eventually("it was thrown", () -> drains.get() > 0);
    PushTarget target = there.grantPush(theirs.pool, filled(theirs, 1, 1), LAYOUT, SOON);
    eventually("the grant has expired", () -> target.outcome() == HandoverOutcome.REVOKED);
  }
}

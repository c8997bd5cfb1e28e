package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.deadline;
import static dev.gatun.transfer.TransferBench.eventually;
import static dev.gatun.transfer.TransferBench.holds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EngineInstance;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.testing.Thrown;
import dev.gatun.transfer.HandoverMessage.Kind;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Attempts that are named before they are granted: they begin without asking, and never late or twice. */
class AttemptTest {
  private static final String COPY = "engine.copy";
  private static final String LAYOUT = "sha256:attempt";
  private static final Duration LEASE = Duration.ofSeconds(60);

  private final Queue<Kind> said = new ConcurrentLinkedQueue<>();
  private SteeredBackend library;
  private TransferBench.Side mine;
  private TransferBench.Side theirs;
  private Handovers here;
  private Handovers there;
  private AttemptLine line;

  @BeforeEach
  void open() {
    LoopbackControls.reset();
    library = new SteeredBackend();
    library.beforeNotify = message -> said.add(message.kind());
    mine = side("mine", library);
    theirs = side("theirs", new SteeredBackend());
    here = Handovers.over(mine.engine);
    there = Handovers.over(theirs.engine);
    line = here.openLine();
  }

  private static TransferBench.Side side(String name, SteeredBackend library) {
    return new TransferBench.Side(name, gate -> TransferEngine.open(library, EngineOptions.loopback(), gate));
  }

  @AfterEach
  void close() {
    LoopbackControls.reset();
    line.close();
    eventually("nothing is open", () -> here.open() + there.open() == 0);
    here.close();
    there.close();
    mine.close();
    theirs.close();
  }

  private PushTarget granted(Attempt attempt) {
    return there.grantPush(theirs.pool, new long[]{theirs.filled(1_000), theirs.filled(1_001)}, LAYOUT, LEASE, attempt);
  }

  private HandoverOutcome push(PushTarget target, int seed) {
    long[] blocks = {mine.filled(seed), mine.filled(seed + 1)};
    return here.push(Grant.parse(target.grant().toBytes()), LAYOUT, mine.pool, blocks, deadline());
  }

  /** The granter hears of this side, as it does at the first hand-over between two. */
  private void introduce() {
    assertEquals(HandoverOutcome.COMMITTED, push(granted(line.first()), 1));
    assertEquals(List.of(Kind.ACCEPT), List.copyOf(said));
    said.clear();
  }

  @Test
  @DisplayName("a push that was named begins without asking, once the granter has heard of the peer")
  void push() {
    introduce();
    Attempt attempt = line.first();
    for (int round = 0; round < 3; round++) {
      PushTarget target = granted(attempt);
      assertEquals(HandoverOutcome.COMMITTED, push(target, 10 * round));
      assertEquals(HandoverOutcome.COMMITTED, target.await(deadline()));
      assertTrue(holds(theirs.pool.page(target.blocks[1]), 10 * round + 1));
      attempt = attempt.next();
    }
    assertEquals(List.of(), List.copyOf(said));
  }

  @Test
  @DisplayName("so does a pull")
  void pull() {
    introduce();
    PullSource source = there.offer(theirs.pool, new long[]{theirs.filled(7)}, LAYOUT, LEASE, line.first());
    long[] blocks = {mine.filled(1)};
    assertEquals(HandoverOutcome.COMMITTED, here.pull(source.grant(), LAYOUT, mine.pool, blocks, deadline()));
    assertTrue(holds(mine.pool.page(blocks[0]), 7));
    assertEquals(List.of(Kind.COMMIT), List.copyOf(said));
  }

  private HandoverOutcome pull(PullSource source, Confirmation confirmation) {
    return here.pull(source.grant(), LAYOUT, mine.pool, new long[]{mine.filled(1)}, deadline(), confirmation);
  }

  @Test
  @DisplayName("a pull is confirmed without a message where there is a shorter way, and by one where that says nothing")
  void confirmed() {
    introduce();
    Attempt attempt = line.first();
    WeightEpoch epoch = theirs.gate.epoch();
    PullSource source = offered(attempt);
    assertEquals(HandoverOutcome.COMMITTED, pull(source, () -> there.confirm(source.grant().id(), epoch, attempt)));
    assertEquals(HandoverOutcome.COMMITTED, source.outcome());
    assertTrue(source.isOver());
    assertEquals(List.of(), List.copyOf(said));
    assertEquals(HandoverOutcome.COMMITTED, pull(offered(attempt.next()), () -> null));
    assertEquals(List.of(Kind.COMMIT), List.copyOf(said));
  }

  @Test
  @DisplayName("what was withdrawn, is of another attempt or another epoch, or was confirmed before is not confirmed")
  void notConfirmed() {
    introduce();
    Attempt attempt = line.first();
    WeightEpoch epoch = theirs.gate.epoch();
    PullSource source = offered(attempt);
    UUID grant = source.grant().id();
    assertFalse(there.confirm(grant, epoch, attempt.next()));
    assertFalse(there.confirm(UUID.randomUUID(), epoch, attempt));
    assertEquals(HandoverOutcome.PENDING, source.outcome());
    assertEquals(HandoverOutcome.SOURCE_CHANGED, pull(source, () -> {
      source.withdraw();
      return there.confirm(grant, epoch, attempt);
    }));
    PullSource other = offered(attempt.next());
    assertEquals(HandoverOutcome.SOURCE_CHANGED,
        pull(other, () -> there.confirm(other.grant().id(), new WeightEpoch("run", 99), attempt.next())));
    PullSource twice = offered(attempt.next().next());
    assertTrue(there.confirm(twice.grant().id(), epoch, attempt.next().next()));
    assertFalse(there.confirm(twice.grant().id(), epoch, attempt.next().next()));
  }

  private PullSource offered(Attempt attempt) {
    return there.offer(theirs.pool, new long[]{theirs.filled(7)}, LAYOUT, LEASE, attempt);
  }

  @Test
  @DisplayName("one that was taken back before it began never begins; until the peer has said so its room is in quarantine")
  void takenBack() throws Exception {
    introduce();
    CountDownLatch answer = new CountDownLatch(1);
    library.beforeNotify = message -> await(answer);
    PushTarget target = granted(line.first());
    target.revoke();
    assertFalse(target.isOver());
    assertEquals(2, theirs.pool.quarantined());
    answer.countDown();
    eventually("it is over", target::isOver);
    assertEquals(0, theirs.pool.quarantined());
    assertEquals(HandoverOutcome.REVOKED, push(target, 1));
    assertEquals(HandoverOutcome.COMMITTED, push(granted(line.first().next()), 1));
  }

  @Test
  @DisplayName("one that is taken back while it moves keeps its room in quarantine until it has ended")
  void takenBackUnderWay() throws Exception {
    introduce();
    PushTarget target = granted(line.first());
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    CompletableFuture<HandoverOutcome> push = CompletableFuture.supplyAsync(() -> push(target, 1),
        Thread.ofPlatform().daemon()::start);
    eventually("it moves", () -> LoopbackControls.hanging(COPY) > 0);
    target.revoke();
    assertEquals(2, theirs.pool.quarantined());
    assertFalse(target.isOver());
    LoopbackControls.release(COPY);
    assertEquals(HandoverOutcome.REVOKED, push.get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
    eventually("it is over", () -> theirs.pool.quarantined() == 0);
  }

  @Test
  @DisplayName("a push that has waited asks all the same: the granter may have ended, and another have its name and memory")
  void waited() {
    introduce();
    PushTarget target = granted(line.first());
    Grant waited = Grant.parse(target.grant().toBytes(), System.nanoTime() - Duration.ofMinutes(1).toNanos());
    long[] blocks = {mine.filled(1), mine.filled(2)};
    assertEquals(HandoverOutcome.COMMITTED, here.push(waited, LAYOUT, mine.pool, blocks, deadline()));
    assertEquals(List.of(Kind.ACCEPT), List.copyOf(said));
    PushTarget gone = granted(line.first().next());
    Grant old = Grant.parse(gone.grant().toBytes(), System.nanoTime() - Duration.ofMinutes(1).toNanos());
    gone.declareSenderDead();
    assertEquals(HandoverOutcome.REFUSED, here.push(old, LAYOUT, mine.pool, blocks, deadline()));
  }

  @Test
  @DisplayName("it begins once: a grant that is carried again changes no page")
  void twice() {
    introduce();
    PushTarget target = granted(line.first());
    assertEquals(HandoverOutcome.COMMITTED, push(target, 1));
    theirs.pool.rewrite(target.blocks[0]);
    theirs.pool.page(target.blocks[0]).fill((byte) 9);
    assertEquals(HandoverOutcome.REVOKED, push(target, 5));
    assertEquals(9, theirs.pool.page(target.blocks[0]).get(ValueLayout.JAVA_BYTE, 0));
  }

  @Test
  @DisplayName("none begins after a later one of its line, nor after the line was closed, and the granter hears so")
  void late() {
    introduce();
    PushTarget first = granted(line.first());
    PushTarget second = granted(line.first().next());
    PushTarget third = granted(line.first().next().next());
    assertEquals(HandoverOutcome.COMMITTED, push(second, 1));
    assertEquals(HandoverOutcome.REVOKED, push(first, 1));
    line.close();
    assertEquals(HandoverOutcome.REVOKED, push(third, 1));
    for (PushTarget late : List.of(first, third))
      assertEquals(HandoverOutcome.ABORTED, late.await(deadline()));
  }

  @Test
  @DisplayName("one that failed and may still land is not said to be still when its grant is carried again")
  void lost() {
    introduce();
    library.claims = SteeredBackend::unsettled;
    PushTarget target = granted(line.first());
    LoopbackControls.arm(COPY, Action.FAIL, 1, 1);
    assertEquals(HandoverOutcome.ABORTED, push(target, 1));
    assertEquals(HandoverOutcome.REVOKED, push(target, 1));
    eventually("both have told", () -> Collections.frequency(said, Kind.LOST) == 2);
    assertFalse(said.contains(Kind.ABORTED));
    assertEquals(2, theirs.pool.quarantined());
    target.declareSenderDead();
  }

  @Test
  @DisplayName("nor by hand-overs that were opened anew over the same engine")
  void lostAndOpenedAnew() {
    introduce();
    library.claims = SteeredBackend::unsettled;
    library.beforeNotify = message -> {
      throw new IllegalStateException(message.kind() + " does not get through");
    };
    PushTarget target = granted(line.first());
    LoopbackControls.arm(COPY, Action.FAIL, 1, 1);
    assertEquals(HandoverOutcome.ABORTED, push(target, 1));
    here.close();
    eventually("others can be opened", this::openedAnew);
    assertFalse(here.whenStill(() -> {}));
    library.beforeNotify = message -> said.add(message.kind());
    target.revoke();
    eventually("they have answered", () -> !said.isEmpty());
    assertEquals(List.of(Kind.LOST), List.copyOf(said));
    assertEquals(2, theirs.pool.quarantined());
    target.declareSenderDead();
  }

  private boolean openedAnew() {
    try {
      here = Handovers.over(mine.engine);
      return true;
    } catch (IllegalStateException open) {
      return false;
    }
  }

  @Test
  @DisplayName("a push that comes to begin after its hand-overs were closed begins no more: nobody would hear that it is taken back")
  void closedBeforeItBegan() throws Exception {
    introduce();
    here.close();
    eventually("others can be opened", this::openedAnew); // and have yet to open the peer, which knows this side
    Handovers closed = here;
    AttemptLine theirLine = closed.openLine();
    PushTarget target = granted(theirLine.first());
    CountDownLatch goesOn = new CountDownLatch(1);
    CountDownLatch opens = new CountDownLatch(1);
    library.beforeOpen = descriptor -> {
      opens.countDown();
      await(goesOn);
    };
    // fresh however long this takes
    Grant fresh = Grant.parse(target.grant().toBytes(), System.nanoTime() + TransferBench.WAIT_MAX.toNanos());
    long[] blocks = {mine.filled(1), mine.filled(2)};
    CompletableFuture<HandoverOutcome> push = CompletableFuture.supplyAsync(
        () -> closed.push(fresh, LAYOUT, mine.pool, blocks, deadline()), Thread.ofPlatform().daemon()::start);
    await(opens);
    here.close();
    eventually("others can be opened", this::openedAnew);
    library.beforeOpen = descriptor -> {};
    target.revoke();
    eventually("its room is free", target::isOver);
    theirs.pool.rewrite(target.blocks[0]).fill((byte) 9);
    goesOn.countDown();
    ExecutionException refused = assertThrows(ExecutionException.class,
        () -> push.get(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
    assertInstanceOf(ClosedException.class, refused.getCause());
    assertEquals(9, theirs.pool.page(target.blocks[0]).get(ValueLayout.JAVA_BYTE, 0));
    theirLine.close();
  }

  @Test
  @DisplayName("who the granter has not heard of must ask, and so must one that was started anew under its name")
  void strangers() {
    assertEquals(HandoverOutcome.COMMITTED, push(granted(line.first()), 1));
    Attempt attempt = line.first();
    Attempt earlier = new Attempt(attempt.segment(),
        new EngineInstance(attempt.instance().startedMillis() - 1, 0), attempt.line(),
        attempt.number());
    assertEquals(HandoverOutcome.COMMITTED, push(granted(earlier), 3));
    assertEquals(List.of(Kind.ACCEPT, Kind.ACCEPT), List.copyOf(said));
  }

  @Test
  @DisplayName("attempts are counted from 1")
  void number() {
    Attempt first = line.first();
    assertEquals(1, first.number());
    assertEquals("number must be positive: 0", Thrown.message(IllegalArgumentException.class,
        () -> new Attempt(first.segment(), first.instance(), first.line(), 0)));
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(TransferBench.WAIT_MAX.toSeconds(), TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}

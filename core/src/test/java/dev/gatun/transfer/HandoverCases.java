package dev.gatun.transfer;

import static dev.gatun.transfer.TransferBench.PAGE_BYTES;
import static dev.gatun.transfer.TransferBench.deadline;
import static dev.gatun.transfer.TransferBench.eventually;
import static dev.gatun.transfer.TransferBench.holds;
import static dev.gatun.transfer.TransferCase.always;
import static dev.gatun.transfer.TransferCase.controlled;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.InUseException;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.internal.backend.LoopbackControls.Action;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.testing.Thrown;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Pages change hands whole, of one epoch, or not at all. */
final class HandoverCases {
  private static final String COPY = "engine.copy";
  private static final String LAYOUT = "sha256:0123";
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final Duration SOON = Duration.ofMillis(100);

  private HandoverCases() {}

  static List<TransferCase> all() {
    return List.of(always("a push arrives whole, and both sides know it", hand(HandoverCases::push)),
        always("a pull arrives whole, and the source is free afterwards", hand(HandoverCases::pull)),
        always("a grant survives its bytes, and no others", hand(HandoverCases::bytes)),
        always("K6.13 another layout, page size, direction or number of blocks is refused with both values",
            hand(HandoverCases::mismatch)),
        always("another epoch is refused by either side", hand(HandoverCases::epochs)),
        always("K7.07 what was taken back, or has expired, is not handed over", hand(HandoverCases::expired)),
        always("K7.05 an offer whose peer stays silent ends with its lease; a late reader is refused",
            hand(HandoverCases::silent)),
        always("memory that is granted is not unregistered", hand(HandoverCases::unregister)),
        controlled("a push that is held over a refit changes no page that was leased anew",
            hand(HandoverCases::heldPush)),
        controlled("a slow pull of a source that was used otherwise ends in SOURCE_CHANGED",
            hand(HandoverCases::slowPull)),
        controlled("K7.04 a failed transfer ends the hand-over on both sides, and the blocks come back",
            hand(HandoverCases::failure)),
        controlled("K7.06 a pull that is given up tells the source at once", hand(HandoverCases::givenUp)),
        controlled("a sender that is declared dead ends the quarantine", hand(HandoverCases::dead)),
        controlled("a push in doubt tells its target when nothing moves any more", hand(HandoverCases::inDoubt)),
        controlled("an engine that is destroyed ends what it had granted", hand(HandoverCases::destroyed)));
  }

  /** Both sides' hand-overs. */
  private record Hands(TransferBench bench, Handovers here, Handovers there) {
    TransferBench.Side mine() {
      return bench.here;
    }

    TransferBench.Side theirs() {
      return bench.there;
    }
  }

  private interface Body {
    void run(Hands hands) throws Exception;
  }

  private static TransferCase.Body hand(Body body) {
    return bench -> {
      try (Handovers here = Handovers.over(bench.here.engine); Handovers there = Handovers.over(bench.there.engine)) {
        body.run(new Hands(bench, here, there));
        LoopbackRelease.ifControlled(bench.subject, COPY);
        eventually("nothing is open", () -> here.open() + there.open() == 0);
      }
    };
  }

  private static long[] filled(TransferBench.Side side, int count, int seed) {
    long[] blocks = new long[count];
    for (int i = 0; i < count; i++)
      blocks[i] = side.filled(seed + i);
    return blocks;
  }

  private static void expect(TransferBench.Side side, long[] blocks, int seed) {
    for (int i = 0; i < blocks.length; i++)
      assertTrue(holds(side.pool.page(blocks[i]), seed + i), "block " + i);
  }

  private static void push(Hands hands) {
    long[] mine = filled(hands.mine(), 20, 100);
    long[] theirs = filled(hands.theirs(), 20, 0);
    PushTarget target = hands.there.grantPush(hands.theirs().pool, theirs, LAYOUT, LEASE);
    assertThrows(IllegalStateException.class, () -> hands.theirs().pool.page(theirs[0]));
    Grant grant = Grant.parse(target.grant().toBytes());
    assertEquals(HandoverOutcome.COMMITTED, hands.here.push(grant, LAYOUT, hands.mine().pool, mine, deadline()));
    assertEquals(HandoverOutcome.COMMITTED, target.await(deadline()));
    assertTrue(target.isOver());
    expect(hands.theirs(), theirs, 100);
    expect(hands.mine(), mine, 100);
    // the grant is used up
    assertEquals(HandoverOutcome.REFUSED, hands.here.push(grant, LAYOUT, hands.mine().pool, mine, deadline()));
  }

  private static void pull(Hands hands) {
    long[] mine = filled(hands.mine(), 20, 0);
    long[] theirs = filled(hands.theirs(), 20, 200);
    PullSource source = hands.there.offer(hands.theirs().pool, theirs, LAYOUT, LEASE);
    assertThrows(IllegalStateException.class, () -> hands.theirs().pool.rewrite(theirs[0]));
    int free = hands.theirs().pool.available();
    for (long block : theirs)
      hands.theirs().release(block);
    assertEquals(free, hands.theirs().pool.available(), "offered blocks do not become free");
    Grant grant = Grant.parse(source.grant().toBytes());
    assertEquals(HandoverOutcome.COMMITTED, hands.here.pull(grant, LAYOUT, hands.mine().pool, mine, deadline()));
    expect(hands.mine(), mine, 200);
    assertEquals(HandoverOutcome.COMMITTED, source.await(deadline()));
    assertEquals(free + 20, hands.theirs().pool.available());
  }

  private static void bytes(Hands hands) {
    PushTarget target = hands.there.grantPush(hands.theirs().pool, filled(hands.theirs(), 3, 0), LAYOUT, LEASE);
    byte[] bytes = target.grant().toBytes();
    Grant same = Grant.parse(bytes);
    assertEquals(target.grant().id(), same.id());
    assertEquals(3, same.blocks());
    assertEquals(target.grant().address(2), same.address(2));
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThrows(IllegalArgumentException.class, () -> Grant.parse(cut), "of " + length + " bytes");
    }
    assertThrows(IllegalArgumentException.class, () -> Grant.parse(Arrays.copyOf(bytes, bytes.length + 1)));
    target.revoke();
    assertTrue(target.isOver(), "nobody had begun");
  }

  private static void mismatch(Hands hands) {
    long[] theirs = filled(hands.theirs(), 3, 0);
    Grant grant = hands.there.grantPush(hands.theirs().pool, theirs, LAYOUT, LEASE).grant();
    long[] two = filled(hands.mine(), 2, 0);
    long[] three = filled(hands.mine(), 3, 0);
    BlockPool pool = hands.mine().pool;
    assertEquals("number of blocks must be that of the grant, 3: 2",
        Thrown.message(IllegalArgumentException.class, () -> hands.here.push(grant, LAYOUT, pool, two, deadline())));
    assertEquals("layout must be that of the grant, " + LAYOUT + ": other",
        Thrown.message(IllegalArgumentException.class, () -> hands.here.push(grant, "other", pool, three, deadline())));
    assertTrue(Thrown.message(IllegalArgumentException.class,
        () -> hands.here.pull(grant, LAYOUT, pool, three, deadline())).startsWith("direction must be"));
    try (BlockPool small = BlockPool.allocate(new PoolLayout(4096, 4, 0), hands.mine().gate)) {
      assertEquals("pageBytes must be that of the grant, " + PAGE_BYTES + ": 4096",
          Thrown.message(IllegalArgumentException.class,
              () -> hands.here.push(grant, LAYOUT, small, three, deadline())));
    }
    assertThrows(IllegalArgumentException.class,
        () -> hands.there.grantPush(hands.theirs().pool, new long[0], LAYOUT, LEASE));
    assertThrows(IllegalArgumentException.class,
        () -> hands.there.offer(hands.theirs().pool, filled(hands.theirs(), 1, 0), "a b", LEASE));
    assertThrows(IllegalArgumentException.class,
        () -> hands.there.offer(hands.theirs().pool, filled(hands.theirs(), 1, 0), LAYOUT, Duration.ZERO));
    assertThrows(IllegalStateException.class, () -> hands.there.offer(hands.theirs().pool, theirs, LAYOUT, LEASE));
    assertThrows(IllegalStateException.class, () -> Handovers.over(hands.mine().engine));
    // the sender's lease is still good for what was granted
    assertEquals(HandoverOutcome.COMMITTED, hands.here.push(grant, LAYOUT, pool, three, deadline()));
  }

  private static void epochs(Hands hands) {
    long[] theirs = filled(hands.theirs(), 2, 5);
    PushTarget target = hands.there.grantPush(hands.theirs().pool, theirs, LAYOUT, LEASE);
    TransferBench.refit(hands.mine().gate);
    long[] mine = filled(hands.mine(), 2, 9);
    assertEquals(HandoverOutcome.REFUSED,
        hands.here.push(target.grant(), LAYOUT, hands.mine().pool, mine, deadline()));
    TransferBench.refit(hands.theirs().gate);
    assertEquals(HandoverOutcome.REVOKED, target.outcome());
    assertTrue(target.isOver());
    assertThrows(RuntimeException.class, () -> hands.there.offer(hands.theirs().pool, theirs, LAYOUT, LEASE));
    hands.theirs().gate.close();
    assertThrows(GateClosedException.class, () -> hands.there.offer(hands.theirs().pool, theirs, LAYOUT, LEASE));
    hands.theirs().gate.open(EpochGate.State.OPEN);
    PullSource source = hands.there.offer(hands.theirs().pool, filled(hands.theirs(), 2, 7), LAYOUT, LEASE);
    assertEquals(HandoverOutcome.COMMITTED,
        hands.here.pull(source.grant(), LAYOUT, hands.mine().pool, mine, deadline()));
  }

  private static void expired(Hands hands) {
    long[] mine = filled(hands.mine(), 2, 1);
    PullSource withdrawn = hands.there.offer(hands.theirs().pool, filled(hands.theirs(), 2, 2), LAYOUT, LEASE);
    withdrawn.withdraw();
    assertEquals(HandoverOutcome.REFUSED,
        hands.here.pull(withdrawn.grant(), LAYOUT, hands.mine().pool, mine, deadline()));
    PushTarget revoked = hands.there.grantPush(hands.theirs().pool, filled(hands.theirs(), 2, 3), LAYOUT, SOON);
    assertEquals(HandoverOutcome.REVOKED, revoked.await(deadline()));
    assertEquals(HandoverOutcome.REFUSED,
        hands.here.push(revoked.grant(), LAYOUT, hands.mine().pool, mine, deadline()));
  }

  private static void silent(Hands hands) {
    long[] theirs = filled(hands.theirs(), 2, 2);
    PullSource source = hands.there.offer(hands.theirs().pool, theirs, LAYOUT, SOON);
    assertEquals(HandoverOutcome.REVOKED, source.await(deadline()));
    hands.theirs().pool.rewrite(theirs[0]).fill((byte) 1);
    long[] mine = filled(hands.mine(), 2, 1);
    assertEquals(HandoverOutcome.REFUSED,
        hands.here.pull(source.grant(), LAYOUT, hands.mine().pool, mine, deadline()));
    expect(hands.mine(), mine, 1);
  }

  private static void unregister(Hands hands) {
    try (BlockPool pool = BlockPool.allocate(new PoolLayout(4096, 2, 0), hands.theirs().gate)) {
      hands.theirs().engine.register(pool.slab());
      long block = pool.lease();
      PushTarget target = hands.there.grantPush(pool, new long[]{block}, LAYOUT, LEASE);
      assertThrows(InUseException.class, () -> pool.slab().registrations().getFirst().close(Deadline.after(SOON)));
      target.revoke();
      hands.theirs().engine.unregister(pool.slab());
      pool.release(block);
    }
  }

  private static void heldPush(Hands hands) throws Exception {
    BlockPool pool = hands.theirs().pool;
    long[] mine = filled(hands.mine(), 8, 500);
    long[] theirs = filled(hands.theirs(), 8, 0);
    PushTarget target = hands.there.grantPush(pool, theirs, LAYOUT, LEASE);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    CompletableFuture<HandoverOutcome> push = CompletableFuture.supplyAsync(
        () -> hands.here.push(target.grant(), LAYOUT, hands.mine().pool, mine, deadline()));
    eventually("the push is held", () -> LoopbackControls.hanging(COPY) >= 1);
    assertEquals(List.of(), TransferBench.refit(hands.theirs().gate));
    assertEquals(HandoverOutcome.REVOKED, target.outcome());
    assertFalse(target.isOver());
    for (long block : theirs)
      hands.theirs().release(block);
    // everything that can be leased is, and none of it is what the push aims at
    List<Long> all = new ArrayList<>();
    for (long block = pool.tryLease(); block != 0; block = pool.tryLease()) {
      TransferBench.fill(pool.rewrite(block), 900 + all.size());
      all.add(block);
    }
    assertEquals(TransferBench.PAGES - 8, all.size());
    assertEquals(8, pool.quarantined());
    LoopbackControls.release(COPY);
    push.get();
    eventually("the push is over", target::isOver);
    for (int i = 0; i < all.size(); i++)
      assertTrue(holds(pool.page(all.get(i)), 900 + i), "page " + i);
    assertEquals(0, pool.quarantined());
    assertEquals(8, pool.available());
    all.forEach(pool::release);
  }

  private static void slowPull(Hands hands) throws Exception {
    BlockPool pool = hands.theirs().pool;
    long[] mine = filled(hands.mine(), 2, 1);
    long[] theirs = filled(hands.theirs(), 2, 300);
    PullSource source = hands.there.offer(pool, theirs, LAYOUT, LEASE);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    CompletableFuture<HandoverOutcome> pull = CompletableFuture.supplyAsync(
        () -> hands.here.pull(source.grant(), LAYOUT, hands.mine().pool, mine, deadline()));
    eventually("the pull is held", () -> LoopbackControls.hanging(COPY) >= 1);
    source.withdraw();
    for (long block : theirs)
      TransferBench.fill(pool.rewrite(block), 400);
    LoopbackControls.release(COPY);
    assertEquals(HandoverOutcome.SOURCE_CHANGED, pull.get());
    for (long block : mine)
      assertThrows(IllegalStateException.class, () -> hands.mine().pool.page(block));
  }

  private static void failure(Hands hands) {
    long[] mine = filled(hands.mine(), 4, 1);
    long[] theirs = filled(hands.theirs(), 4, 2);
    PushTarget target = hands.there.grantPush(hands.theirs().pool, theirs, LAYOUT, LEASE);
    LoopbackControls.armAfter(COPY, Action.FAIL, 1, 1, 1);
    assertEquals(HandoverOutcome.ABORTED,
        hands.here.push(target.grant(), LAYOUT, hands.mine().pool, mine, deadline()));
    assertEquals(HandoverOutcome.ABORTED, target.await(deadline()));
    assertThrows(IllegalStateException.class, () -> hands.theirs().pool.page(theirs[0]));
    hands.theirs().pool.rewrite(theirs[0]);
    PullSource source = hands.there.offer(hands.theirs().pool, filled(hands.theirs(), 4, 3), LAYOUT, LEASE);
    LoopbackControls.armAfter(COPY, Action.FAIL, 1, 1, 1);
    assertEquals(HandoverOutcome.ABORTED,
        hands.here.pull(source.grant(), LAYOUT, hands.mine().pool, mine, deadline()));
    assertEquals(HandoverOutcome.ABORTED, source.await(deadline()));
    assertEquals(List.of(), hands.theirs().pool.pending());
    assertEquals(List.of(), hands.mine().pool.pending());
  }

  private static void givenUp(Hands hands) {
    long[] mine = filled(hands.mine(), 1, 1);
    PullSource source = hands.there.offer(hands.theirs().pool, filled(hands.theirs(), 1, 2), LAYOUT, LEASE);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    assertEquals(HandoverOutcome.IN_DOUBT,
        hands.here.pull(source.grant(), LAYOUT, hands.mine().pool, mine, Deadline.after(Duration.ofMillis(500))));
    LoopbackControls.release(COPY);
    assertEquals(HandoverOutcome.ABORTED, source.await(deadline()));
    eventually("nothing is in quarantine", () -> hands.mine().pool.quarantined() == 0);
  }

  private static void dead(Hands hands) throws Exception {
    PushTarget target = begun(hands);
    target.revoke();
    assertEquals(1, hands.theirs().pool.quarantined());
    target.declareSenderDead();
    assertTrue(target.isOver());
    assertEquals(0, hands.theirs().pool.quarantined());
  }

  private static void inDoubt(Hands hands) throws Exception {
    long[] mine = filled(hands.mine(), 1, 1);
    PushTarget target = hands.there.grantPush(hands.theirs().pool, filled(hands.theirs(), 1, 2), LAYOUT, LEASE);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    assertEquals(HandoverOutcome.IN_DOUBT,
        hands.here.push(target.grant(), LAYOUT, hands.mine().pool, mine, Deadline.after(Duration.ofMillis(500))));
    assertEquals(HandoverOutcome.PENDING, target.await(Deadline.after(SOON)));
    target.revoke();
    assertEquals(1, hands.theirs().pool.quarantined());
    LoopbackControls.release(COPY);
    eventually("the target is over", target::isOver);
    assertEquals(0, hands.theirs().pool.quarantined());
  }

  private static void destroyed(Hands hands) throws Exception {
    TransferBench.Side side = new TransferBench.Side(hands.bench.subject, "destroyed");
    Handovers own = Handovers.over(side.engine);
    PushTarget target = own.grantPush(side.pool, filled(side, 1, 2), LAYOUT, LEASE);
    long[] mine = filled(hands.mine(), 1, 1);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    assertEquals(HandoverOutcome.IN_DOUBT,
        hands.here.push(target.grant(), LAYOUT, hands.mine().pool, mine, Deadline.after(Duration.ofMillis(500))));
    own.close();
    assertEquals(1, side.pool.quarantined());
    assertEquals(List.of(), side.engine.close(deadline()));
    assertEquals(0, side.pool.quarantined());
    side.close();
    LoopbackControls.release(COPY);
    eventually("the push is over", () -> hands.mine().engine.inDoubt() == 0);
  }

  /** {@return a target whose sender has begun and is held} */
  private static PushTarget begun(Hands hands) {
    long[] mine = filled(hands.mine(), 1, 1);
    PushTarget target = hands.there.grantPush(hands.theirs().pool, filled(hands.theirs(), 1, 2), LAYOUT, LEASE);
    LoopbackControls.arm(COPY, Action.HANG, 0, 0);
    hands.here.push(target.grant(), LAYOUT, hands.mine().pool, mine, Deadline.after(Duration.ofMillis(500)));
    return target;
  }
}

package dev.gatun.transfer;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineCapabilities;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.memory.BlockPool;
import dev.gatun.transfer.HandoverMessage.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Carries out one hand-over on the grantee's side: asks, moves, commits or gives up, and tells the granter. */
final class Carrier {
  private final Handovers handovers;
  private final Grant grant;
  private final BlockPool pool;
  private final long[] blocks;
  private final Deadline deadline;
  private final int chunk;
  private final boolean settles;
  private final UUID attempt;
  // whether something failed that may still land; what waits for a flight in doubt reads it under that one's lock
  private boolean lost;

  Carrier(Handovers handovers, Grant grant, Grant.Direction direction, String layout, BlockPool pool, long[] blocks,
      Deadline deadline) {
    handovers.requireOpen(direction == Grant.Direction.PUSH ? "push" : "pull");
    require("direction", grant.direction(), direction);
    require("layout", grant.layout(), HandoverMessage.requireLayout(layout));
    require("pageBytes", grant.pageBytes(), pool.pageBytes());
    require("number of blocks", grant.blocks(), blocks.length);
    this.handovers = handovers;
    this.grant = grant;
    this.pool = pool;
    this.blocks = blocks.clone();
    this.deadline = deadline;
    attempt = Objects.requireNonNullElseGet(grant.accepted(), UUID::randomUUID);
    EngineCapabilities capabilities = handovers.engine.capabilities();
    chunk = Math.min(capabilities.batchMax(), capabilities.inFlightMax());
    settles = capabilities.failuresSettle();
  }

  private static void require(String field, Object granted, Object here) {
    if (!granted.equals(here)) {
      throw new IllegalArgumentException(field + " must be that of the grant, " + granted + ": " + here);
    }
  }

  HandoverOutcome push() {
    return carry(out -> {
      for (int from = 0; from < blocks.length; from += chunk) {
        boolean last = from + chunk >= blocks.length;
        try (TransferBatch batch = batch(from)) {
          for (int i = 0; i < batch.capacity(); i++)
            batch.write(blocks[from + i], out.peer, grant.address(from + i));
          if (last) batch.message(message(Kind.COMMIT).encode());
          HandoverOutcome ended = run(out, batch, false);
          if (ended != HandoverOutcome.PENDING) return ended;
          // the library can fail to deliver what it was to deliver with the bytes
          if (last && !batch.notified()) tellNow(out, Kind.COMMIT);
        }
      }
      return switch (confirmation(out)) {
        case CONFIRMED -> HandoverOutcome.COMMITTED;
        case CHANGED -> HandoverOutcome.REVOKED;
        case null, default -> HandoverOutcome.ABORTED;
      };
    });
  }

  HandoverOutcome pull(Confirmation confirmation) {
    return carry(out -> {
      List<TransferBatch> held = new ArrayList<>();
      boolean good = false;
      try {
        for (int from = 0; from < blocks.length; from += chunk) {
          TransferBatch batch = batch(from);
          held.add(batch);
          for (int i = 0; i < batch.capacity(); i++)
            batch.read(blocks[from + i], out.peer, grant.address(from + i));
          HandoverOutcome ended = run(out, batch, true);
          if (ended != HandoverOutcome.PENDING) return ended;
        }
        good = isConfirmed(out, confirmation);
        return good ? HandoverOutcome.COMMITTED : HandoverOutcome.SOURCE_CHANGED;
      } finally {
        for (TransferBatch batch : held) {
          batch.settle(good);
          batch.close();
        }
      }
    });
  }

  private boolean isConfirmed(Outgoing out, Confirmation confirmation) {
    Boolean said = grant.accepted() == null ? null : confirmation.ask();
    if (said != null) return said;
    tellNow(out, Kind.COMMIT);
    return confirmation(out) == Kind.CONFIRMED;
  }

  private TransferBatch batch(int from) {
    return handovers.engine.batch(pool, Math.min(chunk, blocks.length - from));
  }

  private @Nullable Kind confirmation(Outgoing out) {
    handovers.await(() -> out.confirmed() != null, deadline);
    return out.confirmed();
  }

  private interface Work {
    HandoverOutcome with(Outgoing out);
  }

  private HandoverOutcome carry(Work work) {
    if (!grant.epoch().equals(handovers.gate.epoch())) return HandoverOutcome.REFUSED;
    Outgoing out = new Outgoing(attempt, handovers.peers().open(grant.told(), deadline));
    if (handovers.outgoing().putIfAbsent(grant.id(), out) != null) {
      throw new IllegalStateException(grant + " is being carried out already");
    }
    HandoverOutcome outcome = HandoverOutcome.ABORTED;
    try {
      // after it can be seen: who closes either sees it, and goes on to hear what is said to it, or is seen
      handovers.requireOpen("begin of " + grant.direction());
      HandoverOutcome asked = mayBegin(out);
      outcome = asked == HandoverOutcome.PENDING ? work.with(out) : asked;
      return outcome;
    } finally {
      if (outcome != HandoverOutcome.IN_DOUBT) over(out, mustTell(outcome));
    }
  }

  /** Asks the granter, unless the grant answers that. {@return PENDING if it may begin, else how the hand-over ends} */
  private HandoverOutcome mayBegin(Outgoing out) {
    if (grant.accepted() != null) {
      // whoever takes the grant back uses the attempt up, and looks at what is outgoing afterwards
      if (!handovers.lines().use(attempt)) return HandoverOutcome.REVOKED;
      if (grant.isFresh()) return HandoverOutcome.PENDING;
    }
    tellNow(out,
        new HandoverMessage(Kind.ACCEPT, grant.id(), attempt, grant.epoch(), Told.by(handovers.engine).toBytes()));
    handovers.await(() -> out.accepted() != null || out.isRevoked(), deadline);
    if (out.accepted() == Kind.REFUSED) return HandoverOutcome.REFUSED;
    return out.accepted() == Kind.ACCEPTED && !out.isRevoked() ? HandoverOutcome.PENDING : HandoverOutcome.ABORTED;
  }

  /** Nothing moves any more, or nothing that we know of: what failed is remembered before the attempt is forgotten. */
  private void over(Outgoing out, boolean tell) {
    if (lost) handovers.lost().add(attempt);
    handovers.outgoing().remove(grant.id(), out);
    boolean mayLand = handovers.lost().contains(attempt); // a grant that names its attempt may have been carried before
    if (tell) handovers.tell(out.peer.name(), message(mayLand ? Kind.LOST : Kind.ABORTED));
  }

  /** After a commit the granter knows, and after a refusal it never began. */
  private static boolean mustTell(HandoverOutcome outcome) {
    return outcome != HandoverOutcome.COMMITTED && outcome != HandoverOutcome.REFUSED;
  }

  /** Moves one batch. {@return PENDING if it has arrived in whole, else how the hand-over ends} */
  private HandoverOutcome run(Outgoing out, TransferBatch batch, boolean hold) {
    try {
      if (!submit(out, batch, hold)) return HandoverOutcome.REVOKED;
      batch.await(deadline);
    } catch (EngineException unknown) {
      if (batch.doubtful() == null) throw unknown;
    }
    note(batch);
    Doubtful doubtful = batch.doubtful();
    if (doubtful != null) return inDoubt(out, doubtful);
    if (batch.allCompleted()) return HandoverOutcome.PENDING;
    return has(batch, TransferOutcome.STALE) || out.isRevoked() ? HandoverOutcome.REVOKED : HandoverOutcome.ABORTED;
  }

  /** Submits as soon as the engine takes so many requests more. {@return false if the grant was taken back} */
  private boolean submit(Outgoing out, TransferBatch batch, boolean hold) {
    while (!out.isRevoked()) {
      try {
        if (hold) batch.submitHeld();
        else
          batch.submit();
        return true;
      } catch (TooManyRequestsException full) {
        if (deadline.reached() || Thread.currentThread().isInterrupted()) throw full;
        handovers.await(() -> out.isRevoked() || out.peer.hasRoom(batch.size()), deadline);
      }
    }
    return false;
  }

  private void note(TransferBatch batch) {
    for (int i = 0; i < batch.size(); i++)
      lost |= batch.outcome(i).mayHaveMoved() && !settles;
  }

  /** The granter is told when nothing moves any more; only then is the hand-over forgotten here. */
  private HandoverOutcome inDoubt(Outgoing out, Doubtful doubtful) {
    doubtful.whenOver(() -> {
      lost |= doubtful.failed() && !settles;
      over(out, true);
    });
    return HandoverOutcome.IN_DOUBT;
  }

  private static boolean has(TransferBatch batch, TransferOutcome wanted) {
    for (int i = 0; i < batch.size(); i++) {
      if (batch.outcome(i) == wanted) return true;
    }
    return false;
  }

  private void tellNow(Outgoing out, Kind kind) {
    tellNow(out, message(kind));
  }

  private void tellNow(Outgoing out, HandoverMessage message) {
    handovers.engine.notify(out.peer, message.encode(), deadline);
  }

  private HandoverMessage message(Kind kind) {
    return HandoverMessage.of(kind, grant.id(), attempt, grant.epoch());
  }

  @Override
  public String toString() {
    return grant.toString();
  }
}

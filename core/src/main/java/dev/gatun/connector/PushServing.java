package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.connector.PeerMessage.Done;
import dev.gatun.connector.PeerMessage.Refused;
import dev.gatun.connector.PeerMessage.Room;
import dev.gatun.transfer.HandoverOutcome;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Prefill's side of a push: writes offered pages where decode has granted room. */
final class PushServing {
  private final P2pSite site;
  private final Offers offers;
  private final Semaphore turns;
  private final Counts counts;

  PushServing(P2pSite site, Offers offers, Semaphore turns, Counts counts) {
    this.site = site;
    this.offers = offers;
    this.turns = turns;
    this.counts = counts;
  }

  /** Waits for the offer and for its turn, and pushes. Blocks in native code. */
  PeerMessage push(Room room) {
    Duration wait = site.options().transferTimeout();
    Deadline deadline = Deadline.after(wait);
    // an offer of other weights would never come
    String refusal = site.refusal(room.grant().epoch(), room.layout());
    if (refusal != null) return new Refused(refusal);
    Offers.Held held = offers.use(room.transferId(), deadline);
    if (held == null)
      return new Refused("transfer " + room.transferId() + " was not offered within " + wait + ", or is over");
    boolean turn = false;
    try {
      turn = turns.tryAcquire(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
      return turn ? push(room, held, deadline) : ended(held, "its turn did not come within " + wait);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return ended(held, "push failed: interrupted");
    } finally {
      if (turn) turns.release();
      offers.leave(held);
    }
  }

  private PeerMessage push(Room room, Offers.Held held, Deadline deadline) {
    int blocks = room.grant().blocks();
    if (!held.offer.epoch().equals(room.grant().epoch())) {
      return new Refused("epoch " + room.grant().epoch() + " is wanted, the pages are of " + held.offer.epoch());
    }
    if (room.from() < 0 || room.from() > held.offer.count() - blocks) {
      return new Refused(blocks + " blocks from " + room.from() + " are wanted, there are " + held.offer.count());
    }
    try {
      long[] leases = P2pSite.leases(held.offer.blocks(), room.from(), room.from() + blocks);
      HandoverOutcome outcome = site.handovers().push(room.grant(), site.layoutDigest(), site.pool(), leases, deadline);
      if (outcome == HandoverOutcome.COMMITTED) {
        counts.add("blocks_pushed", blocks);
        counts.add("bytes_pushed", blocks * site.pool().pageBytes());
        offers.end(held, "");
        return new Done();
      }
      return ended(held, "the push ended as " + outcome);
    } catch (GatunException | IllegalArgumentException | IllegalStateException failed) {
      return ended(held, "push failed: " + failed.getMessage());
    } catch (RuntimeException | Error failed) { // decode would wait for an answer
      return ended(held, "push failed: " + failed);
    }
  }

  private PeerMessage ended(Offers.Held held, String reason) {
    counts.add("pushes_failed", 1);
    offers.end(held, reason);
    return new Refused(reason);
  }
}

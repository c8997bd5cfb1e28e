package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.connector.PeerMessage.Ask;
import dev.gatun.connector.PeerMessage.Confirm;
import dev.gatun.connector.PeerMessage.Done;
import dev.gatun.connector.PeerMessage.Pages;
import dev.gatun.connector.PeerMessage.Refused;
import dev.gatun.transfer.HandoverOutcome;
import dev.gatun.transfer.PullSource;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Prefill's side of a pull: lets decode read offered pages, and ends the offer once it has. */
final class PullServing {
  // 5 ms: how late an offer that was read counts as such; what decode waits for does not hang on it; unmeasured default
  private static final long LOOK_NANOS = 5_000_000;

  private final P2pSite site;
  private final Offers offers;
  private final Counts counts;

  PullServing(P2pSite site, Offers offers, Counts counts) {
    this.site = site;
    this.offers = offers;
    this.counts = counts;
  }

  PeerMessage where(Ask ask) {
    String refusal = site.refusal(ask.epoch(), ask.layout());
    if (refusal != null) return new Refused(refusal);
    Duration wait = site.options().transferTimeout();
    Offers.Held held = offers.use(ask.transferId(), Deadline.after(wait));
    if (held == null)
      return new Refused("request " + ask.transferId() + " was not offered within " + wait + ", or is over");
    boolean served = false;
    try {
      if (!held.offer.epoch().equals(ask.epoch())) {
        return new Refused("epoch " + ask.epoch() + " is wanted, the pages are of " + held.offer.epoch());
      }
      if (ask.from() < 0 || ask.to() > held.offer.count() || ask.from() >= ask.to()) {
        return new Refused("blocks " + ask.from() + " to " + ask.to() + " are wanted, there are " + held.offer.count());
      }
      long[] leases = P2pSite.leases(held.offer.blocks(), ask.from(), ask.to());
      PullSource source = site.handovers().offer(site.pool(), leases, site.layoutDigest(), wait, ask.attempt());
      Thread.ofVirtual().name("gatun-pulled " + ask.transferId()).start(() -> watch(held, source, leases.length));
      served = true;
      return new Pages(source.grant());
    } catch (GatunException | IllegalStateException refused) {
      return new Refused(String.valueOf(refused.getMessage()));
    } finally {
      if (!served) offers.leave(held);
    }
  }

  /** Decode has read everything: says whether it is what was offered. */
  PeerMessage confirm(Confirm confirm) {
    return site.handovers().confirm(confirm.grant(), confirm.epoch(), confirm.attempt())
        ? new Done()
        : new Refused("the pages are not what was offered any more");
  }

  private void watch(Offers.Held held, PullSource source, int blocks) {
    while (source.outcome() == HandoverOutcome.PENDING && !held.isEnding())
      LockSupport.parkNanos(LOOK_NANOS);
    source.withdraw();
    HandoverOutcome outcome = source.outcome();
    if (outcome == HandoverOutcome.COMMITTED) counts.add("blocks_pulled", blocks);
    offers.end(held, outcome == HandoverOutcome.COMMITTED ? "" : "the pull ended as " + outcome);
    offers.leave(held);
  }
}

package dev.gatun.transfer.device;

import dev.gatun.backend.Deadline;
import dev.gatun.device.PagePush;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out grants of one receiver by kernels, and awaits the end of each. The link's thread. */
final class GrantPush {
  private static final Logger LOG = LoggerFactory.getLogger(GrantPush.class);
  // 10 s: milliseconds of work; whoever waits longer should hear of it, and waits on: unmeasured default
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final DeviceSender sender;
  private final SenderLink link;
  private final PagePush push;
  private boolean moved; // pages of the grant at hand

  /** Takes over a push, which closes with this. */
  GrantPush(DeviceSender sender, SenderLink link, PagePush push) {
    this.sender = sender;
    this.link = link;
    this.push = push;
  }

  /**
   * Moves all pages of an offer into the blocks of a grant. Blocks until nothing of it moves any more.
   *
   * @param ticket of the gate, entered
   * @return why it stopped before the end, or came too late; empty if all has arrived in the epoch of all sides
   * @throws IllegalArgumentException if the two do not fit; what was moved before has arrived
   * @throws dev.gatun.device.DeviceException if it is not known whether something still moves
   */
  String move(Incoming grant, DeviceOffer offer, int ticket) {
    moved = false;
    requireFits(grant, offer, ticket);
    int[] sources = offer.blocks();
    int[] targets = grant.pages.blocks();
    for (int from = 0; from < sources.length; from += DeviceSender.PUSH_PAGES) {
      if (grant.isRevoked()) return "it was revoked";
      if (link.isEnding()) return "the link ends";
      if (offer.isTakenBack() || !sender.gate().isCurrent(ticket)) return "it was withdrawn";
      push.clear(Deadline.after(PATIENCE));
      for (int i = from; i < Math.min(sources.length, from + DeviceSender.PUSH_PAGES); i++)
        push.add(sources[i], targets[i]);
      push.send(offer.ready());
      moved = true;
      awaitArrival(grant);
    }
    return sender.gate().isCurrent(ticket) ? "" : "a refit came first";
  }

  /** {@return whether pages of the grant at hand were moved} */
  boolean hasMoved() {
    return moved;
  }

  private void requireFits(Incoming grant, DeviceOffer offer, int ticket) {
    if (grant.pages.blocks().length != offer.blocks().length) {
      throw new IllegalArgumentException(
          "a grant must have as many blocks as the offer, " + offer.blocks().length + ": "
              + grant.pages.blocks().length);
    }
    if (!grant.pages.epoch().equals(offer.epoch()) || !offer.epoch().equals(sender.gate().epochIfCurrent(ticket))) {
      throw new IllegalArgumentException("a grant must be of the epoch of the offer, " + offer.epoch()
          + ", and that in force: " + grant.pages.epoch());
    }
  }

  /** Until all has arrived: it cannot be called back, so there is no deadline. */
  private void awaitArrival(Incoming grant) {
    link.awaitKernels();
    Deadline patience = Deadline.after(PATIENCE);
    while (!push.done().isDone()) {
      link.passTime();
      if (!patience.reached()) continue;
      LOG.warn("{}: pages of {} have been moving for {} or longer", link, grant.pages.name(), PATIENCE);
      patience = Deadline.after(PATIENCE);
    }
  }

  /** Frees what it holds, once the GPU is done with it. Blocks. */
  void close(Deadline deadline) {
    push.close(deadline);
  }
}

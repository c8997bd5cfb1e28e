package dev.gatun.transfer.device;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GateClosedException;
import dev.gatun.device.AttachedCache;
import dev.gatun.device.DeviceException;
import dev.gatun.device.PagePush;
import dev.gatun.transfer.HandoverOutcome;
import dev.gatun.transfer.device.LinkMessage.Aborted;
import dev.gatun.transfer.device.LinkMessage.Bye;
import dev.gatun.transfer.device.LinkMessage.Cache;
import dev.gatun.transfer.device.LinkMessage.Commit;
import dev.gatun.transfer.device.LinkMessage.Detach;
import dev.gatun.transfer.device.LinkMessage.Hello;
import dev.gatun.transfer.device.LinkMessage.Pages;
import dev.gatun.transfer.device.LinkMessage.Ready;
import dev.gatun.transfer.device.LinkMessage.Refused;
import dev.gatun.transfer.device.LinkMessage.Revoke;
import dev.gatun.transfer.device.LinkMessage.Verdict;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One receiver, on the sender's side. One thread reads what it says, one pushes: a grant is carried out by kernels whose end the
 * second one awaits, so that nothing is said to be over before it is.
 */
final class SenderLink {
  private static final Logger LOG = LoggerFactory.getLogger(SenderLink.class);
  // 10 s: milliseconds of work; whoever waits longer should hear of it, and waits on: unmeasured default
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final DeviceSender sender;
  private final LinkChannel channel;
  private final Deadline helloBy = Deadline.after(PATIENCE);
  private final BlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
  /** Grants that were begun, by number, until the receiver's verdict. */
  private final Map<UUID, Incoming> begun = new ConcurrentHashMap<>();
  private final Map<UUID, DeviceOffer> committed = new ConcurrentHashMap<>();
  private volatile @Nullable Hello receiver;
  private volatile @Nullable AttachedCache attached;
  private volatile @Nullable PagePush push;
  private volatile boolean ending;
  private volatile boolean finished;

  SenderLink(DeviceSender sender, LinkChannel channel) {
    this.sender = sender;
    this.channel = channel;
  }

  void start() {
    Thread.ofPlatform().daemon().name("gatun-device-grants").start(this::read);
    Thread.ofPlatform().daemon().name("gatun-device-push").start(this::work);
  }

  boolean hasAttached() {
    return attached != null;
  }

  /** Who connects and says nothing is not waited for. */
  void look() {
    if (receiver == null && helloBy.reached()) channel.close();
  }

  /** Ends after what the GPU has begun. Does not wait. */
  void end() {
    ending = true;
    work.add(() -> {}); // wakes who takes
  }

  /** Carries out a grant of this receiver. Does not wait. */
  void carry(Incoming grant, DeviceOffer offer) {
    begun.put(grant.pages.id(), grant);
    work.add(() -> push(grant, offer));
    if (finished) runLeft();
  }

  /** Answers that nothing of a grant moves. Does not wait. */
  void refuse(Incoming grant, String why) {
    work.add(() -> channel.send(new Aborted(grant.pages.id(), true, why)));
  }

  private void read() {
    try {
      PeerUser.require(channel.channel(), sender.user());
      channel.send(new Hello(sender.instance(), PeerLife.own(), sender.gate().epoch()));
      for (LinkMessage message = channel.receive(); message != null
          && !(message instanceof Detach); message = channel.receive())
        take(message);
    } catch (PeerRefusedException refused) {
      LOG.warn("a receiver was refused: {}", refused.getMessage());
      channel.send(new Refused(refused.reason(), String.valueOf(refused.getMessage())));
    } catch (IllegalArgumentException bad) {
      LOG.warn("{}: {}", this, bad.getMessage());
      channel.send(new Refused(PeerRefusedException.Reason.OTHER_PROTOCOL, String.valueOf(bad.getMessage())));
    } finally {
      end();
    }
  }

  private void take(LinkMessage message) {
    switch (message) {
      case Hello hello -> hear(hello);
      case Cache cache -> attach(cache);
      case Pages pages -> ask(new Incoming(this, pages));
      case Revoke revoke -> {
        Incoming grant = begun.get(revoke.id());
        if (grant != null) grant.revoke();
        else if (sender.matches().forget(revoke.id()) || !committed.containsKey(revoke.id())) {
          channel.send(new Aborted(revoke.id(), false, "it was revoked"));
        }
      }
      case Verdict verdict -> {
        DeviceOffer offer = committed.remove(verdict.id());
        if (offer != null) {
          offer.end(verdict.good() ? HandoverOutcome.COMMITTED : HandoverOutcome.REVOKED,
              verdict.good() ? "" : "the receiver had taken its grant back");
        }
        sender.changes().happened();
      }
      default -> throw new IllegalArgumentException("a receiver does not say " + message.getClass().getSimpleName());
    }
  }

  private void hear(Hello hello) {
    if (receiver != null) throw new IllegalArgumentException("a receiver says hello once");
    if (!hello.life().isKnown()) {
      throw new PeerRefusedException(PeerRefusedException.Reason.OTHER_PROCESS,
          "the receiver says that it is " + hello.life() + ", which this process does not see");
    }
    receiver = hello;
  }

  private void attach(Cache cache) {
    if (receiver == null || attached != null) throw new IllegalArgumentException("a receiver names its cache once");
    try {
      AttachedCache opened = sender.attach(cache.share());
      attached = opened;
      push = sender.open(opened.cache());
    } catch (IllegalArgumentException other) {
      throw new PeerRefusedException(PeerRefusedException.Reason.OTHER_PAGES, String.valueOf(other.getMessage()));
    } catch (DeviceException | IllegalCallerException refused) {
      throw new PeerRefusedException(PeerRefusedException.Reason.NOT_ATTACHED, String.valueOf(refused.getMessage()));
    }
    channel.send(new Ready());
  }

  private void ask(Incoming grant) {
    if (push == null) throw new IllegalArgumentException("a receiver names its cache before it grants");
    try {
      DeviceOffer offer = sender.matches().asked(grant);
      if (offer != null) carry(grant, offer);
    } catch (IllegalStateException taken) {
      refuse(grant, String.valueOf(taken.getMessage()));
    }
  }

  private void work() {
    try {
      while (!ending)
        work.take().run();
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts a link's thread", e);
    } finally {
      finish();
    }
  }

  /** Closes the receiver's memory; whatever waited for it ends. */
  private void finish() {
    finished = true;
    sender.matches().forget(this);
    runLeft();
    committed.values()
        .forEach(offer -> offer.end(HandoverOutcome.ABORTED, "the receiver is gone, and may have the pages"));
    try {
      PagePush pushing = push;
      if (pushing != null) pushing.close(Deadline.after(PATIENCE));
      AttachedCache open = attached;
      if (open != null) open.close();
      attached = null;
      channel.send(new Bye());
    } catch (RuntimeException e) {
      LOG.error("{}: its memory could not be closed and stays open until this process ends", this, e);
    }
    channel.close();
    sender.forget(this);
  }

  /** What is queued sees that the link ends. */
  private void runLeft() {
    for (Runnable next = work.poll(); next != null; next = work.poll())
      next.run();
  }

  private void push(Incoming grant, DeviceOffer offer) {
    String failure = "the link ends";
    boolean refused = false;
    if (!ending && offer.begin()) {
      try {
        int ticket = sender.gate().enter("push");
        try {
          requireFits(grant, offer, ticket);
          failure = move(grant, offer, ticket);
          if (failure.isEmpty()) commit(grant, offer);
        } finally {
          sender.gate().exit(ticket);
        }
      } catch (GateClosedException refit) {
        failure = String.valueOf(refit.getMessage());
      } catch (IllegalArgumentException | IndexOutOfBoundsException other) {
        refused = true;
        failure = String.valueOf(other.getMessage());
      } catch (DeviceException lost) {
        LOG.error("{}: {} is never answered: end this process, then the receiver has its blocks back", this,
            grant.pages.name(), lost);
        offer.end(HandoverOutcome.ABORTED, String.valueOf(lost.getMessage()));
        return;
      }
    } else if (!ending) failure = offer.reason();
    if (!failure.isEmpty()) abort(grant, offer, refused, failure);
    sender.changes().happened();
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

  /** Moves all pages. {@return why it stopped before the end; empty if it did not} */
  private String move(Incoming grant, DeviceOffer offer, int ticket) {
    PagePush pushing = push;
    if (pushing == null) throw new IllegalStateException("no cache is open");
    int[] sources = offer.blocks();
    int[] targets = grant.pages.blocks();
    for (int from = 0; from < sources.length; from += DeviceSender.PUSH_PAGES) {
      if (grant.isRevoked()) return "it was revoked";
      if (ending) return "the link ends";
      if (offer.isTakenBack() || !sender.gate().isCurrent(ticket)) return "it was withdrawn";
      pushing.clear(Deadline.after(PATIENCE));
      for (int i = from; i < Math.min(sources.length, from + DeviceSender.PUSH_PAGES); i++)
        pushing.add(sources[i], targets[i]);
      pushing.send(offer.ready());
      awaitArrival(pushing, grant);
    }
    return sender.gate().isCurrent(ticket) ? "" : "a refit came first";
  }

  /** Until all has arrived: it cannot be called back, so there is no deadline. */
  private void awaitArrival(PagePush pushing, Incoming grant) {
    while (true) {
      try {
        pushing.await(Deadline.after(PATIENCE));
        return;
      } catch (DeadlineException late) {
        LOG.warn("{}: pages of {} have been moving for {} or longer", this, grant.pages.name(), PATIENCE);
      }
    }
  }

  private void commit(Incoming grant, DeviceOffer offer) {
    UUID id = grant.pages.id();
    committed.put(id, offer);
    begun.remove(id);
    channel.send(new Commit(id));
  }

  private void abort(Incoming grant, DeviceOffer offer, boolean refused, String why) {
    offer.end(refused ? HandoverOutcome.REFUSED : HandoverOutcome.ABORTED, why);
    begun.remove(grant.pages.id());
    channel.send(new Aborted(grant.pages.id(), refused, why));
  }

  @Override
  public String toString() {
    Hello hello = receiver;
    return "device pages to " + (hello == null ? "an unknown receiver" : hello.life().toString());
  }
}

package dev.gatun.transfer.device;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GateClosedException;
import dev.gatun.device.AttachedCache;
import dev.gatun.device.DeviceException;
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
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One receiver, on the sender's side. One thread does everything: it hears what the receiver says, also while a grant is carried
 * out by kernels, whose end it awaits, so that nothing is said to be over before it is. Longer than most classes because it is
 * the whole of the sender's part in the protocol.
 */
final class SenderLink {
  private static final Logger LOG = LoggerFactory.getLogger(SenderLink.class);
  // 10 s: for a greeting, and for the GPU to finish before memory is closed: unmeasured default
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  // 1 ms: the next grant often follows; unmeasured default
  private static final long AWAKE_AFTER_NANOS = 1_000_000;
  // 1 ms: between two looks at kernels that only have to end; unmeasured default
  private static final long ENDING_NANOS = 1_000_000;

  // 1 s: a receiver that lives answers a commit at once; unmeasured default
  private static final Duration VERDICT_PATIENCE = Duration.ofSeconds(1);
  // 1 s: as long as any work on the GPU is older than PATIENCE, which is rare; unmeasured default
  private static final long RELEASE_AGAIN_NANOS = 1_000_000_000;

  private final DeviceSender sender;
  private final LinkChannel channel;
  private final Deadline helloBy = Deadline.after(PATIENCE);
  private final Queue<Runnable> work = new ConcurrentLinkedQueue<>();
  /** Grants that have no answer yet, by number, from the moment in which they are heard of. */
  private final Map<UUID, Incoming> grants = new ConcurrentHashMap<>();
  /** Offers of grants that were answered by a commit, until the receiver's verdict. */
  private final Map<UUID, DeviceOffer> committed = new ConcurrentHashMap<>();
  private volatile @Nullable Hello receiver;
  private volatile @Nullable AttachedCache attached;
  private @Nullable GrantPush push; // the link's thread's
  private volatile boolean ending;
  private volatile boolean finished;

  SenderLink(DeviceSender sender, LinkChannel channel) {
    this.sender = sender;
    this.channel = channel;
  }

  void start() {
    Thread.ofPlatform().daemon().name("gatun-device-link").start(this::run);
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
    channel.wake();
  }

  /** Carries out a grant of this receiver. Does not wait. */
  void carry(Incoming grant, DeviceOffer offer) {
    queue(() -> push(grant, offer));
  }

  /** Answers that nothing of a grant moves. Does not wait. */
  void refuse(Incoming grant, String why) {
    queue(() -> answer(grant, true, why));
  }

  private void queue(Runnable next) {
    work.add(next);
    channel.wake();
    if (finished) runLeft();
  }

  private void answer(Incoming grant, boolean refused, String why) {
    grants.remove(grant.pages.id());
    channel.send(new Aborted(grant.pages.id(), refused, why));
  }

  private void run() {
    try {
      greet();
      while (!ending) {
        listen();
        Runnable next = work.poll();
        if (next != null) next.run();
        else if (!ending) channel.await(0);
      }
    } finally {
      finish();
    }
  }

  private void greet() {
    try {
      PeerUser.require(channel.channel(), sender.user());
      channel.send(new Hello(sender.instance(), PeerLife.own(), sender.gate().epoch()));
    } catch (PeerRefusedException refused) {
      refuse(refused.reason(), String.valueOf(refused.getMessage()));
    }
  }

  /** Takes what the receiver has said. Does not wait, and throws nothing: kernels may be running. */
  private void listen() {
    try {
      while (!ending) {
        LinkMessage message = channel.poll();
        if (message == null) break;
        channel.stayAwake(AWAKE_AFTER_NANOS);
        if (message instanceof Detach) ending = true;
        else
          take(message);
      }
      if (channel.isEnded()) ending = true;
    } catch (PeerRefusedException refused) {
      refuse(refused.reason(), String.valueOf(refused.getMessage()));
    } catch (IllegalArgumentException bad) {
      refuse(PeerRefusedException.Reason.OTHER_PROTOCOL, String.valueOf(bad.getMessage()));
    } catch (RuntimeException e) {
      LOG.error("{} ends", this, e);
      ending = true;
    }
  }

  /** Says why this receiver is not served. */
  private void refuse(PeerRefusedException.Reason reason, String why) {
    LOG.warn("{} was refused: {}", this, why);
    channel.send(new Refused(reason, why));
    ending = true;
  }

  private void take(LinkMessage message) {
    switch (message) {
      case Hello hello -> hear(hello);
      case Cache cache -> attach(cache);
      case Pages pages -> ask(new Incoming(this, pages));
      case Revoke revoke -> revoke(revoke.id());
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

  /** One that waits for an offer ends here; whoever carries one out sees it, and answers when nothing of it moves. */
  private void revoke(UUID id) {
    Incoming grant = grants.get(id);
    if (grant == null) {
      if (!committed.containsKey(id)) channel.send(new Aborted(id, false, "it is over"));
      return;
    }
    grant.revoke();
    if (sender.matches().forget(grant)) answer(grant, false, "it was revoked");
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
      push = new GrantPush(sender, this, sender.open(opened.cache()));
    } catch (IllegalArgumentException other) {
      throw new PeerRefusedException(PeerRefusedException.Reason.OTHER_PAGES, String.valueOf(other.getMessage()));
    } catch (DeviceException | IllegalCallerException refused) {
      throw new PeerRefusedException(PeerRefusedException.Reason.NOT_ATTACHED, String.valueOf(refused.getMessage()));
    }
    channel.send(new Ready());
  }

  private void ask(Incoming grant) {
    if (push == null) throw new IllegalArgumentException("a receiver names its cache before it grants");
    if (grants.putIfAbsent(grant.pages.id(), grant) != null) {
      throw new IllegalArgumentException("a receiver numbers its grants: " + grant.pages.id() + " came twice");
    }
    try {
      DeviceOffer offer = sender.matches().asked(grant);
      if (offer != null) carry(grant, offer);
    } catch (IllegalStateException taken) {
      refuse(grant, String.valueOf(taken.getMessage()));
    }
  }

  /** Closes the receiver's memory; whatever waited for it ends. */
  private void finish() {
    ending = true; // also if something was thrown: nothing more begins
    finished = true;
    try {
      sender.matches().forget(this);
      runLeft();
      hearVerdicts();
    } finally { // whatever was thrown
      letGo();
    }
  }

  private void letGo() {
    committed.values().forEach(offer -> offer.end(HandoverOutcome.ABORTED,
        "the link ended before the receiver's word: it may have the pages"));
    for (boolean first = true; !release(first); first = false)
      LockSupport.parkNanos(this, RELEASE_AGAIN_NANOS);
    try {
      channel.send(new Bye());
      if (!channel.flush(Deadline.after(PATIENCE))) LOG.warn("{} does not hear that its memory is closed", this);
    } finally {
      sender.forget(this);
      channel.close();
    }
  }

  /** What the receiver says of commits may be on its way, or behind its farewell. */
  private void hearVerdicts() {
    Deadline patience = Deadline.after(VERDICT_PATIENCE);
    try {
      while (!committed.isEmpty() && !channel.isEnded() && !patience.reached()) {
        LinkMessage message = channel.poll();
        if (message instanceof Verdict) take(message);
        else if (message == null) channel.await(1);
      }
    } catch (IllegalArgumentException bad) {
      LOG.warn("{} says something else than what became of its pages: {}", this, bad.getMessage());
    }
  }

  /** Closes the receiver's memory. {@return false if the GPU does not let go of it yet} */
  private boolean release(boolean first) {
    try {
      GrantPush pushing = push;
      if (pushing != null) pushing.close(Deadline.after(PATIENCE));
      AttachedCache open = attached;
      if (open != null) open.close();
      attached = null;
      return true;
    } catch (RuntimeException e) {
      if (first) {
        LOG.error(
            "{}: its memory cannot be closed yet, and is tried again and again: until then, or until this process ends,"
                + " the sender does not close and the receiver's blocks are not free",
            this, e);
      }
      return false;
    }
  }

  /** What is queued sees that the link ends. */
  private void runLeft() {
    for (Runnable next = work.poll(); next != null; next = work.poll())
      next.run();
  }

  private void push(Incoming grant, DeviceOffer offer) {
    String failure = "the link ends";
    boolean refused = false;
    GrantPush pushing = push;
    if (!ending && pushing != null && offer.begin()) {
      try {
        int ticket = sender.gate().enter("push");
        try {
          failure = pushing.move(grant, offer, ticket);
        } finally {
          sender.gate().exit(ticket); // before the commit: a receiver that does not read holds up no refit
        }
        if (failure.isEmpty() && !offer.moved()) failure = offer.reason();
        if (failure.isEmpty()) commit(grant, offer);
      } catch (GateClosedException refit) {
        failure = String.valueOf(refit.getMessage());
      } catch (IllegalArgumentException | IndexOutOfBoundsException | ClosedException other) { // nothing moves now
        refused = !pushing.hasMoved();
        failure = String.valueOf(other.getMessage());
      } catch (DeviceException | DeadlineException lost) {
        LOG.error("{}: {} is never answered: end this process, then the receiver has its blocks back", this,
            grant.pages.name(), lost);
        offer.cutOff(String.valueOf(lost.getMessage()));
        sender.changes().happened();
        return;
      } catch (RuntimeException | Error unknown) { // likewise, and the link ends
        offer.cutOff(String.valueOf(unknown));
        sender.changes().happened();
        throw unknown;
      }
    } else if (!ending) failure = offer.reason();
    if (!failure.isEmpty()) abort(grant, offer, refused, failure);
    sender.changes().happened();
  }

  boolean isEnding() {
    return ending;
  }

  /** Kernels of a grant have begun. */
  void awaitKernels() {
    channel.stayAwake(LinkChannel.AWAKE_NANOS);
  }

  /** While they run, on the link's thread. */
  void passTime() {
    if (ending) LockSupport.parkNanos(this, ENDING_NANOS);
    else {
      listen();
      channel.await(1);
    }
  }

  private void commit(Incoming grant, DeviceOffer offer) {
    UUID id = grant.pages.id();
    committed.put(id, offer);
    grants.remove(id);
    channel.send(new Commit(id));
  }

  private void abort(Incoming grant, DeviceOffer offer, boolean refused, String why) {
    offer.end(refused ? HandoverOutcome.REFUSED : HandoverOutcome.ABORTED, why);
    answer(grant, refused, why);
  }

  @Override
  public String toString() {
    Hello hello = receiver;
    return "device pages to " + (hello == null ? "an unknown receiver" : hello.life().toString());
  }
}

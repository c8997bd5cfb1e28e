package dev.gatun.transfer.device;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.Quiescable;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.DeviceException;
import dev.gatun.device.PagedCache;
import dev.gatun.device.SharedCache;
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
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The side whose paged cache receives pages from one {@link DeviceSender} of the same host and user, straight into its device
 * memory: grant, transfer, commit, all of one weight epoch.
 *
 * <p>The sender has the whole of the cache's allocations open, and writes what was granted to it. A refit takes every grant
 * back and does not wait for the sender: the blocks stay in quarantine until it has said that nothing of it moves any more, or
 * its process has ended. Usable by any thread. Longer than most classes because each of its few operations carries its
 * contract.
 */
public final class DeviceReceiver implements AutoCloseable, Quiescable {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceReceiver.class);
  // 10 ms: how late a lease that ends or a process that died is seen; unmeasured default
  private static final long LOOK_NANOS = 10_000_000;
  private static final Duration CLOSE_MAX = Duration.ofSeconds(10);

  private final LinkChannel channel;
  private final SharedCache shared;
  private final PagedCache cache;
  private final EpochGate gate;
  private final UUID instance = UUID.randomUUID();
  private final AtomicLong grants = new AtomicLong();
  private final Map<UUID, DeviceGrant> open = new ConcurrentHashMap<>();
  private final BitSet granted = new BitSet(); // under itself
  private final Changes changes = new Changes();
  private volatile @Nullable Hello sender;
  private volatile @Nullable Refused refused;
  private volatile boolean told; // where the memory is
  private volatile boolean ready;
  private volatile boolean bye;
  private volatile boolean gone;
  private volatile boolean closing;
  private volatile boolean closed;

  private DeviceReceiver(LinkChannel channel, SharedCache shared, PagedCache cache, EpochGate gate) {
    this.channel = channel;
    this.shared = shared;
    this.cache = cache;
    this.gate = gate;
  }

  /**
   * Lets a sender write into a cache. Blocks until the sender has opened its memory.
   *
   * @param socket where the sender listens
   * @param cache in memory of this process; stays the caller's and closes after this
   * @param gate shared by everything that a refit stops together
   * @param deadline when to give up; the cache's memory then stays shared until the sender has closed it or has ended
   * @return the receiver, registered with the gate; the caller closes it
   * @throws PeerRefusedException if the sender is another user's, or refuses, saying why
   * @throws IllegalArgumentException if memory of the cache goes beyond one allocation
   * @throws DeviceException if the driver does not share the cache's memory
   * @throws DeadlineException if the sender does not answer
   * @throws GatunException if nobody listens there
   */
  public static DeviceReceiver connect(Path socket, PagedCache cache, EpochGate gate, Deadline deadline) {
    LinkChannel channel = connected(socket);
    SharedCache shared;
    try {
      PeerUser.require(channel.channel(), ownUser());
      shared = SharedCache.share(cache);
    } catch (RuntimeException | Error e) {
      channel.close();
      throw e;
    }
    DeviceReceiver receiver = new DeviceReceiver(channel, shared, cache, gate);
    receiver.start();
    receiver.introduce(socket, deadline);
    gate.register(receiver);
    return receiver;
  }

  private static LinkChannel connected(Path socket) {
    try {
      return LinkChannel.connect(socket);
    } catch (ClosedByInterruptException interrupted) {
      throw new GatunException("connect " + socket + ": interrupted", interrupted);
    } catch (IOException e) {
      throw new GatunException("connect " + socket + ": no sender listens there: " + e.getMessage(), e);
    }
  }

  private static UserPrincipal ownUser() {
    try {
      return PeerUser.own();
    } catch (IOException e) {
      throw new GatunException("connect: the kernel does not say who this process is: " + e.getMessage(), e);
    }
  }

  private void start() {
    Thread.ofPlatform().daemon().name("gatun-device-answers").start(this::read);
    Thread.ofPlatform().daemon().name("gatun-device-receiver").start(this::watch);
  }

  private void introduce(Path socket, Deadline deadline) {
    channel.send(new Hello(instance, PeerLife.own(), gate.epoch()));
    if (changes.await(() -> sender != null || refused != null || gone, deadline) && sender != null) {
      told = true;
      channel.send(new Cache(shared.share()));
      changes.await(() -> ready || refused != null || gone, deadline);
    }
    if (ready) return;
    Refused why = refused;
    boolean ended = gone;
    closing = true; // the watch frees what the peer has let go of, or leaves behind
    if (told) channel.send(new Detach());
    else
      channel.close();
    // who was told of the memory may take its time to close it; without that it takes none
    boolean late = told && deadline.remainingNanos() < CLOSE_MAX.toNanos();
    changes.await(() -> closed, late ? deadline : Deadline.after(CLOSE_MAX));
    if (why != null) throw new PeerRefusedException(why.reason(), why.text());
    if (ended) {
      throw new PeerRefusedException(PeerRefusedException.Reason.OTHER_PROTOCOL,
          "the peer at " + socket + " ended the connection and said nothing");
    }
    throw new DeadlineException("connect " + socket + ": the sender has not opened the cache");
  }

  /**
   * Lets the sender fill blocks with the pages that it offers, or will offer, under a name. They hold nothing of use until the
   * grant is {@link HandoverOutcome#COMMITTED}. Does not block.
   *
   * @param name 1 to 256 characters, such as a transfer id
   * @param blocks of the cache, in the order in which the sender names its own; the caller's again once the grant is over
   * @param lease how long the sender has, above 0 and at most a day; then the grant is revoked
   * @return the grant
   * @throws dev.gatun.backend.GateClosedException if a refit is running
   * @throws dev.gatun.backend.EpochChangedException if a refit begins meanwhile; none is granted, as with the next
   * @throws IllegalStateException if a block is in a grant that is not over
   * @throws IllegalArgumentException if there are no blocks, or one is the null block, is none of the cache, or comes twice
   * @throws ClosedException if this is closed or the sender is gone
   */
  public DeviceGrant grant(String name, int[] blocks, Duration lease) {
    if (closing || gone || bye)
      throw new ClosedException("grant refused: " + name() + " is closed or its sender is gone");
    Deadline expires = Deadline.ofLease(lease);
    LinkMessage.requireName(name);
    LinkMessage.requireBlocks(blocks.length);
    int ticket = gate.enter("grant");
    try {
      int[] own = blocks.clone();
      WeightEpoch epoch = gate.epoch(ticket); // refuses before blocks are taken
      take(own);
      DeviceGrant grant = new DeviceGrant(this, nextId(), name, own, epoch, expires);
      synchronized (grant) { // whoever takes it back does so behind this: a revoke never comes before its grant
        open.put(grant.id(), grant);
        channel.send(new Pages(grant.id(), grant.epoch(), name, own));
      }
      channel.stayAwake(LinkChannel.AWAKE_NANOS);
      channel.wake();
      if (gone) grant.cutOff("the sender is gone"); // it went meanwhile, and the reader has not seen this one
      if (closed) endAll("the receiver is closed"); // likewise, and the watch has ended
      return grant;
    } finally {
      gate.exit(ticket);
    }
  }

  /** Counted from a number that is this receiver's alone: a random one for each takes long to make. */
  private UUID nextId() {
    return new UUID(instance.getMostSignificantBits(), instance.getLeastSignificantBits() + grants.incrementAndGet());
  }

  private void take(int[] blocks) {
    for (int block : blocks)
      LinkMessage.requireBlock(block, cache.layout());
    synchronized (granted) {
      for (int i = 0; i < blocks.length; i++) {
        if (!granted.get(blocks[i])) granted.set(blocks[i]);
        else
          refuse(blocks, i);
      }
    }
  }

  /** Gives those before one back that is granted already, to another grant or to this. */
  private void refuse(int[] blocks, int at) {
    int[] before = Arrays.copyOf(blocks, at);
    for (int block : before)
      granted.clear(block);
    if (granted.get(blocks[at])) throw new IllegalStateException("block is in a grant that is not over: " + blocks[at]);
    throw new IllegalArgumentException("blocks must come once each: " + blocks[at]);
  }

  /**
   * {@return whether the sender may still write a block}
   *
   * @param block of the cache
   */
  public boolean isGranted(int block) {
    synchronized (granted) {
      return granted.get(block);
    }
  }

  /** {@return grants that are not over, those included that ended under a sender that may not have stopped} */
  public int open() {
    return open.size();
  }

  /** {@return whether the sender's end of the connection is gone} */
  public boolean isSenderGone() {
    return gone;
  }

  @Override
  public String name() {
    return "device pages from " + sender();
  }

  private String sender() {
    Hello hello = sender;
    return hello == null ? "an unknown sender" : hello.life().toString();
  }

  /** Takes every grant back: they are of old weights. */
  @Override
  public int failQueued() {
    return takeAllBack("a refit took it back");
  }

  private int takeAllBack(String why) {
    int count = open();
    open.values().forEach(grant -> grant.takeBack(why));
    return count;
  }

  /** Nothing to wait for: what the sender may still write lands in quarantine. */
  @Override
  public List<String> drain(Deadline deadline) {
    return List.of();
  }

  /** Again, since a grant may have slipped in before the gate closed. */
  @Override
  public void clearLocal() {
    failQueued();
  }

  /**
   * Takes every grant back, has the sender close the memory, and ends the share. Blocks. Idempotent; after a deadline it can be
   * called again.
   *
   * @param deadline when to give up
   * @return what is pending, one line each; empty once the sender has closed the memory or has ended. Until then the memory is
   *     not freed, and its slabs do not close
   */
  public List<String> close(Deadline deadline) {
    if (!closing) {
      closing = true;
      takeAllBack("the receiver is closed");
      channel.send(new Detach());
    }
    if (changes.await(() -> closed, deadline)) return List.of();
    return List.of(sender() + " has not closed the cache" + (open() > 0 ? ", " + open() + " grants are not over" : ""));
  }

  /** Closes within 10 seconds, and logs what is pending if that is not enough: it then ends by itself when it can. */
  @Override
  public void close() {
    List<String> pending = close(Deadline.after(CLOSE_MAX));
    if (!pending.isEmpty()) LOG.warn("{} is not closed, pending: {}", name(), pending);
  }

  Changes changes() {
    return changes;
  }

  void tellRevoked(DeviceGrant grant) {
    channel.send(new Revoke(grant.id()));
    changes.happened();
  }

  private void read() {
    try {
      for (LinkMessage message = channel.receive(); message != null; message = channel.receive()) {
        take(message);
        changes.happened();
      }
    } catch (IllegalArgumentException bad) {
      LOG.warn("{}: {}", name(), bad.getMessage());
    } finally {
      gone = true;
      open.values().forEach(grant -> grant.cutOff("the sender is gone"));
      changes.happened();
    }
  }

  private void take(LinkMessage message) {
    switch (message) {
      case Hello hello -> hear(hello);
      case Ready now -> ready = sender != null;
      case Refused no -> refused = no;
      case Commit commit -> {
        DeviceGrant grant = ended(commit.id());
        channel.send(new Verdict(commit.id(), grant != null && grant.committed(isCurrent(grant))));
      }
      case Aborted aborted -> {
        DeviceGrant grant = ended(aborted.id());
        if (grant != null) grant.aborted(aborted.refused(), aborted.text());
      }
      case Bye end -> bye = true;
      default -> throw new IllegalArgumentException("a sender does not say " + message.getClass().getSimpleName());
    }
  }

  private void hear(Hello hello) {
    if (sender != null) throw new IllegalArgumentException("a sender says hello once");
    if (hello.life().isKnown()) sender = hello;
    else
      refused = new Refused(PeerRefusedException.Reason.OTHER_PROCESS,
          "the sender says that it is " + hello.life()
              + ", which this process does not see: its end could not be seen");
  }

  private boolean isCurrent(DeviceGrant grant) {
    return gate.state() == EpochGate.State.OPEN && grant.epoch().equals(gate.epoch());
  }

  /** Gives the blocks of a grant back, before the grant says that it is over. */
  private @Nullable DeviceGrant ended(UUID id) {
    DeviceGrant grant = open.remove(id);
    if (grant == null) return null;
    synchronized (granted) {
      for (int block : grant.blocks())
        granted.clear(block);
    }
    return grant;
  }

  private void watch() {
    while (!closed) {
      look();
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
  }

  /** Leases end, a sender that is gone is seen to have ended, and what nobody uses is closed. */
  private void look() {
    try {
      open.values().stream().filter(DeviceGrant::hasExpired).forEach(grant -> grant.takeBack("its lease has ended"));
      if (!cannotWrite()) return;
      endAll("the sender is gone");
      if (closing) free();
      changes.happened();
    } catch (RuntimeException e) {
      LOG.error("{}: looked at again", name(), e);
    }
  }

  /** Nobody can write any more. */
  private void endAll(String why) {
    for (UUID id : open.keySet()) {
      DeviceGrant grant = ended(id);
      if (grant != null) grant.aborted(false, why);
    }
  }

  /** Whether the sender has closed the memory, was never told of it, or has ended. */
  private boolean cannotWrite() {
    if (bye) return true;
    Hello hello = sender;
    return gone && (!told || hello == null || hello.life().hasEnded());
  }

  private void free() {
    if (closed) return;
    channel.close();
    shared.close();
    gate.unregister(this);
    closed = true;
    endAll("the receiver is closed"); // a grant that slipped in
  }
}

package dev.gatun.transfer.device;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.Quiescable;
import dev.gatun.device.AttachedCache;
import dev.gatun.device.CacheShare;
import dev.gatun.device.Completion;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.PageCopy;
import dev.gatun.device.PagePush;
import dev.gatun.device.PagedCache;
import dev.gatun.device.StreamPriority;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The side that writes pages of its paged cache straight into the caches of {@link DeviceReceiver}s of the same host and user, by
 * one kernel for up to {@value #PUSH_PAGES} pages. Layouts and tensor-parallel degrees of the two may differ.
 *
 * <p>Listens on a Unix socket. Who connects is asked of the kernel, and refused if it is another user. Registered with the gate:
 * a refit waits for pushes that run, and ends every offer. Usable by any thread. Longer than most classes because each of its few
 * operations carries its contract.
 */
public final class DeviceSender implements AutoCloseable, Quiescable {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceSender.class);
  /** Pages of one kernel; between two of them a revoke is heeded. 16 MiB at 16 KiB a page; unmeasured default. */
  static final int PUSH_PAGES = 1024;
  private static final long LOOK_NANOS = 10_000_000; // as the receiver's
  // 1 s: out of file descriptors, as a rule, which takes others to change; unmeasured default
  private static final long ACCEPT_AGAIN_NANOS = 1_000_000_000;
  private static final Duration CLOSE_MAX = Duration.ofSeconds(10);

  private final ListeningSocket socket;
  private final UserPrincipal user;
  private final PagedCache cache;
  private final EpochGate gate;
  private final Device gpu;
  private final DeviceStream stream;
  private final PageCopy kernels;
  private final UUID instance = UUID.randomUUID();
  private final Matches matches = new Matches();
  private final Changes changes = new Changes();
  private final Set<SenderLink> links = ConcurrentHashMap.newKeySet();
  private final ReentrantLock ending = new ReentrantLock();
  private volatile boolean closing;
  private volatile boolean closed;

  private DeviceSender(ListeningSocket socket, UserPrincipal user, PagedCache cache, EpochGate gate) {
    this.socket = socket;
    this.user = user;
    this.cache = cache;
    this.gate = gate;
    gpu = cache.memory().getFirst().device();
    cache.memory().forEach(slab -> {
      if (slab.device().equals(gpu)) return;
      throw new IllegalArgumentException("cache must be on one GPU: " + slab + " and " + cache.memory().getFirst());
    });
    stream = gpu.newStream("device pages", StreamPriority.LOW);
    try {
      kernels = PageCopy.load(gpu);
    } catch (RuntimeException | Error e) {
      stream.close();
      throw e;
    }
  }

  /**
   * Listens for receivers. Blocks while the driver translates the kernels.
   *
   * @param socket a path that does not exist, of 100 bytes or less, in a folder of this user's own
   * @param cache in memory of this process; stays the caller's and closes after this
   * @param gate shared by everything that a refit stops together
   * @return the sender, registered with the gate; the caller closes it
   * @throws IllegalArgumentException if the cache is on more than one GPU
   * @throws GatunException if the socket cannot be made
   * @throws dev.gatun.device.DeviceException if there is not enough device memory
   */
  public static DeviceSender listen(Path socket, PagedCache cache, EpochGate gate) {
    UserPrincipal user;
    ListeningSocket listening;
    try {
      user = PeerUser.own();
      listening = ListeningSocket.bind(socket);
    } catch (ClosedByInterruptException interrupted) {
      throw new GatunException("listen " + socket + ": interrupted", interrupted);
    } catch (IOException e) {
      throw new GatunException("listen " + socket + ": " + e.getMessage()
          + "; name a new file of a short path in a folder of your own", e);
    }
    DeviceSender sender;
    try {
      sender = new DeviceSender(listening, user, cache, gate);
    } catch (RuntimeException | Error e) {
      close(listening);
      throw e;
    }
    Thread.ofPlatform().daemon().name("gatun-device-accept").start(sender::accept);
    Thread.ofPlatform().daemon().name("gatun-device-sender").start(sender::watch);
    gate.register(sender);
    return sender;
  }

  /** {@return where it listens} */
  public Path socket() {
    return socket.path();
  }

  /**
   * Offers pages to the receiver that asks for them by name, before or after. Does not block.
   *
   * @param name 1 to 256 characters, such as a transfer id; of no open offer
   * @param blocks of the cache, in the order in which the receiver names its own; not written until the offer is over
   * @param ready done once the pages are made, and standing for nothing else until the offer is over
   * @param lease how long nobody may come, above 0 and at most a day; then the offer ends
   * @return the offer
   * @throws dev.gatun.backend.GateClosedException if a refit is running
   * @throws dev.gatun.backend.EpochChangedException if a refit begins meanwhile; nothing is offered
   * @throws IllegalStateException if there is an open offer of that name
   * @throws IllegalArgumentException if there are no blocks, one is the null block or none of the cache, or {@code ready} is of
   *     another {@link Device} than the cache
   * @throws ClosedException if this is closed
   */
  public DeviceOffer offer(String name, int[] blocks, Completion ready, Duration lease) {
    if (closing) throw new ClosedException("offer refused: " + name() + " is closed");
    Deadline expires = Deadline.ofLease(lease);
    LinkMessage.requireName(name);
    LinkMessage.requireBlocks(blocks.length);
    for (int block : blocks)
      LinkMessage.requireBlock(block, cache.layout());
    if (!ready.device().equals(gpu)) {
      throw new IllegalArgumentException("ready must be of the cache's " + gpu + ": " + ready);
    }
    int ticket = gate.enter("offer");
    try {
      DeviceOffer offer = new DeviceOffer(this, name, blocks.clone(), ready, gate.epoch(ticket), expires);
      Incoming asking = matches.offered(offer);
      if (asking != null) asking.link.carry(asking, offer);
      if (closing) withdraw(offer, "the sender is closed"); // it closed meanwhile, and has not seen this one
      return offer;
    } finally {
      gate.exit(ticket);
    }
  }

  /** {@return receivers whose memory this process has open} */
  public int attached() {
    return (int) links.stream().filter(SenderLink::hasAttached).count();
  }

  /** {@return offers that nobody has asked for} */
  public int offers() {
    return matches.offers();
  }

  @Override
  public String name() {
    return "device pages at " + socket().getFileName();
  }

  /** Ends every offer, and every grant that waits for one: they are of old weights. */
  @Override
  public int failQueued() {
    return endAll("a refit ended it");
  }

  private int endAll(String why) {
    int count = matches.offers();
    for (Incoming grant : matches.clear(why))
      grant.link.refuse(grant, why);
    changes.happened();
    return count;
  }

  /** Nothing to wait for: whoever pushes is inside the gate. */
  @Override
  public List<String> drain(Deadline deadline) {
    return List.of();
  }

  /** Again, since an offer may have slipped in before the gate closed. */
  @Override
  public void clearLocal() {
    failQueued();
  }

  /**
   * Ends every offer, waits for what the GPU has begun, and closes the receivers' memory. Blocks. Idempotent; after a deadline it
   * can be called again.
   *
   * @param deadline when to give up
   * @return what is pending, one line each; empty once it is closed and no memory of a receiver is open
   * @throws dev.gatun.device.DeviceException if the driver refuses
   */
  public List<String> close(Deadline deadline) {
    beginClosing();
    changes.await(links::isEmpty, deadline);
    List<String> pending = links.stream().map(SenderLink::toString).toList();
    if (!pending.isEmpty()) return pending;
    if (!beginEnding(deadline)) return List.of(name() + " is being closed by another thread");
    try {
      kernels.close(deadline);
      stream.close(deadline);
      gate.unregister(this);
      closed = true;
      return List.of();
    } catch (InUseException busy) {
      return List.of(String.valueOf(busy.getMessage()));
    } finally {
      ending.unlock();
    }
  }

  private boolean beginEnding(Deadline deadline) {
    if (ending.tryLock()) return true; // also for a thread that is interrupted
    try {
      return ending.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private synchronized void beginClosing() {
    if (closing) return;
    closing = true;
    close(socket);
    endAll("the sender is closed");
    links.forEach(SenderLink::end);
  }

  /** Closes within 10 seconds, and logs what is pending if that is not enough. */
  @Override
  public void close() {
    List<String> pending = close(Deadline.after(CLOSE_MAX));
    if (!pending.isEmpty()) LOG.warn("{} is not closed, pending: {}", name(), pending);
  }

  private void accept() {
    while (!closing) {
      try {
        SenderLink link = new SenderLink(this, new LinkChannel(socket.accept()));
        links.add(link);
        link.start();
        if (closing) link.end();
      } catch (IOException e) {
        if (closing) return;
        LOG.error("{}: a receiver could not connect", name(), e);
        LockSupport.parkNanos(this, ACCEPT_AGAIN_NANOS);
      }
    }
  }

  private void watch() {
    while (!closed) {
      look();
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
  }

  private void look() {
    try {
      matches.expire();
      links.forEach(SenderLink::look);
      changes.happened();
    } catch (RuntimeException e) {
      LOG.error("{}: looked at again", name(), e);
    }
  }

  private static void close(ListeningSocket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      LOG.warn("{} is left behind: {}", socket.path(), e.getMessage());
    }
  }

  /** Whether the GPU has pages to move. */
  boolean isPushing() {
    return !stream.isIdle();
  }

  void withdraw(DeviceOffer offer, String why) {
    matches.forget(offer);
    offer.takeBack(why);
    changes.happened();
  }

  void forget(SenderLink link) {
    links.remove(link);
    changes.happened();
  }

  /** Opens a receiver's memory. */
  AttachedCache attach(CacheShare share) {
    return AttachedCache.attach(gpu, "receiver", share);
  }

  /** Plans the way into a receiver's cache. */
  PagePush open(PagedCache target) {
    return PagePush.open(kernels, stream, cache, target, PUSH_PAGES);
  }

  UserPrincipal user() {
    return user;
  }

  UUID instance() {
    return instance;
  }

  EpochGate gate() {
    return gate;
  }

  Matches matches() {
    return matches;
  }

  Changes changes() {
    return changes;
  }
}

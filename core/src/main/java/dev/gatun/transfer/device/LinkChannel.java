package dev.gatun.transfer.device;

import dev.gatun.backend.Deadline;
import dev.gatun.transfer.device.LinkMessage.Ring;
import dev.gatun.transfer.device.LinkMessage.RingNext;
import dev.gatun.transfer.device.LinkMessage.RingOpen;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages over a connected Unix socket and, once both sides have each other's open, through a {@link LinkRing} each way. Then
 * the socket says that the peer is gone, and wakes who sleeps. Any thread sends, and never waits: what is not taken at once
 * goes when it is. The socket is never in blocking mode, in which an interrupt of whoever sends would close it. One thread
 * receives. Longer than most classes because sending and receiving share the socket's one selector.
 */
final class LinkChannel implements AutoCloseable {
  /**
   * 20 ms: threads that wait for pages which move do not sleep for so long, since each takes some 100 us to wake on a host of
   * H200s. Two of those move 5 GB in 14 ms.
   */
  static final long AWAKE_NANOS = 20_000_000;
  private static final Logger LOG = LoggerFactory.getLogger(LinkChannel.class);
  // blocks of the largest grant and a little; what is longer is no message of ours
  private static final int MESSAGE_MAX = LinkMessage.BLOCKS_MAX * Integer.BYTES + 4096;
  // a grant of 1,000 blocks with room for others; grows for larger ones
  private static final int ROOM_BYTES = 16_384;

  // 1 ms: between two looks at what else there is to wait for; unmeasured default
  private static final long ENDED_NANOS = 1_000_000;
  private static final long FULL_MILLIS = 1; // likewise, at a ring that is full
  // looks at a ring that is empty, some 1 us each, for one at the socket; unmeasured default
  private static final int LOOKS = 64;
  // what wakes is read so many at a time
  private static final int WAKES_MAX = 64;

  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;
  private final @Nullable LinkRing out;
  private final Queue<Frame> unsent = new ArrayDeque<>(); // under itself, as every write
  private boolean ringed; // under unsent: what is sent goes through the ring
  private boolean cut; // under unsent: what was sent last may have gone in part, so nothing more goes
  // the receiving thread's, to the next blank line
  private ByteBuffer received = ByteBuffer.allocate(ROOM_BYTES);
  private final ByteBuffer wakes = ByteBuffer.allocateDirect(WAKES_MAX);
  private volatile @Nullable LinkRing opened;
  private @Nullable LinkRing in; // the opened one, once the peer writes there
  private boolean ringNamed;
  private int looks;
  private boolean ended;

  private volatile long awakeUntilNanos = System.nanoTime();
  private volatile boolean asleep;
  private volatile boolean woken;
  private volatile boolean closed;

  /** A message on its way, through the ring or the socket. */
  private record Frame(ByteBuffer bytes, boolean ringed) {}

  /** Takes over a connected channel, also if it throws. */
  LinkChannel(SocketChannel channel) throws IOException {
    this.channel = channel;
    try {
      channel.configureBlocking(false);
      selector = Selector.open();
      key = channel.register(selector, SelectionKey.OP_READ);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
    out = LinkRing.create();
    if (out != null) send(new Ring(out.path(), out.token()));
  }

  static LinkChannel connect(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(socket));
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
    return new LinkChannel(channel);
  }

  SocketChannel channel() {
    return channel;
  }

  /** Sends, in the order of the calls. Does not wait. Whoever receives learns of a peer that is gone. */
  void send(LinkMessage message) {
    send(message.encode(), message instanceof RingNext);
  }

  /** Sends what may be no message. */
  void send(byte[] bytes, boolean lastOfSocket) {
    ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + bytes.length).putInt(bytes.length).put(bytes).flip();
    synchronized (unsent) {
      if (cut) return;
      unsent.add(new Frame(frame, ringed));
      ringed |= lastOfSocket;
      write();
      if (!unsent.isEmpty()) wake(); // the thread that receives sends the rest
    }
  }

  /** {@return whether what is sent goes through memory that the peer has open} */
  boolean isRinged() {
    synchronized (unsent) {
      return ringed;
    }
  }

  /** {@return whether all was sent by then, or the peer is gone} Blocks. */
  boolean flush(Deadline deadline) {
    for (Frame rest = sendRest(); rest != null; rest = sendRest()) {
      if (deadline.reached()) return false;
      select(rest.ringed ? 0 : SelectionKey.OP_WRITE, FULL_MILLIS);
    }
    return true;
  }

  /** {@return what is to be sent next, null if all was} */
  private @Nullable Frame sendRest() {
    synchronized (unsent) {
      write();
      return unsent.peek();
    }
  }

  /** Sends what is taken. Under the lock of what is unsent. */
  private void write() {
    try {
      for (Frame next = unsent.peek(); next != null; next = unsent.peek()) {
        if (next.ringed) writeRing(next.bytes);
        else
          channel.write(next.bytes);
        if (next.bytes.hasRemaining()) return;
        unsent.remove();
      }
    } catch (IOException gone) {
      cut = true;
      unsent.clear();
    }
  }

  private void writeRing(ByteBuffer bytes) throws IOException {
    LinkRing ring = Objects.requireNonNull(out);
    try {
      ring.write(bytes);
    } catch (IOException broken) {
      close(); // the thread that receives learns of it, which the socket would not tell
      throw broken;
    }
    // if there is no room for it, others are unread; one that does not read may be gone, which only the socket tells
    if (bytes.hasRemaining() || ring.isReaderAsleep()) channel.write(ByteBuffer.allocate(1));
  }

  /** Who waits from now on looks again and again for so long before it sleeps: it takes long to wake. */
  void stayAwake(long nanos) {
    long until = System.nanoTime() + nanos;
    if (until - awakeUntilNanos > 0) awakeUntilNanos = until;
  }

  /** Ends the wait of the thread that receives, or the next one. */
  void wake() {
    woken = true;
    if (asleep) selector.wakeup();
  }

  /**
   * {@return the next message, null if there is none now}
   *
   * @throws IllegalArgumentException if it is none of ours
   */
  @Nullable
  LinkMessage poll() {
    while (!ended) {
      LinkMessage message = next();
      if (message instanceof Ring || message instanceof RingOpen || message instanceof RingNext) takeOwn(message);
      else if (message != null) return message;
      else if (!fill()) return null;
    }
    return null;
  }

  /** Takes what the peer's channel says to this one. */
  private void takeOwn(LinkMessage message) {
    if (message instanceof Ring ring) {
      open(ring);
    } else if (message instanceof RingOpen) {
      if (out == null || isRinged()) throw new IllegalArgumentException("a peer opens a ring that there is, once");
      send(new RingNext());
    } else {
      if (opened == null || in != null) throw new IllegalArgumentException("a peer uses a ring that was opened, once");
      in = opened;
      received.clear(); // what came behind it only wakes
    }
  }

  private void open(Ring named) {
    if (ringNamed) throw new IllegalArgumentException("a peer names its ring once");
    ringNamed = true;
    LinkRing ring = LinkRing.open(named.path(), named.token());
    if (ring == null) return;
    opened = ring;
    if (closed) ring.close(); // it was meanwhile, and has not seen this one
    send(new RingOpen());
  }

  /** Takes what has come. {@return false if that is nothing} */
  private boolean fill() {
    try {
      LinkRing ring = in;
      int read = ring == null ? channel.read(received) : read(ring);
      ended = read < 0;
      return read != 0;
    } catch (IOException gone) {
      ended = true;
      return true;
    }
  }

  /** The ring first, and now and then the socket: whether the peer is gone. */
  private int read(LinkRing ring) throws IOException {
    int read = ring.read(received);
    if (read > 0 || looks++ % LOOKS != 0 || !isPeerGone()) return read;
    read = ring.read(received); // written before it went
    return read > 0 ? read : -1;
  }

  private boolean isPeerGone() {
    try {
      return channel.read(wakes.clear()) < 0;
    } catch (IOException reset) { // it went and had not read what wakes it
      return true;
    }
  }

  /** {@return a message that is here as a whole} Makes room for the rest of one that is not. */
  private @Nullable LinkMessage next() {
    int here = received.position();
    if (here < Integer.BYTES) return null;
    int bytes = received.getInt(0);
    if (bytes < 1 || bytes > MESSAGE_MAX) {
      throw new IllegalArgumentException("message must have 1 to " + MESSAGE_MAX + " bytes: " + bytes);
    }
    int frame = Integer.BYTES + bytes;
    if (here < frame) {
      if (received.capacity() < frame) received = ByteBuffer.allocate(frame).put(received.flip());
      return null;
    }
    byte[] message = new byte[bytes];
    received.flip().position(Integer.BYTES).get(message);
    received.compact();
    return LinkMessage.decode(message);
  }

  /** {@return whether no message comes any more} */
  boolean isEnded() {
    return ended;
  }

  /**
   * Waits for a message.
   *
   * @return the message, null at the end
   * @throws IllegalArgumentException if it is none of ours
   */
  @Nullable
  LinkMessage receive() {
    LinkMessage message = poll();
    for (; message == null && !ended; message = poll())
      await(0);
    return message;
  }

  /**
   * Passes some time: little while it is to stay awake, else until there is something to read, it is woken, or so much has
   * passed.
   *
   * @param millisMax 0 for as long as it takes
   */
  @SuppressWarnings("ThreadPriorityCheck") // on few cores whoever is waited for must get one at once
  void await(long millisMax) {
    Frame rest = sendRest();
    if (!ended && System.nanoTime() - awakeUntilNanos < 0) {
      Thread.yield();
      return;
    }
    asleep = true;
    LinkRing ring = in;
    if (ring != null) ring.setAsleep(true);
    if (!woken && (ring == null || ring.isEmpty())) {
      if (rest == null) select(SelectionKey.OP_READ, millisMax);
      else
        select(rest.ringed ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE, FULL_MILLIS);
    }
    if (ring != null) ring.setAsleep(false);
    asleep = false;
    woken = false;
    looks = 0; // what wakes came through the socket
  }

  private void select(int operations, long millisMax) {
    if (ended) { // the socket is ready for ever
      LockSupport.parkNanos(this, ENDED_NANOS);
      return;
    }
    try {
      key.interestOps(operations);
      selector.select(selected -> {}, millisMax);
    } catch (CancelledKeyException | ClosedSelectorException closed) {
      ended = true;
    } catch (IOException e) {
      LOG.error("a link ends: its socket cannot be waited for", e);
      ended = true;
    }
  }

  @Override
  public void close() {
    closed = true;
    LinkRing reading = opened;
    if (reading != null) reading.close();
    if (out != null) out.close();
    try {
      channel.close();
      selector.close();
    } catch (IOException e) {
      // it is closed all the same
    }
  }
}

package dev.gatun.transfer.device;

import dev.gatun.backend.Deadline;
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
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages over a connected Unix socket. Any thread sends, and never waits: what the socket does not take at once goes when it
 * does. It is never in blocking mode, in which an interrupt of whoever sends would close it. One thread receives. Longer than
 * most classes because sending and receiving share the socket's one selector.
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

  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;
  private final Queue<ByteBuffer> unsent = new ArrayDeque<>(); // under itself, as every write
  private ByteBuffer received = ByteBuffer.allocate(ROOM_BYTES); // the receiving thread's, as ended
  private boolean ended;
  private volatile long awakeUntilNanos = System.nanoTime();

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
    byte[] bytes = message.encode();
    ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + bytes.length).putInt(bytes.length).put(bytes).flip();
    synchronized (unsent) {
      unsent.add(frame);
      write();
      if (!unsent.isEmpty()) selector.wakeup(); // the thread that receives sends the rest
    }
  }

  /** {@return whether all was sent by then, or the peer is gone} Blocks. */
  boolean flush(Deadline deadline) {
    while (!trySendRest()) {
      if (deadline.reached()) return false;
      select(SelectionKey.OP_WRITE, 1);
    }
    return true;
  }

  private boolean trySendRest() {
    synchronized (unsent) {
      write();
      return unsent.isEmpty();
    }
  }

  /** Sends what the socket takes. Under the lock of what is unsent. */
  private void write() {
    try {
      for (ByteBuffer next = unsent.peek(); next != null; next = unsent.peek()) {
        channel.write(next);
        if (next.hasRemaining()) return;
        unsent.remove();
      }
    } catch (IOException gone) {
      unsent.clear();
    }
  }

  /** Who waits from now on looks again and again for so long before it sleeps: it takes long to wake. */
  void stayAwake(long nanos) {
    long until = System.nanoTime() + nanos;
    if (until - awakeUntilNanos > 0) awakeUntilNanos = until;
  }

  /** Ends the wait of the thread that receives, or the next one. */
  void wake() {
    selector.wakeup();
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
      if (message != null) return message;
      try {
        int read = channel.read(received);
        if (read == 0) return null;
        ended = read < 0;
      } catch (IOException gone) {
        ended = true;
      }
    }
    return null;
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
    boolean all = trySendRest();
    if (!ended && System.nanoTime() - awakeUntilNanos < 0) Thread.yield();
    else
      select(all ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE, millisMax);
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
    try {
      channel.close();
      selector.close();
    } catch (IOException e) {
      // it is closed all the same
    }
  }
}

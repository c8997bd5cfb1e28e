package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import dev.gatun.transfer.Attempt;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One connection to a peer's worker side. One thread asks; another may {@link #close} it to end the wait. */
final class PeerConnection implements AutoCloseable {
  private final SocketChannel channel;
  private final InetSocketAddress address;
  private final DataInputStream in;
  private final DataOutputStream out;
  private @Nullable PeerInstance peer;
  private @Nullable Attempt next;

  private PeerConnection(SocketChannel channel, InetSocketAddress address, Deadline deadline) throws IOException {
    this.channel = channel;
    this.address = address;
    try {
      Socket socket = channel.socket();
      socket.setTcpNoDelay(true);
      socket.connect(address, millis(deadline));
      in = new DataInputStream(socket.getInputStream());
      out = new DataOutputStream(socket.getOutputStream());
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /** Connects, and does not wait for the other side's first word. */
  static PeerConnection open(HostPort peer, Deadline deadline) throws IOException {
    return open(resolved(peer), deadline);
  }

  static PeerConnection open(InetSocketAddress address, Deadline deadline) throws IOException {
    return new PeerConnection(SocketChannel.open(), address, deadline);
  }

  /** Connects for a load, which may be ended meanwhile. */
  static PeerConnection open(HostPort peer, Deadline deadline, RunningLoad load) throws IOException {
    SocketChannel channel = SocketChannel.open();
    load.waits(() -> close(channel));
    return new PeerConnection(channel, resolved(peer), deadline);
  }

  @SuppressWarnings("AddressSelection") // one address is as good as another: the peer registered it
  private static InetSocketAddress resolved(HostPort peer) {
    return new InetSocketAddress(peer.host(), peer.port());
  }

  /** Who answers: waits for the first word, once. */
  PeerInstance peer(Deadline deadline) throws IOException {
    PeerInstance known = peer;
    if (known != null) return known;
    if (!(read(deadline) instanceof PeerMessage.Hello hello)) {
      throw new IOException("what listens at " + address + " is no worker side");
    }
    PeerInstance learnt = new PeerInstance(address, hello.instance());
    peer = learnt;
    next = hello.attempt();
    return learnt;
  }

  /** {@return what a push into room that is granted now will be, null if the first word was not waited for yet} */
  @Nullable
  Attempt nextAttempt() {
    Attempt now = next;
    if (now != null) next = now.next();
    return now;
  }

  /** Asks and waits for the answer. */
  PeerMessage ask(PeerMessage message, Deadline deadline) throws IOException {
    PeerMessage.write(out, message);
    peer(deadline);
    return read(deadline);
  }

  private PeerMessage read(Deadline deadline) throws IOException {
    channel.socket().setSoTimeout(millis(deadline));
    return PeerMessage.read(in);
  }

  /**
   * Whether the peer has said nothing since its last answer, and not ended the connection. Does not wait. Only while no
   * question is open.
   */
  boolean isQuiet() {
    try {
      return isQuiet(channel);
    } catch (IOException gone) {
      return false;
    }
  }

  /** Whether nothing has come, the end included; what has come is lost. */
  static boolean isQuiet(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    int read = channel.read(ByteBuffer.allocate(1));
    channel.configureBlocking(true);
    return read == 0;
  }

  boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public void close() {
    close(channel);
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException gone) {
      // it is closed either way
    }
  }

  /** At least 1, since 0 means for ever to a socket. */
  private static int millis(Deadline deadline) throws SocketTimeoutException {
    if (deadline.reached()) throw new SocketTimeoutException("the deadline came");
    return Math.clamp(TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos()), 1, Integer.MAX_VALUE);
  }
}

package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;

/** One connection to a peer's worker side. One thread asks; another may {@link #close} it to end the wait. */
final class PeerConnection implements AutoCloseable {
  private final Socket socket = new Socket();
  private final DataInputStream in;
  private final DataOutputStream out;
  private final PeerInstance peer;

  private PeerConnection(InetSocketAddress address, Deadline deadline) throws IOException {
    try {
      socket.setTcpNoDelay(true);
      socket.connect(address, millis(deadline));
      in = new DataInputStream(socket.getInputStream());
      out = new DataOutputStream(socket.getOutputStream());
      socket.setSoTimeout(millis(deadline));
      if (!(PeerMessage.read(in) instanceof PeerMessage.Hello hello)) {
        throw new IOException("what listens at " + address + " is no worker side");
      }
      peer = new PeerInstance(address, hello.instance());
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** Connects, and learns who answers. */
  static PeerConnection open(HostPort peer, Deadline deadline) throws IOException {
    @SuppressWarnings("AddressSelection") // one address is as good as another: the peer registered it
    InetSocketAddress address = new InetSocketAddress(peer.host(), peer.port());
    return open(address, deadline);
  }

  static PeerConnection open(InetSocketAddress address, Deadline deadline) throws IOException {
    return new PeerConnection(address, deadline);
  }

  /** Who answers. */
  PeerInstance peer() {
    return peer;
  }

  /** Asks and waits for the answer. */
  PeerMessage ask(PeerMessage message, Deadline deadline) throws IOException {
    socket.setSoTimeout(millis(deadline));
    PeerMessage.write(out, message);
    return PeerMessage.read(in);
  }

  @Override
  public void close() {
    try {
      socket.close();
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

package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.gatun.backend.Deadline;
import dev.gatun.transfer.Lines;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Who counts as gone, so that blocks which it may have been writing are used again. */
class PeerInstanceTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static PeerServer server() {
    return PeerServer.start("127.0.0.1", Lines::open, question -> new PeerMessage.Done());
  }

  private static PeerInstance peer(PeerServer server) throws IOException {
    try (PeerConnection connection = PeerConnection.open(server.address(), Deadline.after(LIMIT))) {
      assertEquals(new PeerMessage.Done(), connection.ask(new PeerMessage.Forget("x"), Deadline.after(LIMIT)));
      return connection.peer(Deadline.after(LIMIT));
    }
  }

  @Test
  @DisplayName("each worker side is an instance of its own, the same on every connection")
  void instances() throws IOException {
    try (PeerServer one = server(); PeerServer other = server()) {
      assertEquals(peer(one), peer(one));
      assertNotEquals(peer(one).id(), peer(other).id());
      assertFalse(new PeerWatch(peer(one)).looksGone());
    }
  }

  @Test
  @DisplayName("K8.09 a peer is gone once its port refuses again and again, or is answered by another instance")
  void gone() throws IOException {
    PeerInstance peer;
    try (PeerServer server = server()) {
      peer = peer(server);
    }
    PeerWatch watch = new PeerWatch(peer);
    assertGoneAtLast(watch);
    try (ServerSocket next = new ServerSocket(peer.address().getPort(), 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> greet(next, UUID.randomUUID()));
      assertTrue(new PeerWatch(peer).looksGone());
    }
  }

  @Test
  @DisplayName("a port that refuses for a while, as behind a firewall that rejects, and is then its peer's again: not gone")
  void rejected() throws IOException {
    PeerInstance peer;
    try (PeerServer server = server()) {
      peer = peer(server);
    }
    PeerWatch watch = new PeerWatch(peer);
    for (int look = 1; look < PeerWatch.REFUSALS_MIN; look++)
      assertFalse(watch.looksGone(), "look " + look);
    try (ServerSocket again = new ServerSocket(peer.address().getPort(), 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> greet(again, peer.id()));
      assertFalse(watch.looksGone());
    }
    assertGoneAtLast(watch);
  }

  private static void assertGoneAtLast(PeerWatch watch) {
    for (int look = 1; look < PeerWatch.REFUSALS_MIN; look++)
      assertFalse(watch.looksGone(), "look " + look);
    assertTrue(watch.looksGone());
  }

  @Test
  @DisplayName("a peer that accepts and says nothing is not gone: it may be stopped, and go on writing")
  void silent() throws IOException {
    try (ServerSocket stopped = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      PeerInstance peer = new PeerInstance(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), stopped.getLocalPort()), UUID.randomUUID());
      assertFalse(new PeerWatch(peer).looksGone());
      try (PeerConnection connection = PeerConnection.open(peer.address(), Deadline.after(LIMIT))) {
        assertThrows(SocketTimeoutException.class, () -> connection.peer(Deadline.after(Duration.ofMillis(1))));
      }
    }
  }

  @Test
  @DisplayName("K6.12 a port that cannot be had leaves no socket behind")
  void refused() {
    UnixOperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class);
    // an address for documentation, which no interface has
    assertThrows(IllegalStateException.class, () -> PeerServer.start("192.0.2.1", Lines::open, question -> question));
    long before = system.getOpenFileDescriptorCount();
    for (int i = 0; i < 50; i++)
      assertThrows(IllegalStateException.class, () -> PeerServer.start("192.0.2.1", Lines::open, question -> question));
    long left = system.getOpenFileDescriptorCount() - before;
    assertTrue(left < 25, () -> left + " left");
  }

  private static void greet(ServerSocket next, UUID instance) {
    try (Socket accepted = next.accept()) {
      PeerMessage.write(new DataOutputStream(accepted.getOutputStream()),
          new PeerMessage.Hello(instance, Lines.ATTEMPT));
      accepted.getInputStream().read();
    } catch (IOException end) {
      // whoever asked is answered, or has seen that nobody does
    }
  }
}

package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import java.io.DataOutputStream;
import java.io.IOException;
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
    return PeerServer.start("127.0.0.1", question -> new PeerMessage.Done());
  }

  private static PeerInstance peer(PeerServer server) throws IOException {
    try (PeerConnection connection = PeerConnection.open(server.address(), Deadline.after(LIMIT))) {
      assertEquals(new PeerMessage.Done(), connection.ask(new PeerMessage.Forget("x"), Deadline.after(LIMIT)));
      return connection.peer();
    }
  }

  @Test
  @DisplayName("each worker side is an instance of its own, the same on every connection")
  void instances() throws IOException {
    try (PeerServer one = server(); PeerServer other = server()) {
      assertEquals(peer(one), peer(one));
      assertNotEquals(peer(one).id(), peer(other).id());
      assertFalse(Revocations.isGone(peer(one)));
    }
  }

  @Test
  @DisplayName("K8.09 a peer is gone once its port refuses, or is answered by another instance")
  void gone() throws IOException {
    PeerInstance peer;
    try (PeerServer server = server()) {
      peer = peer(server);
    }
    assertTrue(Revocations.isGone(peer));
    try (ServerSocket next = new ServerSocket(peer.address().getPort(), 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> greet(next, UUID.randomUUID()));
      assertTrue(Revocations.isGone(peer));
    }
  }

  @Test
  @DisplayName("a peer that accepts and says nothing is not gone: it may be stopped, and go on writing")
  void silent() throws IOException {
    try (ServerSocket stopped = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      PeerInstance peer = new PeerInstance(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), stopped.getLocalPort()), UUID.randomUUID());
      assertFalse(Revocations.isGone(peer));
      assertThrows(SocketTimeoutException.class,
          () -> PeerConnection.open(peer.address(), Deadline.after(Duration.ofMillis(1))));
    }
  }

  private static void greet(ServerSocket next, UUID instance) {
    try (Socket accepted = next.accept()) {
      PeerMessage.write(new DataOutputStream(accepted.getOutputStream()), new PeerMessage.Hello(instance));
      accepted.getInputStream().read();
    } catch (IOException end) {
      // whoever asked is answered, or has seen that nobody does
    }
  }
}

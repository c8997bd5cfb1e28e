package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import dev.gatun.connector.P2pPlan.Load;
import dev.gatun.connector.P2pPlan.Source;
import dev.gatun.testing.Await;
import dev.gatun.transfer.Lines;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Which connections a load is given, and which are closed. */
class PeerConnectionsTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int KEPT_MAX = 2;

  private final PeerConnections connections = new PeerConnections(KEPT_MAX);

  private static PeerServer server() {
    return PeerServer.start("127.0.0.1", Lines::open, question -> new PeerMessage.Done());
  }

  private static RunningLoad load(HostPort peer) {
    return new RunningLoad(new Load(1, "r", new Source("x", "e", "", peer), BlockTable.EMPTY, 0, 0));
  }

  private static PeerMessage ask(PeerConnection connection) throws IOException {
    return connection.ask(new PeerMessage.Forget("x"), Deadline.after(LIMIT));
  }

  private PeerConnection take(HostPort peer) throws IOException {
    return connections.take(peer, Deadline.after(LIMIT), load(peer));
  }

  private PeerConnection takeAndAsk(HostPort peer) throws IOException {
    PeerConnection connection = take(peer);
    assertEquals(new PeerMessage.Done(), ask(connection));
    return connection;
  }

  @Test
  @DisplayName("a load is given the connection that was used last to its peer, and none to another")
  void usedAgain() throws IOException {
    try (PeerServer one = server(); PeerServer other = server(); PeerConnections closing = connections) {
      PeerConnection first = takeAndAsk(one.address());
      PeerConnection second = takeAndAsk(one.address());
      connections.keep(one.address(), first);
      connections.keep(one.address(), second);
      assertNotSame(second, takeAndAsk(other.address()));
      assertSame(second, takeAndAsk(one.address()));
      assertSame(first, takeAndAsk(one.address()));
      assertEquals(0, closing.kept());
    }
  }

  @Test
  @DisplayName("no more are kept for a peer than loads run at a time; the others are closed, and all when it is closed")
  void bounded() throws IOException {
    try (PeerServer server = server()) {
      List<PeerConnection> taken = IntStream.range(0, KEPT_MAX + 3).mapToObj(i -> {
        try {
          return takeAndAsk(server.address());
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }).toList();
      taken.forEach(each -> connections.keep(server.address(), each));
      assertEquals(KEPT_MAX, connections.kept());
      Await.until("the others are closed", () -> server.connections() == KEPT_MAX);
      PeerConnection inUse = takeAndAsk(server.address());
      connections.close();
      connections.keep(server.address(), inUse);
      Await.until("all are closed", () -> server.connections() == 0);
    }
  }

  @Test
  @DisplayName("one that nobody uses is closed after its time")
  void expires() throws IOException {
    try (PeerServer server = server(); PeerConnections brief = new PeerConnections(KEPT_MAX, Duration.ofMillis(1))) {
      for (int round = 0; round < 3; round++) {
        PeerConnection connection = brief.take(server.address(), Deadline.after(LIMIT), load(server.address()));
        assertEquals(new PeerMessage.Done(), ask(connection));
        brief.keep(server.address(), connection);
        Await.until("it is closed", () -> server.connections() == 0);
        assertEquals(0, brief.kept());
      }
    }
  }

  @Test
  @DisplayName("the end of a load closes what it uses, one that was kept included, and nothing that it has given back")
  void endOfALoad() throws IOException {
    try (PeerServer server = server(); PeerConnections closing = connections) {
      RunningLoad over = load(server.address());
      PeerConnection connection = closing.take(server.address(), Deadline.after(LIMIT), over);
      assertEquals(new PeerMessage.Done(), ask(connection));
      over.waitsNoMore();
      closing.keep(server.address(), connection);
      over.end("a reset came");
      RunningLoad next = load(server.address());
      assertSame(connection, closing.take(server.address(), Deadline.after(LIMIT), next));
      assertEquals(new PeerMessage.Done(), ask(connection));
      next.end("a reset came");
      assertThrows(IOException.class, () -> ask(connection));
    }
  }

  @Test
  @DisplayName("one that its peer has ended is not used: who listens there now is asked, and is another")
  void endedByItsPeer() throws Exception {
    try (ServerSocket port = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        PeerConnections all = connections) {
      HostPort peer = new HostPort("127.0.0.1", port.getLocalPort());
      CompletableFuture<Void> firstEnds = new CompletableFuture<>();
      Thread.ofVirtual().start(() -> {
        answerOnce(port, firstEnds);
        answerOnce(port, new CompletableFuture<>());
      });
      PeerConnection first = takeAndAsk(peer);
      all.keep(peer, first);
      firstEnds.complete(null);
      Await.until("its end has arrived", () -> !first.isQuiet());
      PeerConnection second = takeAndAsk(peer);
      assertNotEquals(first.peer(Deadline.after(LIMIT)).id(), second.peer(Deadline.after(LIMIT)).id());
      second.close();
    }
  }

  @Test
  @DisplayName("one on which something came unasked is not used: it would be taken for the next answer")
  void unasked() throws Exception {
    try (ServerSocket port = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        PeerConnections all = connections) {
      HostPort peer = new HostPort("127.0.0.1", port.getLocalPort());
      PeerConnection first = take(peer);
      try (Socket accepted = port.accept()) {
        DataOutputStream out = new DataOutputStream(accepted.getOutputStream());
        PeerMessage.write(out, new PeerMessage.Hello(UUID.randomUUID(), Lines.ATTEMPT));
        PeerMessage.write(out, new PeerMessage.Done());
        assertEquals(new PeerMessage.Done(), ask(first));
        all.keep(peer, first);
        PeerMessage.write(out, new PeerMessage.Refused("said late"));
        Await.until("it has arrived", () -> !first.isQuiet());
        PeerConnection second = take(peer);
        assertNotSame(first, second);
        second.close();
      }
    }
  }

  /** Another instance each time, which ends the connection when told. */
  private static void answerOnce(ServerSocket port, CompletableFuture<Void> ends) {
    try (Socket accepted = port.accept()) {
      DataOutputStream out = new DataOutputStream(accepted.getOutputStream());
      PeerMessage.write(out, new PeerMessage.Hello(UUID.randomUUID(), Lines.ATTEMPT));
      PeerMessage.read(new DataInputStream(accepted.getInputStream()));
      PeerMessage.write(out, new PeerMessage.Done());
      ends.join();
    } catch (IOException end) {
      // whoever asked is answered, or has seen that nobody does
    }
  }
}

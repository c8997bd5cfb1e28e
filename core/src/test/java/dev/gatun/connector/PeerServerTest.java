package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.testing.Await;
import dev.gatun.transfer.Lines;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Whom a worker side answers. */
class PeerServerTest {
  private static final PeerMessage.Forget FORGET = new PeerMessage.Forget("x");
  private static final PeerMessage.Ask ASK = new PeerMessage.Ask("x", "layout", new WeightEpoch("run", 1), 0, 1,
      Lines.ATTEMPT);

  private final Queue<PeerMessage> asked = new ConcurrentLinkedQueue<>();
  private final CountDownLatch goesOn = new CountDownLatch(1);

  private PeerMessage answer(PeerMessage question) {
    asked.add(question);
    try {
      goesOn.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return new PeerMessage.Done();
  }

  /** Asks twice, the second time before the first is answered. */
  private void askTwice(PeerMessage second, boolean leaves) throws Exception {
    try (PeerServer server = PeerServer.start("127.0.0.1", Lines::open, this::answer);
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.address().port())) {
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      assertTrue(PeerMessage.read(in) instanceof PeerMessage.Hello);
      PeerMessage.write(out, FORGET);
      Await.until("it is busy", () -> asked.size() == 1);
      PeerMessage.write(out, second);
      if (leaves) socket.shutdownOutput();
      goesOn.countDown();
      assertEquals(new PeerMessage.Done(), PeerMessage.read(in));
      if (!leaves) {
        assertEquals(new PeerMessage.Done(), PeerMessage.read(in));
        socket.shutdownOutput();
      }
      Await.until("it is through", () -> server.connections() == 0);
    }
  }

  @Test
  @DisplayName("who asked for pages and has gone before the question is read is given none")
  void gone() throws Exception {
    askTwice(ASK, true);
    assertEquals(List.of(FORGET), List.copyOf(asked));
  }

  @Test
  @DisplayName("who waits is answered, and what is given up is given up whether somebody waits or not")
  void waits() throws Exception {
    askTwice(ASK, false);
    assertEquals(List.of(FORGET, ASK), List.copyOf(asked));
    asked.clear();
    askTwice(FORGET, true);
    assertEquals(List.of(FORGET, FORGET), List.copyOf(asked));
  }
}

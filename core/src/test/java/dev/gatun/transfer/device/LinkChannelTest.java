package dev.gatun.transfer.device;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.transfer.device.LinkMessage.Commit;
import dev.gatun.transfer.device.LinkMessage.Pages;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@SuppressWarnings("NullAway.Init")
class LinkChannelTest {
  @TempDir
  Path folder;

  private ServerSocketChannel server;
  private LinkChannel here;
  private SocketChannel peer;

  @BeforeEach
  void open() throws Exception {
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
        .bind(UnixDomainSocketAddress.of(folder.resolve("s")));
    here = LinkChannel.connect(folder.resolve("s"));
    peer = server.accept();
  }

  @AfterEach
  void close() throws Exception {
    here.close();
    peer.close();
    server.close();
  }

  private static Pages pages(int blocks) {
    return new Pages(UUID.randomUUID(), new WeightEpoch("run", 0), "a", IntStream.range(0, blocks).toArray());
  }

  @Test
  @DisplayName("a peer that does not read holds up nobody who sends; once it reads, everything comes, whole and in order")
  void peerThatDoesNotRead() throws Exception {
    for (int blocks = 1; blocks <= 300; blocks++)
      here.send(pages(1000 + blocks)); // more than the socket takes
    assertFalse(here.flush(Deadline.after(Duration.ofMillis(1))));
    CompletableFuture<Boolean> rest = CompletableFuture.supplyAsync(() -> here.flush(LinkBed.soon()));
    try (LinkChannel there = new LinkChannel(peer)) {
      for (int blocks = 1; blocks <= 300; blocks++) {
        Pages came = assertInstanceOf(Pages.class, there.receive());
        assertArrayEquals(IntStream.range(0, 1000 + blocks).toArray(), came.blocks());
      }
      assertTrue(rest.get());
    }
  }

  @Test
  @DisplayName("what the socket did not take is sent by whoever receives")
  void receiverSends() throws Exception {
    CompletableFuture<LinkMessage> received = CompletableFuture.supplyAsync(here::receive);
    for (int i = 0; i < 300; i++)
      here.send(pages(1000));
    try (LinkChannel there = new LinkChannel(peer)) {
      for (int i = 0; i < 300; i++)
        assertInstanceOf(Pages.class, there.receive());
      Commit answer = new Commit(UUID.randomUUID());
      there.send(answer);
      assertEquals(answer, received.get());
    }
  }

  @Test
  @DisplayName("a thread that is interrupted sends as any other, and the link lives")
  void interrupted() throws Exception {
    Commit sent = new Commit(UUID.randomUUID());
    Thread.currentThread().interrupt();
    here.send(sent);
    assertTrue(Thread.interrupted());
    try (LinkChannel there = new LinkChannel(peer)) {
      assertEquals(sent, there.receive());
      there.send(sent);
      assertEquals(sent, here.receive());
    }
  }

  @Test
  @DisplayName("a message in two pieces is one message; a peer that ends in the middle of one has ended")
  void pieces() throws Exception {
    byte[] bytes = pages(20_000).encode(); // more than there is room for at first
    ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + bytes.length).putInt(bytes.length).put(bytes).flip();
    ByteBuffer first = frame.slice(0, 3);
    peer.write(first);
    assertNull(here.poll());
    CompletableFuture<LinkMessage> received = CompletableFuture.supplyAsync(here::receive);
    frame.position(3);
    while (frame.hasRemaining())
      peer.write(frame);
    assertEquals(20_000, assertInstanceOf(Pages.class, received.get()).blocks().length);
    peer.write(ByteBuffer.wrap(new byte[]{0, 0, 0, 9, 5}));
    peer.close();
    assertNull(here.receive());
    assertTrue(here.isEnded());
  }

  @Test
  @DisplayName("a length that is none is refused, and a link that is closed ends whoever waits for it")
  void nonsenseAndClose() throws Exception {
    peer.write(ByteBuffer.wrap(new byte[]{-1, -1, -1, -1, 0}));
    assertThrows(IllegalArgumentException.class, here::receive);
    LinkChannel there = new LinkChannel(peer);
    CompletableFuture<LinkMessage> waiting = CompletableFuture.supplyAsync(there::receive);
    there.close();
    assertNull(waiting.get());
    there.send(pages(1)); // nobody is there to hear of it
    assertTrue(there.flush(LinkBed.soon()));
  }
}

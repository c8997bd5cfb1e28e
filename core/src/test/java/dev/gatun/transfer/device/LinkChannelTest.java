package dev.gatun.transfer.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.ffm.SharedFile;
import dev.gatun.testing.Await;
import dev.gatun.transfer.device.LinkMessage.Commit;
import dev.gatun.transfer.device.LinkMessage.Pages;
import dev.gatun.transfer.device.LinkMessage.Ring;
import dev.gatun.transfer.device.LinkMessage.RingNext;
import dev.gatun.transfer.device.LinkMessage.RingOpen;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

  /** Both channels, once each has the other's ring. */
  private LinkChannel ringed() throws Exception {
    LinkChannel there = new LinkChannel(peer);
    Commit last = new Commit(UUID.randomUUID());
    CompletableFuture<LinkMessage> heard = CompletableFuture.supplyAsync(here::receive);
    Await.until("each writes into its ring", () -> {
      assertNull(there.poll());
      return here.isRinged() && there.isRinged();
    });
    there.send(last);
    assertEquals(last, heard.get());
    return there;
  }

  @Test
  @DisplayName("once both have each other's memory open, messages go through it, and the socket only wakes")
  void ring() throws Exception {
    try (LinkChannel there = ringed()) {
      for (int blocks = 1000; blocks < 1010; blocks++)
        here.send(pages(blocks));
      ByteBuffer socket = ByteBuffer.allocate(100);
      peer.read(socket);
      assertArrayEquals(new byte[socket.position()], Arrays.copyOf(socket.array(), socket.position()));
      for (int blocks = 1000; blocks < 1010; blocks++)
        assertEquals(blocks, assertInstanceOf(Pages.class, there.receive()).blocks().length);
    }
  }

  @Test
  @DisplayName("who sleeps is woken by what comes through the ring, and what came before an end is heard before the end")
  void ringWakes() throws Exception {
    LinkChannel there = ringed();
    for (int round = 0; round < 100; round++) {
      CompletableFuture<LinkMessage> waiting = CompletableFuture.supplyAsync(here::receive);
      Commit sent = new Commit(UUID.randomUUID());
      if (round % 2 == 0) Thread.sleep(1); // asleep by now, as a rule
      there.send(sent);
      assertEquals(sent, waiting.get());
    }
    there.send(pages(20_000)); // more than the ring takes: the rest goes once there is room
    CompletableFuture<Boolean> rest = CompletableFuture.supplyAsync(() -> there.flush(LinkBed.soon()));
    assertEquals(20_000, assertInstanceOf(Pages.class, here.receive()).blocks().length);
    assertTrue(rest.get());
    there.send(pages(1));
    there.close();
    assertInstanceOf(Pages.class, here.receive());
    assertNull(here.receive());
    assertTrue(here.isEnded());
  }

  @Test
  @DisplayName("a peer that does not open the memory is spoken to through the socket")
  void noRing() throws Exception {
    Commit sent = new Commit(UUID.randomUUID());
    here.send(sent);
    ByteBuffer frames = ByteBuffer.allocate(1000);
    while (frames.position() <= sent.encode().length + 2 * Integer.BYTES)
      peer.read(frames);
    frames.flip();
    byte[] first = new byte[frames.getInt()];
    frames.get(first);
    assertInstanceOf(Ring.class, LinkMessage.decode(first));
    byte[] second = new byte[frames.getInt()];
    frames.get(second);
    assertEquals(sent, LinkMessage.decode(second));
  }

  @Test
  @DisplayName("a peer that uses memory which was never opened is refused")
  void ringOutOfTurn() throws Exception {
    say(new RingNext());
    assertThrows(IllegalArgumentException.class, here::receive);
  }

  @Test
  @DisplayName("a peer that goes with a ring full of unread messages is not waited for")
  void goneWithFullRing() throws Exception {
    LinkChannel there = ringed();
    here.send(pages(100_000)); // more than the ring takes
    assertFalse(here.flush(Deadline.after(Duration.ofMillis(1))));
    there.close();
    assertTrue(here.flush(LinkBed.soon()));
  }

  @Test
  @DisplayName("the last word of a peer is heard, also if it goes without having read what was to wake it")
  void lastWord() throws Exception {
    for (int round = 0; round < 1000; round++) { // what went wrong is a matter of some instructions
      reopen();
      LinkChannel there = ringed();
      here.channel().write(ByteBuffer.allocate(3));
      if (round % 2 == 0) here.stayAwake(LinkChannel.AWAKE_NANOS);
      CompletableFuture<LinkMessage> heard = CompletableFuture.supplyAsync(here::receive);
      LockSupport.parkNanos(round % 100 * 1000L);
      Commit last = new Commit(UUID.randomUUID());
      there.send(last);
      there.close();
      assertEquals(last, heard.get(), "round " + round);
    }
  }

  private void reopen() throws Exception {
    here.close();
    peer.close();
    here = LinkChannel.connect(folder.resolve("s"));
    peer = server.accept();
  }

  @Test
  @DisplayName("what is sent beside a close comes whole or not at all")
  void sentBesideClose() throws Exception {
    for (int round = 0; round < 300; round++) {
      reopen();
      LinkChannel there = ringed();
      List<Thread> others = List.of(sender(there), sender(there), Thread.ofPlatform().start(there::close));
      for (LinkMessage message = here.receive(); message != null; message = here.receive())
        assertInstanceOf(Pages.class, message, "round " + round);
      for (Thread other : others)
        other.join();
    }
  }

  /** Sends more than the ring takes. */
  private static Thread sender(LinkChannel channel) {
    return Thread.ofPlatform().start(() -> {
      for (int i = 0; i < 100; i++)
        channel.send(pages(1000));
    });
  }

  private void say(LinkMessage message) throws IOException {
    byte[] bytes = message.encode();
    peer.write(ByteBuffer.allocate(Integer.BYTES + bytes.length).putInt(bytes.length).put(bytes).flip());
  }

  private Ring ring(SocketChannel from) throws IOException {
    ByteBuffer length = ByteBuffer.allocate(Integer.BYTES);
    from.read(length);
    ByteBuffer frame = ByteBuffer.allocate(length.getInt(0));
    from.read(frame);
    return assertInstanceOf(Ring.class, LinkMessage.decode(frame.array()));
  }

  @Test
  @DisplayName("a peer that says it has read what was never written ends the link, also for who only listens")
  void nonsenseInRing() throws Exception {
    MemorySegment memory = SharedFile.map(ring(peer).path(), Arena.ofAuto());
    say(new RingOpen());
    Await.until("what is sent goes through the ring", () -> {
      assertNull(here.poll());
      return here.isRinged();
    });
    memory.set(JAVA_LONG, LinkRing.READ, Long.MAX_VALUE);
    CompletableFuture<LinkMessage> waiting = CompletableFuture.supplyAsync(here::receive);
    here.send(pages(1));
    assertNull(waiting.get());
  }

  @Test
  @DisplayName("links that were closed leave no memory open")
  void leavesNothing() throws Exception {
    long mapped = mappedLinks();
    for (int i = 0; i < 20; i++) {
      ringed().close();
      reopen();
    }
    here.close();
    here.close();
    assertTrue(mappedLinks() <= mapped, mapped + " to " + mappedLinks());
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      assertEquals(0, open.filter(LinkChannelTest::isLink).count());
    }
  }

  private static long mappedLinks() throws IOException {
    try (Stream<String> mapped = Files.lines(Path.of("/proc/self/maps"))) {
      return mapped.filter(line -> line.contains("gatun link")).count();
    }
  }

  @Test
  @DisplayName("a peer that names its memory again, or says again that it has ours open, is refused")
  void ringTwice() throws Exception {
    Ring ours = ring(peer);
    say(ours); // any that can be opened
    say(ours);
    assertThrows(IllegalArgumentException.class, here::receive);
    reopen();
    say(new RingOpen());
    say(new RingOpen());
    assertThrows(IllegalArgumentException.class, here::receive);
  }

  private static boolean isLink(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().contains("gatun link");
    } catch (IOException closed) {
      return false;
    }
  }
}

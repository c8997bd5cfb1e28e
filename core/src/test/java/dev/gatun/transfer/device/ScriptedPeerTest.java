package dev.gatun.transfer.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.Hold;
import dev.gatun.testing.Await;
import dev.gatun.transfer.HandoverOutcome;
import dev.gatun.transfer.device.LinkMessage.Aborted;
import dev.gatun.transfer.device.LinkMessage.Cache;
import dev.gatun.transfer.device.LinkMessage.Commit;
import dev.gatun.transfer.device.LinkMessage.Hello;
import dev.gatun.transfer.device.LinkMessage.Pages;
import dev.gatun.transfer.device.LinkMessage.Ready;
import dev.gatun.transfer.device.LinkMessage.Revoke;
import dev.gatun.transfer.device.LinkMessage.Verdict;
import dev.gatun.transfer.device.PeerRefusedException.Reason;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Receivers and senders against peers that say what the test wants, late, never, or wrong. */
@SuppressWarnings("NullAway.Init")
class ScriptedPeerTest {
  private static final WeightEpoch EPOCH = new WeightEpoch("run", 0);
  private static final Duration LEASE = Duration.ofMinutes(5);

  @TempDir
  Path folder;

  private final EpochGate gate = new EpochGate(EPOCH);
  private Process other;
  private LinkBed bed;
  private ServerSocketChannel server;

  @BeforeEach
  void open() throws Exception {
    other = new ProcessBuilder("sleep", "300").start();
    bed = LinkBed.plain("host", 0);
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
        .bind(UnixDomainSocketAddress.of(folder.resolve("s")));
  }

  @AfterEach
  void close() throws Exception {
    other.destroyForcibly().waitFor();
    server.close();
    bed.close();
  }

  /** A receiver and the script at the other end, which says that it is the other process. */
  private record Pair(DeviceReceiver receiver, LinkChannel script) {}

  private Pair pair() throws Exception {
    CompletableFuture<DeviceReceiver> connecting = CompletableFuture
        .supplyAsync(() -> DeviceReceiver.connect(folder.resolve("s"), bed.cache(), gate, LinkBed.soon()));
    LinkChannel script = new LinkChannel(server.accept());
    script.send(new Hello(UUID.randomUUID(), Lives.of(other.pid()), EPOCH));
    assertInstanceOf(Hello.class, script.receive());
    Cache named = assertInstanceOf(Cache.class, script.receive());
    assertEquals(bed.memory().byteSize(), named.share().slabs().getFirst().bytes());
    script.send(new Ready());
    return new Pair(connecting.get(), script);
  }

  private static UUID granted(LinkChannel script) {
    return assertInstanceOf(Pages.class, script.receive()).id();
  }

  @Test
  @DisplayName("a grant that was taken back is over when the sender says so, by an abort or by a commit that came too late")
  void takenBack() throws Exception {
    Pair pair = pair();
    try (DeviceReceiver receiver = pair.receiver; LinkChannel script = pair.script) {
      DeviceGrant aborted = receiver.grant("a", new int[]{1, 2}, LEASE);
      DeviceGrant late = receiver.grant("b", new int[]{3}, LEASE);
      UUID first = granted(script);
      UUID second = granted(script);
      receiver.failQueued();
      assertEquals(List.of(HandoverOutcome.REVOKED, HandoverOutcome.REVOKED),
          List.of(aborted.outcome(), late.outcome()));
      assertInstanceOf(Revoke.class, script.receive());
      assertInstanceOf(Revoke.class, script.receive());
      assertFalse(aborted.isOver() || late.isOver());
      assertEquals(2, receiver.open());
      script.send(new Aborted(first, false, "stopped"));
      assertTrue(aborted.awaitOver(LinkBed.soon()) && !late.isOver());
      assertTrue(receiver.isGranted(3) && !receiver.isGranted(1));
      script.send(new Commit(second));
      assertEquals(new Verdict(second, false), script.receive());
      assertTrue(late.awaitOver(LinkBed.soon()));
      assertEquals(HandoverOutcome.REVOKED, late.outcome());
      script.send(new LinkMessage.Bye());
    }
  }

  @Test
  @DisplayName("a commit under another epoch is not confirmed, though nobody took the grant back in time")
  void otherEpoch() throws Exception {
    Pair pair = pair();
    try (DeviceReceiver receiver = pair.receiver; LinkChannel script = pair.script) {
      DeviceGrant grant = receiver.grant("a", new int[]{1}, LEASE);
      UUID id = granted(script);
      gate.close();
      gate.raise(new WeightEpoch("run", 1));
      gate.open(EpochGate.State.OPEN);
      script.send(new Commit(id));
      assertEquals(new Verdict(id, false), script.receive());
      assertEquals(HandoverOutcome.REVOKED, grant.await(LinkBed.soon()));
      script.send(new LinkMessage.Bye());
    }
  }

  @Test
  @DisplayName("a lease that ends is a revoke; who answers nothing keeps the blocks in quarantine")
  void expires() throws Exception {
    Pair pair = pair();
    try (DeviceReceiver receiver = pair.receiver; LinkChannel script = pair.script) {
      DeviceGrant grant = receiver.grant("a", new int[]{1}, Duration.ofMillis(1));
      UUID id = granted(script);
      assertEquals(new Revoke(id), script.receive());
      assertEquals(HandoverOutcome.REVOKED, grant.await(LinkBed.soon()));
      assertEquals("its lease has ended", grant.reason());
      assertTrue(!grant.isOver() && receiver.isGranted(1));
      script.send(new LinkMessage.Bye());
      assertTrue(grant.awaitOver(LinkBed.soon()));
    }
  }

  @Test
  @DisplayName("K11.04 a connection that ends is no death: blocks and memory stay the sender's until its process has ended")
  void connectionEnds() throws Exception {
    Pair pair = pair();
    DeviceReceiver receiver = pair.receiver;
    DeviceGrant grant = receiver.grant("a", new int[]{1}, LEASE);
    granted(pair.script);
    pair.script.close();
    assertEquals(HandoverOutcome.ABORTED, grant.await(LinkBed.soon()));
    List<String> pending = receiver.close(dev.gatun.backend.Deadline.after(Duration.ofMillis(100)));
    assertTrue(pending.toString().contains("process " + other.pid() + " has not closed the cache"), pending::toString);
    assertFalse(grant.isOver());
    assertThrows(dev.gatun.backend.InUseException.class, bed.memory()::close);
    other.destroyForcibly();
    assertTrue(grant.awaitOver(LinkBed.soon()));
    assertEquals(List.of(), receiver.close(LinkBed.soon()));
  }

  @Test
  @DisplayName("thousands of grants that are taken back while the sender commits them block neither side")
  void manyAtOnce() throws Exception {
    Pair pair = pair();
    try (DeviceReceiver receiver = pair.receiver; LinkChannel script = pair.script) {
      List<DeviceGrant> grants = new ArrayList<>();
      for (int block = 1; block < LinkBed.BLOCKS; block++)
        grants.add(receiver.grant("a" + block, new int[]{block}, LEASE));
      List<UUID> ids = new ArrayList<>();
      for (int i = 0; i < grants.size(); i++)
        ids.add(granted(script));
      receiver.failQueued(); // nobody reads what it says for now
      ids.forEach(id -> script.send(new Commit(id)));
      assertTrue(script.flush(LinkBed.soon()));
      for (DeviceGrant grant : grants)
        assertTrue(grant.awaitOver(LinkBed.soon()) && grant.outcome() == HandoverOutcome.REVOKED);
      script.send(new LinkMessage.Bye());
    }
  }

  @Test
  @DisplayName("a sender that is not the process that it says is refused by type, and is not told where the memory is")
  void otherProcess() throws Exception {
    CompletableFuture<PeerRefusedException> refused = CompletableFuture.supplyAsync(
        () -> assertThrows(PeerRefusedException.class,
            () -> DeviceReceiver.connect(folder.resolve("s"), bed.cache(), gate, LinkBed.soon())));
    try (LinkChannel script = new LinkChannel(server.accept())) {
      PeerLife life = Lives.of(other.pid());
      script.send(new Hello(UUID.randomUUID(), new PeerLife(life.pid(), life.startTicks() + 1), EPOCH));
      for (LinkMessage said = script.receive(); said != null; said = script.receive())
        assertInstanceOf(Hello.class, said);
    }
    assertEquals(Reason.OTHER_PROCESS, refused.get().reason());
  }

  @Test
  @DisplayName("a sender drops peers that speak something else, or grant before they name their memory, and serves the next one")
  void strangers() throws Exception {
    Path socket = folder.resolve("sender");
    try (DeviceSender sender = DeviceSender.listen(socket, bed.cache(), gate)) {
      for (byte[] sent : List.of(new byte[]{1, 2, 3, 4, 5}, new byte[]{0, 0, 0, 1, 99}, frame(new Ready()),
          frame(new Pages(UUID.randomUUID(), EPOCH, "a", new int[]{1})))) {
        SocketChannel raw = SocketChannel.open(UnixDomainSocketAddress.of(socket));
        raw.write(ByteBuffer.wrap(sent));
        try (LinkChannel script = new LinkChannel(raw)) {
          assertInstanceOf(Hello.class, script.receive());
          LinkMessage.Refused refused = assertInstanceOf(LinkMessage.Refused.class, script.receive());
          assertEquals(Reason.OTHER_PROTOCOL, refused.reason());
          assertInstanceOf(LinkMessage.Bye.class, script.receive());
          assertNull(script.receive());
        }
      }
      try (LinkChannel script = LinkChannel.connect(socket)) {
        assertInstanceOf(Hello.class, script.receive());
        script.send(new Hello(UUID.randomUUID(), new PeerLife(1, 1), EPOCH));
        LinkMessage.Refused refused = assertInstanceOf(LinkMessage.Refused.class, script.receive());
        assertEquals(Reason.OTHER_PROCESS, refused.reason());
      }
      assertNotNull(sender.offer("a", new int[]{1}, bed.fill(new int[]{1}, 1), LEASE));
      assertThrows(IllegalStateException.class,
          () -> sender.offer("a", new int[]{2}, bed.fill(new int[]{2}, 1), LEASE));
    }
  }

  @Test
  @DisplayName("offers end with a refit, with their lease, and on demand, and their blocks are free at once if nobody pushes")
  void offersEnd() {
    try (DeviceSender sender = DeviceSender.listen(folder.resolve("sender"), bed.cache(), gate)) {
      DeviceOffer refitted = sender.offer("a", new int[]{1}, bed.fill(new int[]{1}, 1), LEASE);
      assertEquals(1, sender.failQueued());
      assertTrue(refitted.isOver() && refitted.outcome() == HandoverOutcome.REVOKED);
      DeviceOffer withdrawn = sender.offer("a", new int[]{1}, bed.fill(new int[]{1}, 1), LEASE);
      withdrawn.withdraw();
      assertTrue(withdrawn.isOver() && withdrawn.reason().equals("withdrawn"));
      DeviceOffer short1 = sender.offer("a", new int[]{1}, bed.fill(new int[]{1}, 1), Duration.ofMillis(1));
      assertEquals(HandoverOutcome.REVOKED, short1.await(LinkBed.soon()));
      Await.until("nothing is offered", () -> sender.offers() == 0);
    }
  }

  @Test
  @DisplayName("offers made while the sender closes end, every one of them")
  void offersBesideClose() throws Exception {
    var ready = bed.fill(new int[]{1}, 1);
    for (int round = 0; round < 100; round++) {
      DeviceSender sender = DeviceSender.listen(folder.resolve("sender"), bed.cache(), gate);
      List<DeviceOffer> offers = new ArrayList<>();
      Thread offering = Thread.ofPlatform().start(() -> {
        try {
          for (int i = 0;; i++)
            offers.add(sender.offer("a" + i, new int[]{1}, ready, LEASE));
        } catch (ClosedException end) {
          // as wanted
        }
      });
      Await.until("offers are made", () -> sender.offers() > 0);
      assertEquals(List.of(), sender.close(LinkBed.soon()));
      offering.join();
      assertTrue(offers.stream().allMatch(DeviceOffer::isOver), "round " + round);
    }
  }

  @Test
  @DisplayName("a grant that a refit refuses takes no block")
  void grantsBesideRefits() throws Exception {
    Pair pair = pair();
    try (DeviceReceiver receiver = pair.receiver; LinkChannel script = pair.script) {
      Thread reading = Thread.ofPlatform().start(() -> answerAll(script));
      AtomicBoolean over = new AtomicBoolean();
      Thread refits = Thread.ofPlatform().daemon().start(() -> {
        for (int version = 1; !over.get(); version++) {
          gate.close();
          gate.raise(new WeightEpoch("run", version));
          gate.open(EpochGate.State.OPEN);
        }
      });
      int[] blocks = IntStream.range(1, LinkBed.BLOCKS).toArray();
      try {
        for (int i = 0; i < 3_000; i++)
          grantAndRevoke(receiver, "a" + i, blocks);
      } finally {
        over.set(true);
        refits.join();
      }
      script.send(new LinkMessage.Bye());
      assertEquals(List.of(), receiver.close(LinkBed.soon()));
      reading.join();
    }
  }

  private static void grantAndRevoke(DeviceReceiver receiver, String name, int[] blocks) {
    try {
      DeviceGrant grant = receiver.grant(name, blocks, LEASE);
      grant.revoke();
      assertTrue(grant.awaitOver(LinkBed.soon()));
    } catch (GateClosedException | EpochChangedException refit) {
      assertFalse(receiver.isGranted(1), name);
    }
  }

  private static void answerAll(LinkChannel script) {
    for (LinkMessage said = script.receive(); said != null; said = script.receive())
      if (said instanceof Revoke revoke) script.send(new Aborted(revoke.id(), false, "stopped"));
  }

  @Test
  @DisplayName("a sender that closes leaves the socket of another that has taken its path")
  void leavesOthersSocket() throws Exception {
    Path path = folder.resolve("sender");
    DeviceSender first = DeviceSender.listen(path, bed.cache(), gate);
    Files.delete(path);
    try (DeviceSender second = DeviceSender.listen(path, bed.cache(), gate)) {
      first.close();
      first.close();
      assertEquals(path, second.socket());
      assertTrue(Files.exists(path), "the second one's");
    }
    assertFalse(Files.exists(path));
  }

  @Test
  @DisplayName("a close that the GPU holds up keeps its time, says what is pending, and can be called again")
  void closeKeepsItsTime() throws Exception {
    DeviceSender sender = DeviceSender.listen(folder.resolve("sender"), bed.cache(), gate);
    try (Hold hold = new Hold(bed.stream())) {
      List<String> pending = assertTimeout(Duration.ofSeconds(5),
          () -> sender.close(Deadline.after(Duration.ofMillis(50))));
      assertTrue(pending.toString().contains("the GPU is still working"), pending.toString());
      hold.release();
      Thread.currentThread().interrupt();
      assertEquals(List.of(), sender.close(LinkBed.soon()), "an interrupt leaves nothing open");
      assertTrue(Thread.interrupted());
    }
  }

  @Test
  @DisplayName("a sender that says hello and nothing more does not keep a receiver beyond its deadline")
  void connectKeepsItsTime() throws Exception {
    CompletableFuture<Void> connecting = CompletableFuture.runAsync(() -> assertTimeout(Duration.ofSeconds(5),
        () -> assertThrows(DeadlineException.class, () -> DeviceReceiver.connect(folder.resolve("s"), bed.cache(), gate,
            Deadline.after(Duration.ofMillis(300))))));
    try (LinkChannel script = new LinkChannel(server.accept())) {
      script.send(new Hello(UUID.randomUUID(), Lives.of(other.pid()), EPOCH));
      connecting.get();
      assertThrows(InUseException.class, bed.memory()::close, "it may have opened the memory");
      script.send(new LinkMessage.Bye());
      Await.until("the memory is no longer shared", () -> {
        try {
          bed.free();
          return true;
        } catch (InUseException shared) {
          return false;
        }
      });
    }
  }

  @Test
  @DisplayName("sockets that cannot be made leave no descriptor open, and an interrupt is called one")
  void refusedListens() throws Exception {
    long before = descriptors();
    for (int i = 0; i < 50; i++) {
      assertThrows(GatunException.class, () -> DeviceSender.listen(folder.resolve("s"), bed.cache(), gate));
    }
    assertTrue(descriptors() < before + 25, before + " to " + descriptors());
    Thread.currentThread().interrupt();
    assertTrue(Objects.requireNonNull(assertThrows(GatunException.class,
        () -> DeviceReceiver.connect(folder.resolve("s"), bed.cache(), gate, LinkBed.soon())).getMessage())
        .endsWith(": interrupted"));
    assertTrue(Thread.interrupted());
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }

  private static byte[] frame(LinkMessage message) {
    byte[] bytes = message.encode();
    return ByteBuffer.allocate(Integer.BYTES + bytes.length).putInt(bytes.length).put(bytes).array();
  }
}

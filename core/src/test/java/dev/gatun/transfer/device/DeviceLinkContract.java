package dev.gatun.transfer.device;

import static dev.gatun.testing.Thrown.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.Completion;
import dev.gatun.device.Device;
import dev.gatun.device.SharedCache;
import dev.gatun.internal.backend.ChildJvm;
import dev.gatun.testing.Await;
import dev.gatun.transfer.HandoverOutcome;
import dev.gatun.transfer.device.PeerRefusedException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pages from one process's device memory into another's: grant, transfer, commit; revoke and quarantine; either side's death. */
@SuppressWarnings("NullAway.Init")
abstract class DeviceLinkContract {
  private static final WeightEpoch EPOCH = new WeightEpoch("run", 0);
  private static final int ROUNDS = 50;

  @TempDir
  Path folder;

  private final EpochGate gate = new EpochGate(EPOCH);
  private Path socket;
  private long freeBytes;
  private boolean leavesSocket;

  abstract String driver();

  @BeforeEach
  void look() {
    socket = folder.resolve("sender");
    try (Device gpu = Device.open(driver(), 0)) {
      freeBytes = gpu.freeBytes();
    }
  }

  @AfterEach
  void nothingLeft() {
    try (Device gpu = Device.open(driver(), 0)) {
      Await.until("all device memory is free again", () -> gpu.freeBytes() >= freeBytes);
    }
    assertEquals(leavesSocket, Files.exists(socket), "a sender that is closed leaves no socket");
  }

  private ChildJvm sender(int ranks, int otherRanks, int tokens) {
    ChildJvm sender = ChildJvm.start(LinkProcess.class, driver(), "send", socket.toString(), "" + ranks,
        "" + otherRanks,
        "" + tokens);
    sender.awaitLine("listening");
    return sender;
  }

  private DeviceReceiver receiver(LinkBed bed) {
    return DeviceReceiver.connect(socket, bed.cache(), gate, LinkBed.soon());
  }

  private static int[] shuffled(long seed, int count) {
    List<Integer> all = new ArrayList<>(IntStream.range(1, LinkBed.BLOCKS).boxed().toList());
    Collections.shuffle(all, new Random(seed));
    return all.stream().limit(count).mapToInt(Integer::intValue).toArray();
  }

  private static String text(int[] blocks) {
    return Arrays.stream(blocks).mapToObj(String::valueOf).collect(Collectors.joining(","));
  }

  private static void end(ChildJvm child) {
    child.closeInput();
    assertEquals(0, child.await().code(), child::output);
  }

  @ParameterizedTest(name = "{0} ranks to {1}, grant first: {2}")
  @CsvSource({"1,1,false", "1,1,true", "1,2,false", "4,1,true", "2,4,false"})
  @DisplayName("K10.08 every byte arrives in the other process, shuffled into shuffled, whatever the degrees, whoever comes first")
  void arrives(int ranks, int otherRanks, boolean grantFirst) {
    try (ChildJvm sender = sender(ranks, otherRanks, 4);
        LinkBed bed = new LinkBed(driver(), 0, otherRanks, ranks, 4);
        DeviceReceiver receiver = receiver(bed)) {
      int[] targets = shuffled(1, 1100); // more than one kernel's
      String offer = "offer a 7 " + text(shuffled(2, 1100));
      if (!grantFirst) {
        sender.send(offer);
        sender.awaitLine("offered a");
      }
      DeviceGrant grant = receiver.grant("a", targets, LinkProcess.LEASE);
      if (grantFirst) sender.send(offer);
      assertEquals(HandoverOutcome.COMMITTED, grant.await(LinkBed.soon()), grant::reason);
      assertTrue(grant.isOver() && receiver.open() == 0 && !receiver.isGranted(targets[0]));
      assertEquals(0, bed.wrong(targets, 7));
      assertEquals(targets.length, bed.wrong(targets, 8), "the check sees pages of another seed");
      sender.awaitLine("ended a COMMITTED");
      end(sender);
      Await.until("the receiver hears of the end", receiver::isSenderGone);
    }
  }

  @Test
  @DisplayName("K10.08 a sender whose cache holds other pages refuses with both shapes, and has nothing of ours open")
  void otherPages() {
    try (ChildJvm sender = sender(1, 1, 8); LinkBed bed = LinkBed.plain(driver(), 0)) {
      PeerRefusedException refused = assertThrows(PeerRefusedException.class, () -> receiver(bed));
      assertEquals(Reason.OTHER_PAGES, refused.reason());
      String why = String.valueOf(refused.getMessage());
      assertTrue(why.contains("blockTokens=8") && why.contains("blockTokens=4"), why);
      bed.free();
      end(sender);
    }
  }

  @Test
  @DisplayName("a refit in the middle of a push: blocks stay in quarantine until the sender has stopped, and no page changes after")
  void refitDuringPush() {
    int[] blocks = shuffled(3, 40);
    try (ChildJvm sender = sender(1, 1, 4);
        LinkBed bed = LinkBed.plain(driver(), 0);
        DeviceReceiver receiver = receiver(bed)) {
      sender.send("offer-held a 7 " + text(shuffled(4, 40)));
      sender.awaitLine("offered a");
      DeviceGrant grant = receiver.grant("a", blocks, LinkProcess.LEASE);
      sender.awaitLine("taken a");
      refit();
      assertEquals(HandoverOutcome.REVOKED, grant.outcome());
      assertTrue(!grant.isOver() && receiver.isGranted(blocks[0]), "the sender may still write");
      assertTrue(message(IllegalStateException.class, () -> receiver.grant("b", blocks, LinkProcess.LEASE))
          .contains("not over"));
      assertThrows(InUseException.class, bed.memory()::close, "a shared cache stays");
      sender.send("release");
      assertTrue(grant.awaitOver(LinkBed.soon()));
      bed.fill(blocks, 99); // lent again
      sender.awaitLine("ended a ");
      end(sender); // has closed our memory: whatever it could write, it has written
      assertEquals(0, bed.wrong(blocks, 99), "a page changed after its block was lent again");
    }
  }

  @Test
  @DisplayName("a grant that is taken back at the moment in which its pages are offered is over only when nothing of it moves")
  void revokedAsOffered() {
    int[] blocks = shuffled(7, 40);
    try (ChildJvm sender = sender(1, 1, 4);
        LinkBed bed = LinkBed.plain(driver(), 0);
        DeviceReceiver receiver = receiver(bed)) {
      Random moments = new Random(7);
      for (int round = 0; round < ROUNDS; round++) {
        DeviceGrant grant = receiver.grant("a" + round, blocks, LinkProcess.LEASE);
        sender.send("offer-quietly a" + round + " 7 " + text(blocks));
        LockSupport.parkNanos(moments.nextInt(2_000_000));
        grant.revoke();
        assertTrue(grant.awaitOver(LinkBed.soon()));
        bed.fill(blocks, 99); // lent again
        sender.send("wait");
        sender.awaitLine("waited " + round);
        assertEquals(0, bed.wrong(blocks, 99), "a page changed after its block was lent again, round " + round);
      }
      end(sender);
    }
  }

  private void refit() {
    gate.close();
    gate.raise(new WeightEpoch("run", gate.epoch().version() + 1));
    gate.parts().forEach(part -> part.failQueued());
    assertEquals(List.of(), gate.drainParts(LinkBed.soon()));
    gate.parts().forEach(part -> part.clearLocal());
    gate.open(EpochGate.State.OPEN);
  }

  @Test
  @DisplayName("K11.04 the sender is killed in the middle of a push: the grant ends, its blocks come back once the process is gone")
  void senderIsKilled() {
    leavesSocket = true; // nobody was left to remove it
    int[] blocks = shuffled(5, 40);
    try (ChildJvm sender = sender(1, 1, 4);
        LinkBed bed = LinkBed.plain(driver(), 0);
        DeviceReceiver receiver = receiver(bed)) {
      sender.send("offer-held a 7 " + text(shuffled(6, 40)));
      sender.awaitLine("offered a");
      DeviceGrant grant = receiver.grant("a", blocks, LinkProcess.LEASE);
      sender.awaitLine("taken a");
      sender.kill();
      assertEquals(HandoverOutcome.ABORTED, grant.await(LinkBed.soon()));
      assertEquals("the sender is gone", grant.reason());
      assertTrue(grant.awaitOver(LinkBed.soon()) && receiver.open() == 0);
      sender.await();
      assertThrows(dev.gatun.backend.ClosedException.class,
          () -> receiver.grant("b", blocks, LinkProcess.LEASE));
      assertEquals(List.of(), receiver.close(LinkBed.soon()));
      bed.free();
    }
  }

  @Test
  @DisplayName("K11.04 the receiver is killed: the sender closes its memory, ends what it waited for, and serves others")
  void receiverIsKilled() {
    try (LinkBed bed = LinkBed.plain(driver(), 0);
        DeviceSender sender = DeviceSender.listen(socket, bed.cache(), gate)) {
      try (ChildJvm receiver = startReceiver()) {
        receiver.send("grant a 1,2,3");
        receiver.awaitLine("granted a");
        assertEquals(1, sender.attached());
        receiver.kill();
        receiver.await();
      }
      Await.until("its memory is closed", () -> sender.attached() == 0);
      int[] blocks = {4, 5, 6};
      Completion ready = bed.fill(blocks, 7);
      DeviceOffer offer = sender.offer("a", blocks, ready, LinkProcess.LEASE);
      assertEquals(1, sender.offers(), "nobody alive asks for it");
      try (ChildJvm other = startReceiver()) {
        other.send("grant a 1,2,3");
        assertEquals(HandoverOutcome.COMMITTED, offer.await(LinkBed.soon()), offer::reason);
        end(other);
      }
      assertEquals(List.of(), sender.close(LinkBed.soon()));
    }
  }

  @Test
  @DisplayName("a receiver that says nonsense while its pages move is refused once, and its memory closed when nothing moves")
  void nonsenseWhilePagesMove() throws IOException {
    try (ChildJvm sender = sender(1, 1, 4);
        LinkBed bed = LinkBed.plain(driver(), 0);
        SharedCache shared = SharedCache.share(bed.cache());
        LinkChannel receiver = LinkChannel.connect(socket)) {
      UUID id = grantByHand(sender, shared, receiver);
      receiver.send(new byte[]{99}, false);
      assertEquals(Reason.OTHER_PROTOCOL,
          assertInstanceOf(LinkMessage.Refused.class, receiver.receive()).reason());
      sender.send("release");
      assertEquals(new LinkMessage.Commit(id), receiver.receive());
      assertInstanceOf(LinkMessage.Bye.class, receiver.receive());
      assertNull(receiver.receive());
      sender.awaitLine("ended a ABORTED"); // nobody confirmed it
      end(sender);
    }
  }

  private static void introduce(SharedCache shared, LinkChannel receiver) {
    assertInstanceOf(LinkMessage.Hello.class, receiver.receive());
    receiver.send(new LinkMessage.Hello(UUID.randomUUID(), PeerLife.own(), EPOCH));
    receiver.send(new LinkMessage.Cache(shared.share()));
    assertInstanceOf(LinkMessage.Ready.class, receiver.receive());
  }

  /** What a receiver says and hears until its grant of block 1 is being carried out. */
  private UUID grantByHand(ChildJvm sender, SharedCache shared, LinkChannel receiver) {
    sender.send("offer-held a 7 1");
    sender.awaitLine("offered a");
    introduce(shared, receiver);
    UUID id = UUID.randomUUID();
    receiver.send(new LinkMessage.Pages(id, EPOCH, "a", new int[]{1}));
    sender.awaitLine("taken a");
    return id;
  }

  @Test
  @DisplayName("an offer that is taken back while its only kernel runs is committed to nobody, and both sides hear so")
  void withdrawnWhilePagesMove() throws IOException {
    try (ChildJvm sender = sender(1, 1, 4);
        LinkBed bed = LinkBed.plain(driver(), 0);
        SharedCache shared = SharedCache.share(bed.cache());
        LinkChannel receiver = LinkChannel.connect(socket)) {
      UUID id = grantByHand(sender, shared, receiver);
      sender.send("withdraw a");
      sender.awaitLine("withdrew a");
      sender.send("release");
      assertEquals(new LinkMessage.Aborted(id, false, "withdrawn"), receiver.receive());
      sender.awaitLine("ended a REVOKED withdrawn");
      receiver.send(new LinkMessage.Detach());
      assertInstanceOf(LinkMessage.Bye.class, receiver.receive());
      end(sender);
    }
  }

  @Test
  @DisplayName("a receiver that has its pages and says nothing holds no block of the sender: only what became of them stays open")
  void silentAfterCommit() throws IOException {
    try (ChildJvm sender = sender(1, 1, 4);
        LinkBed bed = LinkBed.plain(driver(), 0);
        SharedCache shared = SharedCache.share(bed.cache());
        LinkChannel receiver = LinkChannel.connect(socket)) {
      UUID id = grantByHand(sender, shared, receiver);
      sender.send("release");
      assertEquals(new LinkMessage.Commit(id), receiver.receive());
      sender.send("over a");
      sender.awaitLine("over a PENDING");
      sender.send("withdraw a"); // too late: the receiver's word counts
      sender.awaitLine("withdrew a");
      receiver.send(new LinkMessage.Detach());
      receiver.send(new LinkMessage.Verdict(id, true)); // behind its farewell, as a receiver that closes at once may
      sender.awaitLine("ended a COMMITTED");
      assertInstanceOf(LinkMessage.Bye.class, receiver.receive());
      end(sender);
    }
  }

  @Test
  @DisplayName("a grant that fails after its first kernel is aborted, not refused: pages were written")
  void failsInTheMiddle() throws IOException {
    try (ChildJvm sender = sender(1, 1, 4);
        LinkBed bed = LinkBed.plain(driver(), 0);
        SharedCache shared = SharedCache.share(bed.cache());
        LinkChannel receiver = LinkChannel.connect(socket)) {
      introduce(shared, receiver);
      int[] blocks = shuffled(8, 1100); // more than one kernel's
      sender.send("offer a 7 " + text(blocks));
      sender.awaitLine("offered a");
      int[] targets = shuffled(9, 1100);
      bed.fill(targets, 50);
      targets[1099] = LinkBed.BLOCKS; // no block of the cache
      UUID id = UUID.randomUUID();
      receiver.send(new LinkMessage.Pages(id, EPOCH, "a", targets));
      LinkMessage.Aborted aborted = assertInstanceOf(LinkMessage.Aborted.class, receiver.receive());
      assertFalse(aborted.refused(), aborted::text);
      assertTrue(aborted.text().contains("block must be 0 to"), aborted::text);
      sender.awaitLine("ended a ABORTED");
      receiver.send(new LinkMessage.Detach());
      assertInstanceOf(LinkMessage.Bye.class, receiver.receive());
      end(sender);
    }
  }

  @Test
  @DisplayName("a receiver that leaves while the sender's GPU is busy for longer than a close waits is let go of afterwards")
  void leavesBusySender() throws IOException {
    try (ChildJvm sender = sender(1, 1, 4);
        LinkBed bed = LinkBed.plain(driver(), 0);
        SharedCache shared = SharedCache.share(bed.cache());
        LinkChannel receiver = LinkChannel.connect(socket)) {
      introduce(shared, receiver);
      sender.send("offer-held a 7 1"); // nobody asks for it
      sender.awaitLine("offered a");
      receiver.send(new LinkMessage.Detach());
      sender.awaitLine("cannot be closed yet"); // 10 seconds later
      sender.send("release");
      assertInstanceOf(LinkMessage.Bye.class, receiver.receive());
      sender.send("attached");
      sender.awaitLine("none attached");
      end(sender);
    }
  }

  private ChildJvm startReceiver() {
    ChildJvm receiver = ChildJvm.start(LinkProcess.class, driver(), "receive", socket.toString(), "1", "1", "4");
    receiver.awaitLine("connected");
    return receiver;
  }

  @Test
  @DisplayName("pages of another epoch, another number, or a block that is none are refused at the grant; nothing is written")
  void refusedGrants() {
    try (ChildJvm sender = sender(1, 1, 4);
        LinkBed bed = LinkBed.plain(driver(), 0);
        DeviceReceiver receiver = receiver(bed)) {
      int[] blocks = {1, 2, 3};
      bed.fill(blocks, 50);
      sender.send("offer two 7 4,5");
      sender.awaitLine("offered two");
      DeviceGrant two = receiver.grant("two", blocks, LinkProcess.LEASE);
      assertEquals(HandoverOutcome.REFUSED, two.await(LinkBed.soon()));
      assertTrue(two.reason().contains("as many blocks as the offer, 2: 3"), two.reason());
      sender.send("raise");
      sender.awaitLine("raised");
      sender.send("offer new 7 4,5,6");
      sender.awaitLine("offered new");
      DeviceGrant old = receiver.grant("new", blocks, LinkProcess.LEASE);
      assertEquals(HandoverOutcome.REFUSED, old.await(LinkBed.soon()));
      assertTrue(old.reason().contains("run@1") && old.reason().contains("run@0"), old.reason());
      assertEquals(0, bed.wrong(blocks, 50));
      assertThrows(IllegalArgumentException.class, () -> receiver.grant("x", new int[]{0}, LinkProcess.LEASE), "null");
      assertThrows(IllegalArgumentException.class, () -> receiver.grant("x", new int[]{1, 1}, LinkProcess.LEASE));
      assertThrows(IllegalArgumentException.class,
          () -> receiver.grant("x", new int[]{LinkBed.BLOCKS}, LinkProcess.LEASE));
      assertFalse(receiver.isGranted(1), "a grant that was refused takes no block");
      end(sender);
    }
  }
}

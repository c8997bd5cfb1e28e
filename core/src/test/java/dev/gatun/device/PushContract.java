package dev.gatun.device;

import static dev.gatun.testing.Thrown.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.InUseException;
import dev.gatun.device.PushBed.Side;
import dev.gatun.internal.backend.ChildJvm;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Pages that go straight from one paged cache to another, within a process and from one process to another. */
@SuppressWarnings("NullAway.Init")
abstract class PushContract {
  private static final long SEED = PeerProcess.SEED;
  static final int BLOCKS = 5;
  static final KvShape SHAPE = new KvShape(3, 2, 4, 8, 4, 2);

  private Device gpu;
  private DeviceStream stream;
  private DeviceEvent ready;
  private PageCopy kernels;

  abstract String driver();

  @BeforeEach
  void open() {
    gpu = Device.open(driver(), 0);
    stream = gpu.newStream("stream", StreamPriority.LOW);
    ready = gpu.newEvent("ready");
    kernels = PageCopy.load(gpu);
  }

  @AfterEach
  void closeAll() {
    kernels.close();
    ready.close();
    stream.close();
    gpu.close();
  }

  @Test
  @DisplayName("K10.08 every byte arrives where the target's layout has it, and no other byte changes, whatever the two layouts")
  void betweenLayouts() {
    Random random = new Random(SEED);
    for (int round = 0; round < 60; round++) {
      int heads = 1 + random.nextInt(4);
      KvShape from = PushBed.shape(random, heads + random.nextInt(3));
      KvShape to = PushBed.withHeads(from, heads + random.nextInt(3));
      Side source = Side.random(random, from, heads);
      Side target = Side.random(random, to, heads);
      push(random, source, target);
    }
  }

  private void push(Random random, Side source, Side target) {
    try (PushBed from = new PushBed(gpu, stream, source, random.nextLong());
        PushBed to = new PushBed(gpu, stream, target, random.nextLong());
        PagePush push = PagePush.open(kernels, stream, from.cache(), to.cache(), 8, 3)) {
      for (int send = 0; send < 2; send++) {
        push.clear(PushBed.soon());
        stream.record(ready);
        List<Integer> sources = PushBed.blocks(random, source.blocks(), 1 + random.nextInt(4));
        List<Integer> targets = PushBed.blocks(random, target.blocks(), sources.size());
        for (int i = 0; i < targets.size(); i++)
          push.add(sources.get(i), targets.get(i));
        push.send(ready).await(PushBed.soon());
        for (int i = 0; i < targets.size(); i++)
          to.expect(targets.get(i), from, sources.get(i));
        to.check();
        from.check();
      }
    }
  }

  @Test
  @DisplayName("K10.08 caches that hold other pages are refused with both shapes, before anything is queued")
  void refusesOtherPages() {
    KvShape longer = new KvShape(3, 2, 4, 8, 8, 2);
    try (PushBed from = new PushBed(gpu, stream, Side.plain(SHAPE, BLOCKS), 1);
        PushBed to = new PushBed(gpu, stream, Side.plain(longer, BLOCKS), 2)) {
      String refused = message(IllegalArgumentException.class,
          () -> PagePush.open(kernels, stream, from.cache(), to.cache(), 8, 3));
      assertTrue(refused.contains(SHAPE.toString()) && refused.contains(longer.toString()), refused);
      PagedCache fewer = new PagedCache(from.cache().layout(), from.cache().memory(), new HeadRange(1, 2));
      assertThrows(IllegalArgumentException.class, () -> PagePush.open(kernels, stream, from.cache(), fewer, 8, 3));
      PagedCache beyond = new PagedCache(from.cache().layout(), from.cache().memory(), new HeadRange(3, 2));
      assertTrue(message(IllegalArgumentException.class,
          () -> PagePush.open(kernels, stream, beyond, from.cache(), 8, 3)).contains("heads must be of its 4"));
      PagedCache elsewhere = new PagedCache(from.cache().layout(), to.cache().memory());
      assertTrue(message(IllegalArgumentException.class,
          () -> PagePush.open(kernels, stream, from.cache(), elsewhere, 8, 3))
          .startsWith("target must lie in its memory"));
      try (PagePush push = PagePush.open(kernels, stream, from.cache(), from.cache(), 1, 3)) {
        assertThrows(IndexOutOfBoundsException.class, () -> push.add(1, Side.plain(SHAPE, BLOCKS).blocks()));
        assertThrows(IllegalArgumentException.class, () -> push.add(1, 0), "the null block");
        push.add(1, 2);
        assertTrue(message(IllegalStateException.class, () -> push.add(1, 3)).contains("is full: 1"));
      }
      from.check();
      to.check();
    }
  }

  @Test
  @DisplayName("a closed push refuses every call by name, and its end is there to wait for only")
  void refusesWhenClosed() {
    try (PushBed bed = new PushBed(gpu, stream, Side.plain(SHAPE, BLOCKS), 1)) {
      PagePush push = PagePush.open(kernels, stream, bed.cache(), bed.cache(), 1, 3);
      Completion done = push.done();
      assertFalse(done instanceof DeviceEvent);
      push.add(1, 2).send(ready).await(PushBed.soon());
      push.close();
      assertTrue(message(ClosedException.class, () -> push.add(1, 2)).contains("is closed"));
      assertThrows(ClosedException.class, () -> push.clear(PushBed.soon()));
      assertThrows(ClosedException.class, () -> push.send(ready));
      assertThrows(ClosedException.class, () -> push.await(PushBed.soon()));
      assertThrows(ClosedException.class, done::isDone);
    }
  }

  @Test
  @DisplayName("memory of another device is refused as source and as target, before anything is queued")
  void refusesOtherDevice() {
    try (Device second = Device.open(driver(), 0);
        DeviceStream other = second.newStream("other", StreamPriority.LOW);
        PushBed here = new PushBed(gpu, stream, Side.plain(SHAPE, BLOCKS), 1);
        PushBed there = new PushBed(second, other, Side.plain(SHAPE, BLOCKS), 2)) {
      assertThrows(IllegalArgumentException.class,
          () -> PagePush.open(kernels, stream, there.cache(), here.cache(), 8, 3));
      assertThrows(IllegalArgumentException.class,
          () -> PagePush.open(kernels, stream, here.cache(), there.cache(), 8, 3));
    }
  }

  @Test
  @DisplayName("what is opened on a closed stream is refused, and leaves nothing open")
  void refusesClosedStream() {
    try (Device second = Device.open(driver(), 0);
        PageCopy others = PageCopy.load(second);
        DeviceStream open = second.newStream("open", StreamPriority.LOW);
        PushBed bed = new PushBed(second, open, Side.plain(SHAPE, BLOCKS), 1)) {
      DeviceStream closed = second.newStream("closed", StreamPriority.LOW);
      closed.close();
      assertThrows(ClosedException.class, () -> PagePush.open(others, closed, bed.cache(), bed.cache(), 8, 3));
      assertThrows(ClosedException.class,
          () -> FragmentTable.allocate("table", closed, List.of(bed.slab()), 8, 3));
      assertThrows(ClosedException.class,
          () -> KnownPages.open(closed, bed.cache().layout(), List.of(bed.slab()), 3));
    }
  }

  @Test
  @DisplayName("a share of more than one allocation is refused where it is made, and where it is opened, whatever it says")
  void refusesSharesBeyondTheirAllocation() {
    long before = gpu.freeBytes();
    try (DeviceSlab slab = gpu.allocate("first", 1 << 22)) {
      try (DeviceSlab both = gpu.make("both", () -> new DeviceSlab(gpu, "both", slab.address(), 1 << 23, false))) {
        assertTrue(message(IllegalArgumentException.class, () -> gpu.share(both)).contains("in one allocation"));
      }
      try (ChildJvm owner = start("own", null)) {
        owner.awaitLine("owns");
        String owns = owner.output().lines().filter(line -> line.startsWith("owns ")).findFirst().orElseThrow();
        SlabShare good = SlabShare.decode(ByteBuffer.wrap(HexFormat.of().parseHex(owns.substring(5))));
        for (SlabShare bad : List.of(
            new SlabShare(good.pid(), good.gpu(), good.handle(), good.offset(), 100 * good.bytes()),
            new SlabShare(good.pid(), good.gpu(), good.handle(), 1L << 60, good.bytes()),
            new SlabShare(good.pid(), good.gpu(), good.handle(), 1L << 30, 8))) {
          assertTrue(
              message(IllegalArgumentException.class, () -> gpu.attach("bad", bad)).contains("share must lie in"));
        }
        try (PeerSlab theirs = gpu.attach("theirs", good)) {
          assertEquals(1 << 22, theirs.byteSize());
        }
        owner.closeInput();
        assertEquals(0, owner.await().code());
      }
    }
    PushBed.awaitFree(gpu, before);
  }

  @Test
  @DisplayName("pages arrive in the cache of another process, every byte of it checked by that process")
  void intoAnotherProcess() {
    Side side = Side.plain(SHAPE, BLOCKS);
    try (PushBed ours = new PushBed(gpu, stream, side, 5); SharedSlab shared = gpu.share(ours.slab())) {
      assertThrows(IllegalArgumentException.class, () -> gpu.attach("own", shared.share()));
      assertEquals(shared.share(), SlabShare.decode(ByteBuffer.wrap(shared.share().encode())));
      assertThrows(InUseException.class, ours.slab()::close, "a shared slab stays");
      try (ChildJvm pusher = start("push", shared.share()); PushBed theirs = new PushBed(gpu, stream, side, SEED)) {
        pusher.awaitLine("pushed");
        for (int block = 1; block <= PeerProcess.PAGES; block++)
          ours.expect(side.blocks() - block, theirs, block);
        ours.check();
        pusher.closeInput();
        assertEquals(0, pusher.await().code());
      }
    }
  }

  @Test
  @DisplayName("K11.04 a process that is killed with our memory open takes nothing with it, and the memory is free again")
  void peerIsKilled() {
    long before = gpu.freeBytes();
    try (PushBed ours = new PushBed(gpu, stream, Side.plain(SHAPE, BLOCKS), 5);
        SharedSlab shared = gpu.share(ours.slab());
        ChildJvm peer = start("attach", shared.share())) {
      peer.awaitLine("attached " + ours.slab().byteSize());
      peer.kill();
      peer.await();
      ours.check();
    }
    PushBed.awaitFree(gpu, before);
  }

  @Test
  @DisplayName("memory of a process that was killed stays until it is closed, and is then free")
  void ownerIsKilled() {
    long before = gpu.freeBytes();
    SlabShare share;
    try (ChildJvm owner = start("own", null)) {
      owner.awaitLine("owns");
      String owns = owner.output().lines().filter(line -> line.startsWith("owns ")).findFirst().orElseThrow();
      share = SlabShare.decode(ByteBuffer.wrap(HexFormat.of().parseHex(owns.substring(5))));
      try (PeerSlab theirs = gpu.attach("theirs", share); DeviceSlab copy = gpu.allocate("copy", share.bytes())) {
        stream.copy(copy, 0, theirs, 0, share.bytes()).await(PushBed.soon());
        owner.kill();
        owner.await();
        stream.copy(theirs, 0, copy, 0, share.bytes()).await(PushBed.soon());
      }
    }
    assertThrows(DeviceException.class, () -> gpu.attach("gone", share));
    PushBed.awaitFree(gpu, before);
  }

  @Test
  @DisplayName("a share that was cut short or is none is refused by name")
  void refusesBadShares() {
    byte[] good = new SlabShare(1, "00".repeat(16), "11".repeat(64), 0, 8).encode();
    assertTrue(message(IllegalArgumentException.class, () -> SlabShare.decode(ByteBuffer.wrap(good, 0, 20)))
        .contains("encoded must have " + SlabShare.ENCODED_BYTES));
    good[0]++;
    assertTrue(message(IllegalArgumentException.class, () -> SlabShare.decode(ByteBuffer.wrap(good)))
        .contains("mark of a slab share"));
    assertThrows(IllegalArgumentException.class, () -> new SlabShare(0, "00".repeat(16), "11".repeat(64), 0, 8));
    assertThrows(IllegalArgumentException.class, () -> new SlabShare(1, "0", "11".repeat(64), 0, 8));
    assertThrows(IllegalArgumentException.class, () -> new SlabShare(1, "00".repeat(16), "11".repeat(64), -1, 8));
    assertThrows(IllegalArgumentException.class,
        () -> new SlabShare(1, "00".repeat(16), "11".repeat(64), Long.MAX_VALUE, 8));
    SlabShare nobodys = new SlabShare(ProcessHandle.current().pid() + 1, "00".repeat(16), "22".repeat(64), 0, 8);
    assertThrows(DeviceException.class, () -> gpu.attach("nobody's", nobodys));
  }

  private ChildJvm start(String what, @Nullable SlabShare share) {
    return ChildJvm.start(PeerProcess.class, Map.of(), flags(), driver(), what,
        share == null ? "" : HexFormat.of().formatHex(share.encode()));
  }

  /** The child finds the driver as this process does. */
  static List<String> flags() {
    return Stream.of("gatun.cuda.library").filter(name -> System.getProperty(name) != null)
        .map(name -> "-D" + name + "=" + System.getProperty(name)).toList();
  }
}

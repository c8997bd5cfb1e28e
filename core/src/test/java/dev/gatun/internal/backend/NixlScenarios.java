package dev.gatun.internal.backend;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.backend.TransferRequests;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** What is run in a process of its own, because the process might not survive it, or has another way to its peers. */
final class NixlScenarios {
  private static final int PAGE = 64 << 10;
  private static final int PAGES = 512;

  private NixlScenarios() {}

  public static void main(String[] arguments) throws Exception {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook ran")));
    switch (arguments[0]) {
      case "owner" -> owner();
      case "moves" -> moves();
      case "killed" -> killed();
      case "stopped" -> stopped();
      case "metadata" -> metadata();
      default -> open(arguments[0]);
    }
  }

  /** An agent whose pages others move, until its input ends; says when its first page was overwritten. */
  private static void owner() throws IOException {
    try (NixlSide side = new NixlSide(NixlTestRuntime.options())) {
      MemorySegment pages = side.memory((long) PAGES * PAGE);
      NixlSide.fill(pages, 1);
      System.out.println("descriptor=" + Base64.getEncoder().encodeToString(side.descriptor().toBytes()));
      Thread.ofPlatform().daemon().start(() -> {
        while (side.engine.capabilities().notifications())
          side.engine.drainNotifications(notice -> System.out.println(
              notice.text() + ' ' + NixlSide.holds(pages.asSlice(0, PAGE), 2)));
      });
      while (System.in.read() >= 0) {
        // whatever is said, only the end counts
      }
      System.exit(0);
    }
  }

  private static ChildJvm startOwner() {
    ChildJvm owner = ChildJvm.start(NixlScenarios.class, "owner");
    owner.awaitLine("descriptor=");
    return owner;
  }

  private static SegmentDescriptor descriptor(ChildJvm owner) {
    String line = owner.output().lines().filter(text -> text.startsWith("descriptor=")).findFirst().orElseThrow();
    return SegmentDescriptor.parse(Base64.getDecoder().decode(line.substring("descriptor=".length())));
  }

  /** Reads all pages of an owner, writes one, tells it, and sees it confirm. */
  private static void moves() {
    try (ChildJvm owner = startOwner(); NixlSide side = new NixlSide(NixlTestRuntime.options())) {
      MemorySegment pages = side.memory((long) PAGES * PAGE);
      SegmentDescriptor peer = descriptor(owner);
      int id = side.engine.openSegment(peer);
      long theirs = peer.ranges().getFirst().address();
      System.out.println("read " + flight(side, TransferRequests.READ, pages, id, theirs));
      System.out.println("same " + NixlSide.holds(pages, 1));
      MemorySegment first = pages.asSlice(0, PAGE);
      NixlSide.fill(first, 2);
      System.out.println("written " + side.move(TransferRequests.WRITE, first, id, theirs));
      side.engine.notify(id, "look".getBytes(StandardCharsets.UTF_8));
      owner.awaitLine("look true");
      System.out.println("seen");
    }
  }

  private static Map<TransferOutcome, Integer> flight(NixlSide side, int opcode, MemorySegment pages, int peer,
      long theirs) {
    try (Arena call = Arena.ofConfined(); EngineFlight flight = side.engine.flight(PAGES)) {
      flight.submit(requests(call, opcode, pages, peer, theirs), null);
      NixlSide.await(flight);
      Map<TransferOutcome, Integer> outcomes = new TreeMap<>();
      for (int i = 0; i < PAGES; i++)
        outcomes.merge(flight.outcome(i), 1, Integer::sum);
      return outcomes;
    }
  }

  /** Pages in reverse order, so that none are merged. */
  private static TransferRequests requests(Arena arena, int opcode, MemorySegment pages, int peer, long theirs) {
    TransferRequests requests = new TransferRequests(PAGES, arena);
    for (int i = PAGES - 1; i >= 0; i--)
      requests.add(opcode, pages.address() + (long) i * PAGE, peer, theirs + (long) i * PAGE, PAGE);
    return requests;
  }

  /** The peer is killed while it is being read; then it is read again, and a new one instead. */
  @SuppressWarnings("try") // killed by closing it, while the flight goes on
  private static void killed() {
    try (NixlSide side = new NixlSide(NixlTestRuntime.options())) {
      MemorySegment pages = side.memory((long) PAGES * PAGE);
      try (ChildJvm owner = startOwner();
          Arena call = Arena.ofConfined();
          EngineFlight flight = side.engine.flight(PAGES)) {
        SegmentDescriptor peer = descriptor(owner);
        int id = side.engine.openSegment(peer);
        TransferRequests requests = requests(call, TransferRequests.READ, pages, id,
            peer.ranges().getFirst().address());
        flight.submit(requests, null);
        NixlSide.await(flight); // connected
        flight.submit(requests, null);
        System.out.println("in flight " + (flight.poll() > 0));
        owner.close();
        NixlSide.await(flight);
        System.out.println("killed " + flight.outcome(0));
        try {
          flight.submit(requests, null);
          NixlSide.await(flight);
          System.out.println("dead " + flight.outcome(0));
        } catch (EngineException noConnection) {
          System.out.println("dead FAILED");
        }
      }
      try (ChildJvm owner = startOwner()) {
        SegmentDescriptor peer = descriptor(owner);
        int id = side.engine.openSegment(peer);
        System.out.println("next " + flight(side, TransferRequests.READ, pages, id,
            peer.ranges().getFirst().address()));
        System.out.println("same " + NixlSide.holds(pages, 1));
      }
    }
  }

  /** The peer is frozen while it is being read: the flight does not end, and the engine is destroyed under it. */
  private static void stopped() throws Exception {
    NixlSide side = new NixlSide(NixlTestRuntime.options());
    MemorySegment pages = side.memory((long) PAGES * PAGE);
    try (ChildJvm owner = startOwner(); Arena call = Arena.ofConfined()) {
      SegmentDescriptor peer = descriptor(owner);
      int id = side.engine.openSegment(peer);
      long theirs = peer.ranges().getFirst().address();
      System.out.println("connected " + flight(side, TransferRequests.READ, pages, id, theirs));
      signal("STOP", owner.pid());
      EngineFlight flight = side.engine.flight(PAGES);
      flight.submit(requests(call, TransferRequests.READ, pages, id, theirs), null);
      Deadline deadline = Deadline.after(Duration.ofSeconds(1));
      while (flight.poll() > 0 && !deadline.reached())
        Thread.onSpinWait();
      System.out.println("at the deadline " + flight.outcome(0));
      System.out.println("pending " + side.engine.close(Deadline.after(Duration.ofSeconds(20))));
      flight.abandon();
      flight.close();
      side.arena.close();
      signal("CONT", owner.pid());
      System.out.println("alive");
    }
  }

  private static void signal(String name, long pid) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
    if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) throw new AssertionError("kill -" + name);
  }

  /** Metadata that is cut, damaged or noise; the right one, with a head and without; and last what may do lasting harm. */
  private static void metadata() {
    try (NixlSide here = new NixlSide(NixlTestRuntime.options());
        NixlSide there = new NixlSide(NixlTestRuntime.options())) {
      MemorySegment mine = here.memory(PAGE);
      MemorySegment theirs = there.memory(PAGE);
      NixlSide.fill(theirs, 3);
      SegmentDescriptor good = there.descriptor();
      byte[] sealed = good.metadata();
      int refused = 0;
      for (int length = 0; length < sealed.length; length++)
        refused += refuses(here, good, Arrays.copyOf(sealed, length));
      System.out.println("cut " + (sealed.length - refused));
      Random random = new Random(7);
      refused = 0;
      for (int round = 0; round < 200; round++)
        refused += refuses(here, good, damaged(random, sealed, NixlMetadata.HEAD_BYTES));
      System.out.println("damaged " + (200 - refused));
      refused = 0;
      for (int round = 0; round < 100; round++) {
        byte[] noise = new byte[1 + random.nextInt(2 * sealed.length)];
        random.nextBytes(noise);
        refused += refuses(here, good, noise);
      }
      System.out.println("noise " + (100 - refused));
      int peer = here.engine.openSegment(good);
      System.out.println("good " + here.move(TransferRequests.READ, mine, peer, theirs.address()) + ' '
          + NixlSide.holds(mine, 3));
      byte[] bare = Arrays.copyOfRange(sealed, NixlMetadata.HEAD_BYTES, sealed.length);
      try (NixlSide third = new NixlSide(NixlTestRuntime.options())) {
        MemorySegment another = third.memory(PAGE);
        int id = third.engine.openSegment(new SegmentDescriptor(good.engine(), good.name(), bare, good.ranges()));
        System.out.println("bare " + third.move(TransferRequests.READ, another, id, theirs.address()) + ' '
            + NixlSide.holds(another, 3));
      }
      for (int round = 0; round < 100; round++)
        refuses(here, good, damaged(random, bare, 0)); // some bits carry no weight
      System.out.println("survived");
    }
  }

  private static byte[] damaged(Random random, byte[] metadata, int from) {
    byte[] damaged = metadata.clone();
    for (int bit = 0; bit < 3; bit++)
      damaged[from + random.nextInt(damaged.length - from)] ^= (byte) (1 << random.nextInt(8));
    return Arrays.equals(damaged, metadata) ? damaged(random, metadata, from) : damaged;
  }

  private static int refuses(NixlSide here, SegmentDescriptor good, byte[] metadata) {
    try {
      here.engine.openSegment(new SegmentDescriptor(good.engine(), good.name(), metadata, good.ranges()));
      return 0;
    } catch (EngineException expected) {
      return 1;
    }
  }

  /** A live engine, and an end of the process. */
  private static void open(String end) throws IOException {
    NixlSide side = new NixlSide(NixlTestRuntime.options());
    side.memory(PAGE);
    System.out.println("open");
    switch (end) {
      case "return" -> {
      }
      case "exit" -> System.exit(3);
      case "halt" -> Runtime.getRuntime().halt(4);
      case "wait" -> System.in.read();
      default -> throw new IllegalArgumentException(end);
    }
  }
}

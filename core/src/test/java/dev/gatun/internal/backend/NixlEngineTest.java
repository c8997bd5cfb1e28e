package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.EngineNotification;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.backend.TransferRequests;
import dev.gatun.memory.GuardedArena;
import dev.gatun.testing.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is particular to NIXL; what every engine does is held by the transfer contract. */
@Tag("nixl")
class NixlEngineTest {
  private static final long PAGE = 4096;

  private final NixlSide here = new NixlSide(NixlTestRuntime.options());
  private final NixlSide there = new NixlSide(NixlTestRuntime.options());

  @AfterEach
  void close() {
    here.close();
    there.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "often", "", "1000001"})
  @DisplayName("a pause of the library's thread that is no number of microseconds is refused by name")
  void progressPause(String pause) {
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
        () -> new NixlSide(NixlTestRuntime.options().withParameters(Map.of("pthr_delay_us", pause))));
    assertTrue(refused.toString().contains("pthr_delay_us must be 0 to"), refused::toString);
  }

  @Test
  @DisplayName("the library's thread sleeps unless it is told not to, and the plugin is not given what is the agent's")
  void progressSleeps() {
    assertEquals(100, NixlAgent.progressPause(NixlTestRuntime.options()));
    EngineOptions awake = NixlTestRuntime.options().withParameters(Map.of("pthr_delay_us", "0"));
    assertEquals(0, NixlAgent.progressPause(awake));
    new NixlSide(awake).close();
  }

  @Test
  @DisplayName("rows without a gap are merged, also across two registrations that adjoin, where the merged ones are refused")
  void merges() {
    MemorySegment mine = here.memory(8 * PAGE);
    MemorySegment theirs = there.arena.allocate(8 * PAGE, PAGE);
    there.register(theirs.asSlice(0, 4 * PAGE));
    there.register(theirs.asSlice(4 * PAGE));
    int peer = here.engine.openSegment(there.descriptor());
    NixlSide.fill(mine, 1);
    try (Arena call = Arena.ofConfined(); EngineFlight flight = here.engine.flight(8)) {
      TransferRequests requests = new TransferRequests(8, call);
      for (int i = 0; i < 8; i++)
        requests.add(TransferRequests.WRITE, mine.address() + i * PAGE, peer, theirs.address() + i * PAGE, PAGE);
      for (int round = 1; round <= 3; round++) {
        NixlSide.fill(mine, round);
        flight.submit(requests, null);
        NixlSide.await(flight);
        for (int i = 0; i < 8; i++)
          assertEquals(TransferOutcome.COMPLETED, flight.outcome(i));
        assertTrue(NixlSide.holds(theirs, round));
      }
      requests.clear();
      // in the order of the peer's pages only: nothing adjoins on both sides
      for (int i = 0; i < 8; i++)
        requests.add(TransferRequests.READ, mine.address() + (7 - i) * PAGE, peer, theirs.address() + i * PAGE, PAGE);
      flight.submit(requests, null);
      NixlSide.await(flight);
      for (int i = 0; i < 8; i++) {
        assertEquals(-1, MemorySegment.mismatch(mine, (7 - i) * PAGE, (8 - i) * PAGE, theirs, i * PAGE,
            (i + 1) * PAGE), "page " + i);
      }
    }
  }

  @Test
  @DisplayName("memory that overlaps is refused by name, and so is what was never registered or is no place")
  void registrations() {
    MemorySegment memory = here.memory(4 * PAGE);
    for (MemorySegment overlapping : List.of(memory, memory.asSlice(PAGE, PAGE), memory.asSlice(0, PAGE))) {
      EngineException refused = assertThrows(EngineException.class, () -> here.engine.register(overlapping, "*"));
      assertEquals(EngineCode.ADDRESS_OVERLAPPED, refused.code());
    }
    EngineException part = assertThrows(EngineException.class, () -> here.engine.unregister(memory.asSlice(0, PAGE)));
    assertEquals(EngineCode.ADDRESS_NOT_REGISTERED, part.code());
    MemorySegment other = here.arena.allocate(PAGE, PAGE);
    assertThrows(IllegalArgumentException.class, () -> here.engine.register(other, "disk"));
    here.engine.unregister(memory);
    assertThrows(EngineException.class, () -> here.engine.unregister(memory));
    here.engine.register(memory, "cpu:0");
  }

  @Test
  @DisplayName("memory of a GPU reaches the library as such, and is refused with its status where there is no GPU")
  void gpuMemory() {
    MemorySegment memory = here.arena.allocate(PAGE, PAGE);
    EngineException refused = assertThrows(EngineException.class, () -> here.engine.register(memory, "cuda:3"));
    assertTrue(refused.rawCode() < 0 && refused.code() != EngineCode.UNKNOWN, refused.getMessage());
    here.engine.register(memory, "*");
  }

  @Test
  @DisplayName("after a transfer that failed the next one gets a new connection and completes")
  void recovers() {
    MemorySegment mine = here.memory(PAGE);
    MemorySegment good = there.memory(PAGE);
    try (GuardedArena guarded = new GuardedArena()) {
      // a page that is there and that nobody may touch: what a peer unmapped without telling, and nothing in its place
      MemorySegment last = guarded.allocate(PAGE);
      MemorySegment bad = MemorySegment.ofAddress(last.address() + PAGE).reinterpret(PAGE);
      there.register(bad);
      int peer = here.engine.openSegment(there.descriptor());
      NixlSide.fill(good, 5);
      for (int round = 0; round < 3; round++) {
        assertEquals(TransferOutcome.FAILED,
            here.move(TransferRequests.READ, mine, peer, bad.address()));
        assertEquals(TransferOutcome.COMPLETED, here.move(TransferRequests.READ, mine, peer, good.address()));
        assertTrue(NixlSide.holds(mine, 5));
      }
      there.engine.unregister(bad);
    }
  }

  @Test
  @DisplayName("rows that failed are in flight until their connection is closed, which waits for others and takes none")
  void failedRows() {
    MemorySegment mine = here.memory(3 * PAGE);
    MemorySegment good = there.memory(PAGE);
    try (GuardedArena guarded = new GuardedArena();
        Arena call = Arena.ofConfined();
        EngineFlight failing = here.engine.flight(1);
        EngineFlight other = here.engine.flight(1);
        EngineFlight late = here.engine.flight(1)) {
      MemorySegment last = guarded.allocate(PAGE);
      MemorySegment bad = MemorySegment.ofAddress(last.address() + PAGE).reinterpret(PAGE);
      there.register(bad);
      int peer = here.engine.openSegment(there.descriptor());
      // it is in flight for as long as nobody looks at it
      other.submit(read(call, mine, 0, peer, good), null);
      failing.submit(read(call, mine, 1, peer, bad), null);
      Await.until("it has failed", () -> failing.poll() > 0 && failing.rawStatus(0) < 0);
      assertEquals(TransferOutcome.RUNNING, failing.outcome(0));
      assertEquals(1, failing.pollAll());
      EngineException refused = assertThrows(EngineException.class,
          () -> late.submit(read(call, mine, 2, peer, good), null));
      assertEquals(EngineCode.NOT_ALLOWED, refused.code());
      NixlSide.await(other);
      assertEquals(0, failing.poll());
      assertEquals(TransferOutcome.FAILED, failing.outcome(0));
      late.submit(read(call, mine, 2, peer, good), null);
      NixlSide.await(late);
      assertEquals(TransferOutcome.COMPLETED, late.outcome(0));
      there.engine.unregister(bad);
    }
  }

  private static TransferRequests read(Arena call, MemorySegment mine, int page, int peer, MemorySegment theirs) {
    TransferRequests requests = new TransferRequests(1, call);
    requests.add(TransferRequests.READ, mine.address() + page * PAGE, peer, theirs.address(), PAGE);
    return requests;
  }

  @Test
  @DisplayName("a peer that was restarted under its old name is another peer with the same id")
  void restarted() {
    MemorySegment mine = here.memory(PAGE);
    EngineOptions options = NixlTestRuntime.options("restarted-" + ProcessHandle.current().pid());
    int peer = -1;
    for (int life = 1; life <= 3; life++) {
      try (NixlSide side = new NixlSide(options)) {
        MemorySegment theirs = side.memory(PAGE);
        NixlSide.fill(theirs, life);
        int id = here.engine.openSegment(side.descriptor());
        assertTrue(peer < 0 || peer == id);
        peer = id;
        assertEquals(TransferOutcome.COMPLETED, here.move(TransferRequests.READ, mine, peer, theirs.address()));
        assertTrue(NixlSide.holds(mine, life));
      }
    }
  }

  @Test
  @DisplayName("memory registered later is reached after the peer's new description, and a closed segment opens again by itself")
  void later() {
    MemorySegment mine = here.memory(PAGE);
    MemorySegment first = there.memory(PAGE);
    int peer = here.engine.openSegment(there.descriptor());
    MemorySegment second = there.memory(PAGE);
    NixlSide.fill(second, 7);
    assertThrows(IllegalArgumentException.class,
        () -> here.move(TransferRequests.READ, mine, peer, second.address()));
    assertEquals(peer, here.engine.openSegment(there.descriptor()));
    assertEquals(TransferOutcome.COMPLETED, here.move(TransferRequests.READ, mine, peer, second.address()));
    assertTrue(NixlSide.holds(mine, 7));
    NixlSide.fill(first, 8);
    here.engine.closeSegment(peer);
    assertEquals(TransferOutcome.COMPLETED, here.move(TransferRequests.READ, mine, peer, first.address()));
    assertTrue(NixlSide.holds(mine, 8));
    assertThrows(IllegalArgumentException.class, () -> here.engine.closeSegment(peer + 1));
  }

  @Test
  @DisplayName("several threads move pages at once, each with a flight of its own")
  void threads() throws InterruptedException {
    int threads = 4;
    MemorySegment mine = here.memory(threads * 64L * PAGE);
    MemorySegment theirs = there.memory(threads * 64L * PAGE);
    int peer = here.engine.openSegment(there.descriptor());
    List<Thread> running = new ArrayList<>();
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    for (int t = 0; t < threads; t++) {
      long offset = t * 64L * PAGE;
      running.add(Thread.ofPlatform().start(() -> {
        try {
          for (int round = 0; round < 50; round++) {
            MemorySegment part = mine.asSlice(offset, 64L * PAGE);
            NixlSide.fill(part, round);
            assertEquals(TransferOutcome.COMPLETED,
                here.move(TransferRequests.WRITE, part, peer, theirs.address() + offset));
            part.fill((byte) 0);
            assertEquals(TransferOutcome.COMPLETED,
                here.move(TransferRequests.READ, part, peer, theirs.address() + offset));
            assertTrue(NixlSide.holds(part, round));
          }
        } catch (Throwable e) {
          failures.add(e);
        }
      }));
    }
    for (Thread thread : running)
      thread.join();
    assertEquals(List.of(), failures);
  }

  @Test
  @DisplayName("a flight refuses to be used against its state, and everything is refused by name once the engine is closed")
  void states() {
    MemorySegment mine = here.memory(PAGE);
    MemorySegment theirs = there.memory(PAGE);
    int peer = here.engine.openSegment(there.descriptor());
    try (Arena call = Arena.ofConfined(); EngineFlight flight = here.engine.flight(1)) {
      TransferRequests requests = new TransferRequests(2, call);
      assertThrows(IllegalArgumentException.class, () -> flight.submit(requests, null));
      assertEquals(0, flight.poll());
      requests.add(TransferRequests.READ, mine.address(), peer, theirs.address(), PAGE);
      byte[] message = "done".getBytes(StandardCharsets.UTF_8);
      flight.submit(requests, message);
      assertTrue(flight.inFlight());
      assertThrows(IllegalStateException.class, () -> flight.submit(requests, null));
      assertThrows(IllegalStateException.class, flight::close);
      NixlSide.await(flight);
      assertFalse(flight.inFlight());
      assertTrue(flight.notified());
      List<EngineNotification> arrived = new ArrayList<>();
      Deadline deadline = Deadline.after(NixlSide.WAIT_MAX);
      while (arrived.isEmpty() && !deadline.reached())
        there.engine.drainNotifications(arrived::add);
      assertArrayEquals(message, arrived.getFirst().message());
      assertEquals(here.engine.segmentName(), arrived.getFirst().from());
      requests.add(TransferRequests.READ, mine.address(), peer, theirs.address(), PAGE);
      assertThrows(IllegalArgumentException.class, () -> flight.submit(requests, null));
      here.engine.close();
      requests.clear();
      requests.add(TransferRequests.READ, mine.address(), peer, theirs.address(), PAGE);
      assertThrows(ClosedException.class, () -> flight.submit(requests, null));
    }
    assertThrows(ClosedException.class, here.engine::metadata);
    assertThrows(ClosedException.class, () -> here.engine.notify(peer, new byte[1]));
    assertThrows(ClosedException.class, () -> here.engine.register(mine, "*"));
  }

  @Test
  @DisplayName("a plugin that is not there is refused with those that are, and other devices with those of the process")
  void unknownPlugin() {
    String plugin = String.valueOf(assertThrows(GatunException.class,
        () -> new NixlEngineProvider().open(NixlTestRuntime.options().withProtocol("nope"))).getMessage());
    assertTrue(plugin.contains("nope") && plugin.contains("UCX"), plugin);
    String devices = String.valueOf(assertThrows(GatunException.class,
        () -> new NixlEngineProvider().open(NixlTestRuntime.options().withDevices("eth7"))).getMessage());
    assertTrue(devices.contains("\"lo\"") && devices.contains("\"eth7\""), devices);
  }
}

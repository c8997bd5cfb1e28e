package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.backend.TransferRequests;
import dev.gatun.testing.Thrown;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The one-shot life of a flight, and what is refused before it crosses. */
@Timeout(60)
class LoopbackEngineBackendTest {
  private static final long BYTES = 4096;

  private Arena arena = Arena.ofShared();
  private EngineBackend engine = new LoopbackEngineProvider().open(EngineOptions.loopback());
  private MemorySegment memory = MemorySegment.NULL;
  private int self;

  @BeforeEach
  void open() {
    LoopbackControls.reset();
    memory = arena.allocate(2 * BYTES, 4096);
    engine.register(memory, "*");
    self = engine.openSegment(new SegmentDescriptor("loopback", engine.segmentName(), new byte[0], List.of()));
  }

  @AfterEach
  void close() {
    LoopbackControls.reset();
    engine.close();
    arena.close();
  }

  private TransferRequests one(int opcode, long local, int segment, long remote, long length) {
    TransferRequests requests = new TransferRequests(2, arena);
    requests.add(opcode, local, segment, remote, length);
    return requests;
  }

  private TransferRequests good() {
    return one(TransferRequests.WRITE, memory.address(), self, memory.address() + BYTES, BYTES);
  }

  private static void land(EngineFlight flight) {
    while (flight.poll() > 0)
      LockSupport.parkNanos(10_000);
  }

  @Test
  @DisplayName("P25 opcodes, lengths, addresses and segments that the library would misread are refused by index")
  void refusals() {
    try (EngineFlight flight = engine.flight(2)) {
      long here = memory.address();
      assertEquals("opcode of request 0 must be 0 or 1: 7", refused(flight, one(7, here, self, here, 8)));
      assertEquals("opcode of request 0 must be 0 or 1: -1", refused(flight, one(-1, here, self, here, 8)));
      assertEquals("length of request 0 must be positive: 0", refused(flight, one(0, here, self, here, 0)));
      assertEquals("length of request 0 must be positive: -1", refused(flight, one(0, here, self, here, -1)));
      assertEquals("address of request 0 must not be 0", refused(flight, one(0, 0, self, here, 8)));
      assertEquals("segment of request 0 must be 0 or more: -1", refused(flight, one(0, here, -1, here, 8)));
      assertEquals("requests must be 1 to 2: 0", refused(flight, new TransferRequests(1, arena)));
      assertThrows(IllegalArgumentException.class, () -> flight.submit(good(), new byte[1 << 20]));
      EngineException unknown = assertThrows(EngineException.class,
          () -> flight.submit(one(0, here, 99, here, 8), null));
      assertEquals(EngineCode.INVALID_ARGUMENT, unknown.code());
      assertFalse(flight.inFlight());
      assertEquals(0, LoopbackControls.liveBatches());
      flight.submit(good(), null);
      land(flight);
      assertEquals(TransferOutcome.COMPLETED, flight.outcome(0));
    }
    assertThrows(IllegalArgumentException.class, () -> engine.flight(-1));
    assertThrows(IllegalArgumentException.class, () -> engine.flight(engine.capabilities().batchMax() + 1));
  }

  private static String refused(EngineFlight flight, TransferRequests requests) {
    return Thrown.message(IllegalArgumentException.class, () -> flight.submit(requests, null));
  }

  @Test
  @DisplayName("P6 a native batch is allocated by a submit, freed once, and never polled after its end")
  void oneShot() {
    EngineFlight flight = engine.flight(1);
    LoopbackControls.arm("engine.copy", LoopbackControls.Action.HANG, 0, 1);
    flight.submit(good(), null);
    LoopbackControls.awaitHanging("engine.copy", 1);
    assertEquals(1, LoopbackControls.liveBatches());
    assertEquals(1, flight.poll());
    assertEquals(TransferOutcome.RUNNING, flight.outcome(0));
    assertThrows(IllegalStateException.class, () -> flight.submit(good(), null));
    assertThrows(IllegalStateException.class, flight::close);
    LoopbackControls.release("engine.copy");
    land(flight);
    assertEquals(0, LoopbackControls.liveBatches());
    LoopbackControls.arm("engine.status", LoopbackControls.Action.FAIL, 202, 0);
    assertEquals(0, flight.poll());
    assertEquals(0, flight.pollAll());
    assertEquals(0, LoopbackControls.hits("engine.status"));
    flight.close();
    flight.close();
  }

  @Test
  @DisplayName("P8 a flight of an engine that was destroyed is not touched any more, only forgotten")
  void closedUnderway() {
    EngineFlight flight = engine.flight(1);
    LoopbackControls.arm("engine.copy", LoopbackControls.Action.HANG, 0, 1);
    flight.submit(good(), null);
    assertEquals(List.of(), engine.close(Deadline.after(Duration.ofSeconds(20))));
    assertThrows(ClosedException.class, flight::poll);
    assertTrue(flight.inFlight());
    flight.abandon();
    flight.close();
    assertThrows(ClosedException.class, () -> engine.register(memory, "*"));
    assertEquals(0, LoopbackControls.liveBatches());
  }

  @Test
  @DisplayName("P29 memory that is NULL, on the heap, registered twice or unknown is refused alike")
  void registration() {
    assertThrows(IllegalArgumentException.class, () -> engine.register(MemorySegment.NULL, "*"));
    assertThrows(IllegalArgumentException.class, () -> engine.register(MemorySegment.ofArray(new byte[8]), "*"));
    assertThrows(IllegalArgumentException.class, () -> engine.register(memory.asReadOnly(), "*"));
    assertThrows(IllegalArgumentException.class, () -> engine.register(arena.allocate(8), "cpu\0"));
    EngineException twice = assertThrows(EngineException.class, () -> engine.register(memory, "*"));
    assertEquals(EngineCode.ADDRESS_OVERLAPPED, twice.code());
    EngineException unknown = assertThrows(EngineException.class, () -> engine.unregister(arena.allocate(8)));
    assertEquals(EngineCode.ADDRESS_NOT_REGISTERED, unknown.code());
  }
}

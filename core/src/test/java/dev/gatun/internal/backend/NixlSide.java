package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineBackend;
import dev.gatun.backend.EngineFlight;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.MemoryRange;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.backend.TransferOutcome;
import dev.gatun.backend.TransferRequests;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** An agent of NIXL with registered memory, for tests below the public classes. */
final class NixlSide implements AutoCloseable {
  static final Duration WAIT_MAX = Duration.ofSeconds(60);

  final EngineBackend engine;
  final Arena arena = Arena.ofShared();
  private final List<MemoryRange> ranges = new ArrayList<>();

  NixlSide(EngineOptions options) {
    engine = new NixlEngineProvider().open(options);
  }

  /** Allocates and registers memory. */
  MemorySegment memory(long bytes) {
    MemorySegment memory = arena.allocate(bytes, 4096);
    register(memory);
    return memory;
  }

  void register(MemorySegment memory) {
    engine.register(memory, MemoryRange.ANYWHERE);
    ranges.add(new MemoryRange(memory.address(), memory.byteSize(), MemoryRange.ANYWHERE));
  }

  SegmentDescriptor descriptor() {
    return new SegmentDescriptor(EngineOptions.NIXL, engine.segmentName(), engine.metadata(), ranges);
  }

  /** Moves one range. {@return how it ended} */
  TransferOutcome move(int opcode, MemorySegment local, int segment, long remoteAddress) {
    try (Arena call = Arena.ofConfined(); EngineFlight flight = engine.flight(1)) {
      TransferRequests requests = new TransferRequests(1, call);
      requests.add(opcode, local.address(), segment, remoteAddress, local.byteSize());
      flight.submit(requests, null);
      await(flight);
      return flight.outcome(0);
    }
  }

  static void await(EngineFlight flight) {
    Deadline deadline = Deadline.after(WAIT_MAX);
    while (flight.poll() > 0) {
      if (deadline.reached()) throw new AssertionError("in flight after " + WAIT_MAX);
      Thread.onSpinWait();
    }
  }

  static void fill(MemorySegment memory, long seed) {
    for (long i = 0; i < memory.byteSize(); i += Long.BYTES)
      memory.set(JAVA_LONG, i, seed * 0x9E3779B97F4A7C15L + i);
  }

  static boolean holds(MemorySegment memory, long seed) {
    for (long i = 0; i < memory.byteSize(); i += Long.BYTES) {
      if (memory.get(JAVA_LONG, i) != seed * 0x9E3779B97F4A7C15L + i) return false;
    }
    return true;
  }

  @Override
  public void close() {
    assertEquals(List.of(), engine.close(Deadline.after(WAIT_MAX)));
    arena.close();
  }
}

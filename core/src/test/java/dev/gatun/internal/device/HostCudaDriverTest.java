package dev.gatun.internal.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.device.CudaDriver;
import dev.gatun.device.DeviceException;
import dev.gatun.device.StreamPriority;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** GPUs made of host memory must be as strict as real ones, else tests on them prove nothing. */
class HostCudaDriverTest {
  private static final String PTX = ".visible .entry gatun_gather_16(";
  private final CudaDriver driver = new HostDriverProvider().open();
  private long stream;
  private long memory;

  @BeforeEach
  void bind() {
    driver.pushContext(driver.retainContext(0));
    stream = driver.createStream(StreamPriority.LOW);
    memory = driver.allocate(4_096);
  }

  @Test
  @DisplayName("without a bound context every call is refused")
  void needsContext() {
    driver.popContext();
    assertEquals(201, code(() -> driver.allocate(1)));
    assertEquals(201, code(() -> driver.fill(memory, (byte) 0, 1, stream)));
    assertEquals(201, code(() -> driver.isIdle(stream)));
    assertEquals(201, code(driver::popContext));
  }

  @Test
  @DisplayName("unknown handles, sizes and kernels are refused and harm nothing")
  void refusesUnknown() {
    assertEquals(400, code(() -> driver.record(77_777, stream)));
    assertEquals(400, code(() -> driver.isIdle(memory)));
    assertEquals(1, code(() -> driver.free(memory + 1)));
    assertEquals(1, code(() -> driver.allocate(-1)));
    assertEquals(713, code(() -> driver.unpin(memory)));
    assertEquals(500, code(() -> driver.function(driver.loadModule(PTX), "gatun_scatter_16")));
    long kernel = driver.function(driver.loadModule(PTX), "gatun_gather_16");
    assertEquals(400, code(() -> driver.launch(stream, 1, 1, stream, memory)));
    assertEquals(1, code(() -> {
      try (Arena arena = Arena.ofConfined()) {
        driver.launch(kernel, 0, 1, stream, arena.allocate(64).address());
      }
    }));
    driver.fill(memory, (byte) 1, 4_096, stream);
    awaitIdle();
  }

  @Test
  @DisplayName("a write behind an allocation, or to memory that is not pinned, loses the context as on a GPU")
  void illegalAddress() {
    driver.fill(memory + 4_000, (byte) 0, 97, stream);
    assertEquals(700, code(this::awaitIdle));
    DeviceException after = assertThrows(DeviceException.class, () -> driver.allocate(1));
    assertTrue(after.isContextLost() && String.valueOf(after.getMessage()).contains("end the process"));
  }

  @Test
  @DisplayName("host memory that is not pinned is out of reach")
  void unpinnedMemory() {
    try (Arena arena = Arena.ofConfined()) {
      driver.copyToHost(arena.allocate(64).address(), memory, 64, stream);
      assertEquals(700, code(this::awaitIdle));
    }
  }

  @Test
  @DisplayName("a vector that is not aligned to its size loses the context")
  void unalignedVector() {
    long kernel = driver.function(driver.loadModule(PTX), "gatun_gather_16");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment values = arena.allocateFrom(ValueLayout.JAVA_LONG, memory, memory + 8, 1, 16);
      MemorySegment pointers = arena.allocateFrom(ValueLayout.JAVA_LONG, values.address(), values.address() + 8,
          values.address() + 16, values.address() + 24);
      driver.launch(kernel, 1, 1, stream, pointers.address());
    }
    assertEquals(700, code(this::awaitIdle));
  }

  private void awaitIdle() {
    long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (!driver.isIdle(stream))
      if (System.nanoTime() > end) throw new AssertionError("the stream is stuck");
    driver.isIdle(stream); // what went wrong last is known now
  }

  private static int code(Executable call) {
    return assertThrows(DeviceException.class, call).code();
  }
}

package dev.gatun.device;

import static dev.gatun.testing.Thrown.message;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Memory that an engine takes from the driver's virtual-memory calls, as PyTorch's expandable segments do. Needs a GPU. */
abstract class VirtualMemoryContract {
  private static final int PROPERTIES_BYTES = 32; // CUmemAllocationProp
  private static final int ACCESS_BYTES = 12; // CUmemAccessDesc
  private static final int DEVICE = 1; // CU_MEM_LOCATION_TYPE_DEVICE, and CU_MEM_ALLOCATION_TYPE_PINNED
  private static final int READ_WRITE = 3;

  private final Arena arena = Arena.ofShared();
  private final SymbolLookup cuda = SymbolLookup.libraryLookup(
      System.getProperty("gatun.cuda.library", "libcuda.so.1"), Arena.global());

  abstract String driver();

  @Test
  @DisplayName("K5.06 an inner slice of virtual memory is adopted with its exact range and moved; sharing it is refused clearly")
  void innerSlice() throws Throwable {
    try (Device gpu = Device.open(driver(), 0)) {
      gpu.bind();
      Mapping mapping;
      try {
        mapping = map();
      } finally {
        gpu.unbind();
      }
      int bytes = 1_000_000;
      try (Slab slab = Slab.allocate(SlabOptions.of("host", bytes + 2));
          PinnedSlab host = gpu.pin(slab);
          DeviceStream stream = gpu.newStream("stream", StreamPriority.LOW);
          DeviceSlab whole = gpu.adopt("whole", mapping.base, mapping.bytes);
          DeviceSlab slice = gpu.adopt("slice", mapping.base + 4_096, bytes)) {
        stream.fill(whole, 0, whole.byteSize(), (byte) 1).fill(slice, 0, bytes, (byte) 2);
        stream.copy(host, 0, whole, 4_095, bytes + 2).await(Deadline.after(Duration.ofMinutes(1)));
        assertEquals(1, slab.segment().get(JAVA_BYTE, 0));
        assertEquals(2, slab.segment().get(JAVA_BYTE, 1));
        assertEquals(2, slab.segment().get(JAVA_BYTE, bytes));
        assertEquals(1, slab.segment().get(JAVA_BYTE, bytes + 1L));
        assertTrue(message(IllegalArgumentException.class,
            () -> gpu.adopt("beyond", mapping.base + 4_096, mapping.bytes)).startsWith("address must be of"));
        assertThrows(DeviceException.class, () -> gpu.share(slice));
      }
      gpu.bind();
      try {
        call("cuMemUnmap", mapping.base, mapping.bytes);
        call("cuMemRelease", mapping.handle);
        call("cuMemAddressFree", mapping.base, mapping.bytes);
      } finally {
        gpu.unbind();
      }
    }
    arena.close();
  }

  private record Mapping(long base, long bytes, long handle) {}

  private Mapping map() throws Throwable {
    MemorySegment properties = arena.allocate(PROPERTIES_BYTES, Long.BYTES);
    properties.set(JAVA_INT, 0, DEVICE); // type; handle types: none
    properties.set(JAVA_INT, 8, DEVICE); // location: GPU 0
    MemorySegment out = arena.allocate(JAVA_LONG);
    call("cuMemGetAllocationGranularity", out, properties, 0);
    long bytes = 2 * out.get(JAVA_LONG, 0);
    call("cuMemCreate", out, bytes, properties, 0L);
    long handle = out.get(JAVA_LONG, 0);
    call("cuMemAddressReserve", out, bytes, 0L, 0L, 0L);
    long base = out.get(JAVA_LONG, 0);
    call("cuMemMap", base, bytes, 0L, handle, 0L);
    MemorySegment access = arena.allocate(ACCESS_BYTES, Integer.BYTES);
    access.set(JAVA_INT, 0, DEVICE);
    access.set(JAVA_INT, 8, READ_WRITE);
    call("cuMemSetAccess", base, bytes, access, 1L);
    return new Mapping(base, bytes, handle);
  }

  private void call(String name, Object... arguments) throws Throwable {
    MemoryLayout[] layouts = new MemoryLayout[arguments.length];
    for (int i = 0; i < arguments.length; i++) {
      layouts[i] = arguments[i] instanceof MemorySegment
          ? ADDRESS
          : arguments[i] instanceof Long ? JAVA_LONG : JAVA_INT;
    }
    Object code = Linker.nativeLinker().downcallHandle(cuda.findOrThrow(name), FunctionDescriptor.of(JAVA_INT, layouts))
        .invokeWithArguments(arguments);
    assertEquals(0, code, name);
  }
}

package dev.gatun.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The stamp's layout, which other versions of Gatun read, and the checksum under it. */
class StampTest {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Test
  @DisplayName("the 64 bytes are what their description says")
  void layout() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(64 + 100);
      ContractBench.fill(memory.asSlice(64), 5);
      Stamp stamp = new Stamp(KeyCodec.plain("ns").withVerify(Verify.FULL), memory, arena);
      stamp.epoch(new WeightEpoch("run", 258));
      stamp.encode(0, 77, 100);
      stamp.copyTo(0);
      assertEquals("GATUNKV1", new String(memory.asSlice(0, 8).toArray(ValueLayout.JAVA_BYTE),
          StandardCharsets.US_ASCII));
      assertEquals(StableHash.of("ns"), memory.get(LONG, 8));
      assertEquals(StableHash.of("run"), memory.get(LONG, 16));
      assertEquals(258, memory.get(LONG, 24));
      assertEquals(77, memory.get(LONG, 32));
      assertEquals(100, memory.get(LONG, 40));
      CRC32C page = new CRC32C();
      page.update(memory.asSlice(64, 100).toArray(ValueLayout.JAVA_BYTE));
      assertEquals(1 | page.getValue() << 32, memory.get(LONG, 48));
      CRC32C head = new CRC32C();
      head.update(memory.asSlice(0, 60).toArray(ValueLayout.JAVA_BYTE));
      assertEquals(head.getValue() << 32, memory.get(LONG, 56));
      assertNull(stamp.check(0, 77, 164));
      assertEquals(Rejection.SWAPPED, stamp.check(0, 78, 164));
      stamp.epoch(new WeightEpoch("run", 257));
      assertEquals(Rejection.STALE, stamp.check(0, 77, 164));
    }
  }

  @Test
  @DisplayName("K4.02 a checksum over a boundary between two GiB is that of its bytes")
  void windows() {
    try (Slab slab = Slab.allocate(SlabOptions.of("windows", (2L << 30) + 8192))) {
      MemorySegment memory = slab.segment();
      Checksum checksum = new Checksum(memory);
      for (long at : new long[]{0, (1L << 30) - 1000, (1L << 30) - 1, 1L << 30, (2L << 30) - 1000}) {
        ContractBench.fill(memory.asSlice(at, 5000), 3);
        CRC32C wanted = new CRC32C();
        wanted.update(memory.asSlice(at, 5000).toArray(ValueLayout.JAVA_BYTE));
        assertEquals((int) wanted.getValue(), checksum.of(at, 5000), "at " + at);
      }
      assertEquals(0, checksum.of(100, 0));
    }
  }
}

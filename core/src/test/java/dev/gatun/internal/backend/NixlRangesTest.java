package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.MemoryRange;
import dev.gatun.bindings.nixl.NixlC;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NixlRangesTest {
  private static MemoryRange range(long address, long bytes, String location) {
    return new MemoryRange(address, bytes, location);
  }

  @ParameterizedTest
  @CsvSource({"*,0,0", "cpu:0,0,0", "cpu:1,0,0", "cpu,0,0", "cuda:0,1,0", "cuda:7,1,7"})
  @DisplayName("a location is encoded as kind of memory and device: GPUs by ordinal, all of the host as one")
  void places(String location, int kind, long device) {
    assertEquals(0, NixlC.NIXL_CAPI_MEM_DRAM());
    assertEquals(1, NixlC.NIXL_CAPI_MEM_VRAM());
    assertEquals(kind, NixlRanges.kind(location));
    assertEquals(device, NixlRanges.device(location));
    NixlRanges ranges = NixlRanges.of(List.of(range(4096, 4096, location)));
    assertEquals(kind, ranges.kind(0));
    assertEquals(device, ranges.device(0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpu:0", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:99999999999", "disk"})
  @DisplayName("any other location is refused by name")
  void otherPlaces(String location) {
    String message = String
        .valueOf(assertThrows(IllegalArgumentException.class, () -> NixlRanges.kind(location)).getMessage());
    assertTrue(message.contains(location), message);
  }

  @Test
  @DisplayName("the range that holds all bytes is found, whatever the order, up to its last byte and not beyond")
  void finds() {
    NixlRanges ranges = NixlRanges.of(List.of(range(-8192, 4096, "cuda:1"), range(8192, 4096, "*"),
        range(4096, 4096, "*")));
    assertEquals(0, ranges.find(4096, 4096));
    assertEquals(1, ranges.find(8192, 4096));
    assertEquals(2, ranges.find(-8192, 4096));
    assertEquals(2, ranges.find(-4097, 1));
    assertEquals(-1, ranges.find(4095, 1));
    assertEquals(-1, ranges.find(8191, 2), "adjoining ranges are two");
    assertEquals(-1, ranges.find(-4097, 2));
    assertEquals(-1, ranges.find(12288, 1));
    assertEquals(-1, ranges.find(8192, Long.MAX_VALUE));
    assertEquals(-1, NixlRanges.NONE.find(4096, 1));
  }

  @Test
  @DisplayName("ranges are part of others only if each is there unchanged")
  void parts() {
    NixlRanges one = NixlRanges.of(List.of(range(4096, 4096, "*")));
    NixlRanges more = NixlRanges.of(List.of(range(8192, 4096, "*"), range(4096, 4096, "*")));
    assertTrue(one.isPartOf(more));
    assertFalse(more.isPartOf(one));
    assertFalse(one.isPartOf(NixlRanges.of(List.of(range(4096, 8192, "*")))));
    assertTrue(NixlRanges.NONE.isPartOf(one));
  }
}

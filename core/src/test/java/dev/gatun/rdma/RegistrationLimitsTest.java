package dev.gatun.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RegistrationLimitsTest {
  private static final LockedMemory FREE = new LockedMemory(Long.MAX_VALUE, 0, false);

  private static RdmaDevice device(String name, long regionBytesMax) {
    return new RdmaDevice(name, 1, "1", regionBytesMax, 10, List.of(), "", "");
  }

  private static RegistrationLimits limits(LockedMemory memory, RdmaDevice... devices) {
    return new RegistrationLimits(memory, List.of(devices));
  }

  @Test
  @DisplayName("K5.09 memory beyond the locked-memory limit is refused with limit, bytes, what is in use, and the devices")
  void refusesBeyondLimit() {
    LockedMemory memory = new LockedMemory(8 << 20, 1 << 20, false);
    RegistrationLimits limits = limits(memory, device("mlx5_0", 1L << 40), device("mlx5_1", 1L << 40));
    assertEquals("", limits.refusal(7 << 20));
    String refusal = limits.refusal((7 << 20) + 1);
    for (String part : List.of("7340033 bytes", "2: mlx5_0, mlx5_1", "8388608 bytes", "1048576 are in use",
        "ulimit -l"))
      assertTrue(refusal.contains(part), part + " in " + refusal);
  }

  @Test
  @DisplayName("what two devices lock together is no reason to refuse, but is named when a registration fails")
  void suspectsSum() {
    RegistrationLimits limits = limits(new LockedMemory(8 << 20, 0, true), device("a", 1L << 40),
        device("b", 1L << 40));
    assertEquals("", limits.suspicion(4 << 20));
    assertEquals("", limits.refusal((4 << 20) + 1));
    assertTrue(limits.suspicion((4 << 20) + 1).contains("2: a, b"));
  }

  @Test
  @DisplayName("K5.03 memory beyond a device's largest region is named with the device and its limit")
  void suspectsRegions() {
    RegistrationLimits limits = limits(FREE, device("small", 1 << 20), device("large", RdmaDevice.NO_LIMIT));
    assertEquals("", limits.suspicion(1 << 20));
    assertEquals("small registers at most 1048576 bytes as one region: use several smaller slabs",
        limits.suspicion((1 << 20) + 1));
    assertEquals("", limits.refusal(Long.MAX_VALUE));
  }

  @ParameterizedTest
  @CsvSource({"8388608, 0, 8388608, true", "8388608, 0, 8388609, false", "8388608, 8388608, 0, true",
      "8388608, 8388608, 1, false", "8388608, 9999999, 0, false", "0, 0, 1, false",
      "9223372036854775807, 9223372036854775807, 9223372036854775807, true"})
  @DisplayName("room is what the limit leaves beside what is locked")
  void room(long limitBytes, long pinnedBytes, long bytes, boolean room) {
    assertEquals(room, new LockedMemory(limitBytes, pinnedBytes, false).hasRoom(bytes, 1));
    assertEquals(!room, new LockedMemory(limitBytes, pinnedBytes, false).forbids(bytes));
    assertFalse(new LockedMemory(limitBytes, pinnedBytes, true).forbids(bytes));
  }

  @Test
  @DisplayName("limits and privileges are read as the kernel writes them")
  void parses() {
    List<String> limits = List.of("Limit                     Soft Limit           Hard Limit           Units     ",
        "Max locked memory         8388608              unlimited            bytes     ");
    List<String> status = List.of("VmLck:\t     100 kB", "VmPin:\t     2048 kB", "CapEff:\t000001ffffffffff");
    assertEquals(new LockedMemory(8_388_608, 2_097_152, true), LockedMemory.parse(limits, status));
    assertEquals("limited to 8 MiB, 2 MiB locked, lifted by CAP_IPC_LOCK",
        LockedMemory.parse(limits, status).describe());
    assertEquals(new LockedMemory(Long.MAX_VALUE, 0, false),
        LockedMemory.parse(List.of("Max locked memory         unlimited            unlimited            bytes"),
            List.of("CapEff:\t0000000000000000")));
    assertFalse(LockedMemory.parse(limits, List.of("CapEff:\t000001ffffffbfff")).privileged());
  }

  @Test
  @DisplayName("without the kernel's files nothing is refused")
  void unknown() {
    assertEquals(FREE, LockedMemory.parse(List.of(), List.of()));
    assertEquals(FREE, LockedMemory.parse(List.of("Max locked memory"), List.of("VmPin:", "CapEff: zz")));
    assertTrue(LockedMemory.read().limitBytes() >= 0);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 12, 13, 14, 16, 19, 22, 24, 38, 95, 0, -7, Integer.MAX_VALUE})
  @DisplayName("K5.08 every error number has a name with the number, and something to look at")
  void errors(int errno) {
    assertTrue(RegistrationErrors.name(errno).endsWith("(" + errno + ")"));
    assertFalse(RegistrationErrors.hint(errno).isBlank());
  }
}

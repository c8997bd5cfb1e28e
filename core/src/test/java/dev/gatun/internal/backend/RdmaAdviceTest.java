package dev.gatun.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.RegistrationAdvice;
import dev.gatun.rdma.LinkLayer;
import dev.gatun.rdma.LockedMemory;
import dev.gatun.rdma.PortState;
import dev.gatun.rdma.RdmaDevice;
import dev.gatun.rdma.RdmaPort;
import dev.gatun.rdma.RdmaReport;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RdmaAdviceTest {
  private static final LockedMemory UNLIMITED = new LockedMemory(Long.MAX_VALUE, 0, false);
  private static final LockedMemory EIGHT_MIB = new LockedMemory(8 << 20, 0, false);

  private final AtomicInteger looks = new AtomicInteger();

  private static RdmaDevice device(String name, PortState state) {
    return new RdmaDevice(name, 1, "1", 1 << 30, 10,
        List.of(new RdmaPort(1, state, LinkLayer.INFINIBAND, 4096, 4096, 100_000, 3, List.of(), "")), "", "");
  }

  private RdmaAdvice advice(String chosen, LockedMemory memory, RdmaDevice... devices) {
    RdmaReport report = new RdmaReport("lib", true, List.of(devices), devices.length == 0 ? "no RDMA devices" : "", "");
    return new RdmaAdvice(chosen, () -> {
      looks.getAndIncrement();
      return report;
    }, () -> memory);
  }

  @Test
  @DisplayName("K5.09 a slab beyond the locked-memory limit is refused, counting the devices that will be used")
  void refuses() {
    RdmaAdvice advice = advice("b,c", EIGHT_MIB, device("a", PortState.ACTIVE), device("b", PortState.ACTIVE),
        device("c", PortState.DOWN));
    assertEquals("", advice.refusal(8 << 20));
    assertEquals(0, looks.get(), "where there is room no device is looked at");
    assertTrue(advice.refusal((8 << 20) + 1).contains("(1: b)"), advice.refusal((8 << 20) + 1));
    assertTrue(advice("", EIGHT_MIB, device("a", PortState.ACTIVE), device("b", PortState.ACTIVE)).refusal(1L << 40)
        .contains("(2: a, b)"));
    assertEquals(2, looks.get(), "devices are looked at once a backend");
  }

  @ParameterizedTest
  @CsvSource({"-12, ENOMEM (12), locked-memory", "-14, EFAULT (14), nvidia-peermem", "-22, EINVAL (22), dma-buf",
      "-95, EOPNOTSUPP (95), driver", "12, ENOMEM (12), locked-memory"})
  @DisplayName("K5.08 an error of a device is named, with what to do")
  void explains(long code, String name, String hint) {
    String said = advice("", UNLIMITED, device("a", PortState.ACTIVE)).hint(4096, code);
    assertTrue(said.startsWith(name) && said.contains(hint), said);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, -7, -200, -600, Long.MIN_VALUE, Long.MAX_VALUE})
  @DisplayName("the library's own codes are not taken for errors of a device")
  void leavesOwnCodes(long code) {
    assertEquals("", advice("", UNLIMITED, device("a", PortState.ACTIVE)).hint(4096, code));
  }

  @Test
  @DisplayName("without a device that works, a failed registration says how the devices are")
  void saysState() {
    assertEquals("RDMA: no RDMA devices", advice("", UNLIMITED).hint(4096, -600));
    String down = advice("b", UNLIMITED, device("a", PortState.DOWN)).hint(4096, -600);
    assertTrue(down.contains("a: firmware 1") && down.contains("port 1 down"), down);
    assertTrue(down.endsWith("there is no device b"), down);
    String large = advice("", UNLIMITED, device("a", PortState.ACTIVE)).hint(1L << 40, -600);
    assertTrue(large.startsWith("a registers at most 1073741824 bytes"), large);
  }

  @Test
  @DisplayName("other protocols have nothing to say and load nothing")
  void otherProtocols() {
    assertSame(RegistrationAdvice.NONE, RdmaAdvice.of("tcp", ""));
    assertEquals("", RdmaAdvice.whyNotOpened("tcp", ""));
    assertEquals("", RegistrationAdvice.NONE.refusal(Long.MAX_VALUE) + RegistrationAdvice.NONE.hint(1, -12));
    assertFalse(RdmaAdvice.whyNotOpened("rdma", "").isEmpty());
  }
}

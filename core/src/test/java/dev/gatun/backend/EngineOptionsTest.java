package dev.gatun.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.testing.Thrown;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineOptionsTest {
  private static final EngineOptions GOOD = EngineOptions.mooncake("10.0.0.7");

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "a b", "host:0", "host:99999", "ho\0st", "10.0.0.300", "[::1", "-"})
  @DisplayName("K9.01 a local name that is no host is refused with its text")
  void localNames(String name) {
    String message = Thrown.message(IllegalArgumentException.class, () -> EngineOptions.mooncake(name));
    assertTrue(message.startsWith("localName must be"), message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "zookeeper://a", "etcd", "http:/a", "file:///x", "http://a b", "http://a\0"})
  @DisplayName("a metadata scheme that would abort the process is refused before anything is loaded")
  void metadata(String text) {
    String message = Thrown.message(IllegalArgumentException.class, () -> GOOD.withMetadata(text));
    assertTrue(message.startsWith("metadata must be P2PHANDSHAKE or a URL"), message);
    assertThrows(IllegalArgumentException.class, () -> EngineOptions.loopback().withMetadata(text));
  }

  @Test
  @DisplayName("metadata services are for Mooncake; the handshake is spelt in any case")
  void metadataKinds() {
    assertEquals("P2PHANDSHAKE", GOOD.withMetadata("p2pHandshake").metadata());
    assertEquals("http://10.0.0.1:8080/metadata", GOOD.withMetadata("http://10.0.0.1:8080/metadata").metadata());
    assertThrows(IllegalArgumentException.class, () -> EngineOptions.loopback().withMetadata("http://10.0.0.1:8080"));
    assertThrows(IllegalArgumentException.class, () -> EngineOptions.nixl("agent").withMetadata("etcd://10.0.0.1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "RDMA", "rdma ", "ib", "rpc_only", "tcp\0"})
  @DisplayName("K9.13 a protocol that the engine does not install is refused with those it does")
  void protocols(String protocol) {
    String message = Thrown.message(IllegalArgumentException.class, () -> GOOD.withProtocol(protocol));
    assertTrue(message.contains("one of ascend, barex") && message.contains("tcp"), message);
    assertThrows(IllegalArgumentException.class, () -> EngineOptions.loopback().withProtocol(protocol));
  }

  @Test
  @DisplayName("engines, agents, devices, parameters and limits are checked by name")
  void others() {
    assertThrows(IllegalArgumentException.class, () -> EngineOptions.nixl(""));
    assertThrows(IllegalArgumentException.class, () -> EngineOptions.nixl("a\0b"));
    assertThrows(IllegalArgumentException.class, () -> EngineOptions.nixl("x".repeat(256)));
    assertThrows(IllegalArgumentException.class, () -> GOOD.withDevices("mlx5_0 mlx5_1"));
    assertEquals("mlx5_0,mlx5_1", GOOD.withDevices("mlx5_0,mlx5_1").devices());
    assertThrows(IllegalArgumentException.class, () -> GOOD.withParameters(Map.of("a b", "c")));
    assertThrows(IllegalArgumentException.class, () -> GOOD.withParameters(Map.of("a", "c\0")));
    Duration second = Duration.ofSeconds(1);
    assertThrows(IllegalArgumentException.class, () -> GOOD.withTimeouts(Duration.ZERO, second));
    assertThrows(IllegalArgumentException.class, () -> GOOD.withTimeouts(second, Duration.ofDays(1)));
    assertThrows(IllegalArgumentException.class,
        () -> new SegmentDescriptor("Mooncake", "a:1", new byte[0], List.of()));
  }

  @Test
  @DisplayName("ranges know what lies in them, at the end of the address space too")
  void ranges() {
    MemoryRange range = new MemoryRange(1_000, 100, "*");
    assertTrue(range.contains(1_000, 100) && range.contains(1_099, 1) && range.contains(1_100, 0));
    assertFalse(range.contains(999, 1) || range.contains(1_099, 2) || range.contains(1_101, 0));
    MemoryRange last = new MemoryRange(-100, 100, "*");
    assertTrue(last.contains(-100, 100) && last.contains(-1, 1));
    assertFalse(last.contains(-1, 2) || last.contains(0, 1) || last.contains(-101, 1));
    for (long[] wrong : new long[][]{{0, 1}, {1, 0}, {1, -1}, {-100, 101}, {-1, Long.MAX_VALUE}})
      assertThrows(IllegalArgumentException.class, () -> new MemoryRange(wrong[0], wrong[1], "*"));
    assertThrows(IllegalArgumentException.class, () -> new MemoryRange(1, 1, " "));
    assertThrows(IllegalArgumentException.class, () -> new SegmentDescriptor("loopback", "a:1", new byte[0],
        List.of(new MemoryRange(1_050, 100, "*"), range)));
  }

  @Test
  @DisplayName("codes of both signs have the name of their magnitude; unknown ones keep their number")
  void codes() {
    assertEquals(EngineCode.ADDRESS_OVERLAPPED, EngineCode.ofMooncake(-7));
    assertEquals(EngineCode.ADDRESS_OVERLAPPED, EngineCode.ofMooncake(7));
    assertEquals(EngineCode.OK, EngineCode.ofMooncake(0));
    for (long unknown : new long[]{5, -5, 9, 1_000, Integer.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE})
      assertEquals(EngineCode.UNKNOWN, EngineCode.ofMooncake(unknown), Long.toString(unknown));
    EngineException unknown = new EngineException("submit", EngineCode.ofMooncake(42), 42, "7 requests");
    assertEquals("submit(7 requests) failed: UNKNOWN (42)", unknown.getMessage());
    assertEquals(42, unknown.rawCode());
  }
}

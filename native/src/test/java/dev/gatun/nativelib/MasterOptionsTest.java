package dev.gatun.nativelib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MasterOptionsTest {
  private final MasterOptions standard = MasterOptions.DEFAULT;

  @Test
  @DisplayName("flags add up, the last value counts")
  void flags() {
    MasterOptions options = standard.withFlag("default_kv_lease_ttl", "500").withFlag("client_ttl", "3")
        .withFlag("client_ttl", "4");

    assertEquals(Map.of("default_kv_lease_ttl", "500", "client_ttl", "4"), options.flags());
    assertEquals("127.0.0.1", options.host());
  }

  @Test
  @DisplayName("wrong values are refused with their field")
  void refused() {
    assertRefused("flags", () -> standard.withFlag("--client_ttl", "3"));
    assertRefused("flags", () -> standard.withFlag("rpc_port", "3"));
    assertRefused("rpcPort", () -> standard.withPorts(-1, 0));
    assertRefused("adminPort", () -> standard.withPorts(0, 65_536));
    assertRefused("must differ", () -> standard.withPorts(5000, 5000));
    assertRefused("host", () -> standard.withHost(" "));
    assertRefused("startLimit", () -> standard.withStartLimit(Duration.ZERO));
  }

  private static void assertRefused(String field, org.junit.jupiter.api.function.Executable call) {
    var refused = assertThrows(IllegalArgumentException.class, call);
    assertTrue(refused.toString().contains(field), refused.toString());
  }
}

package dev.gatun.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.testing.Thrown;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {
  @ParameterizedTest(name = "{0} is host {1} port {2}")
  @CsvSource({"[2001:db8::1]:9000,2001:db8::1,9000", "2001:db8::1,2001:db8::1,50051", "[2001:db8::1],2001:db8::1,50051",
      "::1,::1,50051", "[::1]:1,::1,1", "[::ffff:10.0.0.1]:65535,::ffff:10.0.0.1,65535", "host,host,50051",
      "host:7,host,7", "10.0.0.1:10000,10.0.0.1,10000", "a_b-c.d:9,a_b-c.d,9", "localhost.:80,localhost.,80"})
  @DisplayName("K9.01 host and port are told apart, IPv6 included")
  void reads(String text, String host, int port) {
    assertEquals(new HostPort(host, port), HostPort.parse("master", text, 50_051));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", ":", ":9", "host:", "host:abc", "host:0", "host:65536", "host:-1", "host:999999",
      "host:1:2", "[host]:9", "[2001:db8::1", "2001:db8::1]:9", "[2001:db8::1]9", "[2001:db8::1]:", "[]:9",
      "2001:db8:::1",
      "1:2", "10.0.0.300:9", "10.0.0:9", "a b:9", "a\tb", "a\0b:9", "-a:9", "a-:9", "http://a:9", "ä:9"})
  @DisplayName("K9.01 what is neither host nor address is refused with field, value and what is allowed")
  void refuses(String text) {
    String message = Thrown.message(IllegalArgumentException.class, () -> HostPort.parse("master", text, 50_051));
    assertTrue(message.startsWith("master must be host, host:port or [IPv6]:port"), message);
    assertTrue(message.contains(text.replace("\0", "\\0")), message);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"[2001:db8::1]:9000,[2001:db8::1]:9000", "2001:db8::1,[2001:db8::1]", "host:7,host:7", "host,host"})
  @DisplayName("addresses are written so that they read back the same")
  void writes(String text, String written) {
    HostPort address = HostPort.parse("master", text, HostPort.NO_PORT);
    assertEquals(written, address.toString());
    assertEquals(address, HostPort.parse("master", written, HostPort.NO_PORT));
  }

  @ParameterizedTest(name = "{0} loopback {1}")
  @CsvSource({"localhost,true", "LOCALHOST:9,true", "127.0.0.1,true", "127.9.9.9:1,true", "::1,true", "[::1]:9,true",
      "10.0.0.1,false", "2001:db8::1,false", "node-7,false", "localhost.example,false"})
  @DisplayName("loopback is known by name and by address")
  void loopback(String text, boolean loopback) {
    assertEquals(loopback, HostPort.parse("master", text, HostPort.NO_PORT).isLoopback());
  }

  @ParameterizedTest(name = "{0} wildcard {1}")
  @CsvSource({"0.0.0.0,true", "0.0.0.0:9,true", "::,true", "[::]:9,true", "::0,true", "0:0:0:0:0:0:0:0,true",
      "::ffff:0.0.0.0,true", "127.0.0.1,false", "::1,false", "10.0.0.0,false", "zero.example,false"})
  @DisplayName("K9.14 the wildcard address is known in each of its forms")
  void wildcard(String text, boolean wildcard) {
    assertEquals(wildcard, HostPort.parse("peer", text, HostPort.NO_PORT).isWildcard());
  }
}

package dev.gatun.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.testing.Thrown;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoreOptionsTest {
  private static StoreOptionsBuilder remote() {
    return StoreOptions.mooncake("10.0.0.9:50051").localHostname("10.0.0.1").masterAdmin("10.0.0.9:9003");
  }

  private static String refusal(UnaryOperator<StoreOptionsBuilder> change) {
    return Thrown.message(IllegalArgumentException.class, () -> change.apply(remote()).build());
  }

  @Test
  @DisplayName("K9.08 every value arrives as it was given")
  void valuesArrive() {
    StoreOptions options = StoreOptions.mooncake("10.0.0.9:50052").localHostname("10.0.0.1:12345")
        .metadataServer("http://10.0.0.9:8080/metadata").segmentBytes(64L << 20).localBufferBytes(32L << 20)
        .protocol("rdma").devices("mlx5_0,mlx5_1").masterAdmin("http://10.0.0.9:9003").rpcTimeout(Duration.ofSeconds(3))
        .adminTimeout(Duration.ofSeconds(4)).closeTimeout(Duration.ofSeconds(5)).libraryPath(Path.of("/opt/lib.so"))
        .build();
    assertEquals(new StoreOptions("mooncake", "10.0.0.1:12345", "http://10.0.0.9:8080/metadata", 64L << 20, 32L << 20,
        "rdma", "mlx5_0,mlx5_1", "10.0.0.9:50052", "http://10.0.0.9:9003", Duration.ofSeconds(3), Duration.ofSeconds(4),
        Duration.ofSeconds(5), Path.of("/opt/lib.so")), options);
    assertEquals(options, options.toBuilder().build());
  }

  @Test
  @DisplayName("K9.12 the effective configuration is printable, and reads back as the same options")
  void effectiveReadsBack() {
    StoreOptions options = remote().segmentBytes(64L << 20).rpcTimeout(Duration.ofMillis(1500)).build();
    assertEquals(options, StoreOptions.of(options.effective()).build());
    assertTrue(options.describe().contains("segmentBytes = 67108864 (64 MiB)\n"), options.describe());
    assertEquals(13, options.describe().lines().count());
  }

  @Test
  @DisplayName("no password of a URL is printed")
  void passwordsAreMasked() {
    StoreOptions options = remote().metadataServer("redis://user:secret@10.0.0.9:6379").build();
    assertFalse((options + options.describe()).contains("secret"), options.describe());
    assertTrue(options.describe().contains("redis://***@10.0.0.9:6379"), options.describe());
  }

  @Test
  @DisplayName("the embedded store needs no more than a name and a size")
  void loopback() {
    StoreOptions options = StoreOptions.loopback("main", 16L << 20);
    assertEquals("loopback:main", options.master());
    assertTrue(options.warnings().isEmpty());
    assertThrows(IllegalArgumentException.class, () -> StoreOptions.loopback("a b", 16L << 20));
    assertThrows(IllegalArgumentException.class, () -> StoreOptions.loopback("", 16L << 20));
    assertThrows(IllegalArgumentException.class, () -> options.toBuilder().protocol("rdma").build());
    assertThrows(IllegalArgumentException.class, () -> options.toBuilder().master("10.0.0.1:1").build());
    assertThrows(IllegalArgumentException.class, () -> options.toBuilder().metadataServer("http://a").build());
    assertThrows(IllegalArgumentException.class, () -> options.toBuilder().masterAdmin("a:1").build());
  }

  @Test
  @DisplayName("K9.12 nothing but a master and a route is assumed: no library, no master, no name are refused")
  void nothingIsAssumed() {
    assertThrows(IllegalArgumentException.class, () -> StoreOptions.of(Map.of()).build());
    assertThrows(IllegalArgumentException.class, () -> StoreOptions.of(Map.of("library", "mooncake")).build());
    String message = Thrown.message(IllegalArgumentException.class, () -> StoreOptions.mooncake("10.0.0.9").build());
    assertTrue(message.startsWith("localHostname must be host or host:port that other machines reach"), message);
    assertEquals("127.0.0.1", StoreOptions.mooncake("127.0.0.1").build().localHostname());
  }

  @Test
  @DisplayName("the name towards a master on this machine is a loopback address")
  void nameTowardsMaster() {
    assertEquals("127.0.0.1", StoreOptions.mooncake("127.0.0.1").localHostnameTowardsMaster().build().localHostname());
    assertThrows(IllegalArgumentException.class,
        () -> StoreOptions.mooncake("etcd://10.0.0.9:2379").localHostnameTowardsMaster());
  }

  @Test
  @DisplayName("K9.01 a master without a port gets the default one, IPv6 included")
  void defaultPort() {
    assertEquals("[2001:db8::1]:50051", remote().master("2001:db8::1").build().master());
    assertEquals("[2001:db8::1]:9000", remote().master("[2001:db8::1]:9000").build().master());
    assertEquals("[2001:db8::2]", remote().localHostname("2001:db8::2").build().localHostname());
    assertEquals("[2001:db8::2]:77", remote().localHostname("2001:db8::2").localPort(77).build().localHostname());
  }

  @Test
  @DisplayName("K9.03 a host that has a port, and a port beside it, are ambiguous")
  void ambiguousPorts() {
    assertEquals("ambiguous: localHostname has a port already (10.0.0.1:10000) and localPort is 7; give one of them",
        refusal(b -> b.localHostname("10.0.0.1:10000").localPort(7)));
    assertEquals("ambiguous: master has a port already (10.0.0.9:50051) and masterPort is 7; give one of them",
        refusal(b -> b.masterPort(7)));
    assertEquals("10.0.0.1:7", remote().localPort(7).build().localHostname());
    assertEquals("masterPort must be 1 to 65535: 65536", refusal(b -> b.master("10.0.0.9").masterPort(65_536)));
    assertEquals("localPort must be 1 to 65535: -1", refusal(b -> b.localPort(-1)));
  }

  @Test
  @DisplayName("K9.05 a loopback name towards a master elsewhere: refused with a segment, else a warning")
  void loopbackName() {
    String message = refusal(b -> b.localHostname("localhost").segmentBytes(16L << 20));
    assertTrue(message.startsWith("localHostname must be a name that other machines reach"), message);
    assertTrue(message.contains("\"localhost\""), message);
    List<String> warnings = remote().localHostname("127.0.0.1").build().warnings();
    assertEquals(1, warnings.size());
    assertTrue(warnings.getFirst().contains("other machines cannot reach this client"), warnings.toString());
    assertTrue(remote().build().warnings().isEmpty());
    assertEquals(1, remote().master("etcd://10.0.0.9:2379").localHostname("::1").segmentBytes(16L << 20).build()
        .warnings().size());
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"RDMA,rdma", "'rdma ',rdma", "Tcp,tcp"})
  @DisplayName("K9.13 protocols are normalised")
  void protocolNormalised(String text, String protocol) {
    assertEquals(protocol, remote().protocol(text).build().protocol());
  }

  @ParameterizedTest
  @ValueSource(strings = {"ib", "", "rdma,tcp", "roce", "tcp\0"})
  @DisplayName("K9.13 other protocols are refused with the allowed list")
  void protocolRefused(String text) {
    String message = refusal(b -> b.protocol(text));
    assertTrue(message.startsWith("protocol must be one of tcp, rdma, efa,"), message);
  }

  @Test
  @DisplayName("P4 rpc_only with memory would crash the library, so it is refused")
  void rpcOnly() {
    assertTrue(refusal(b -> b.protocol("rpc_only")).startsWith("protocol rpc_only moves no data"));
    assertEquals("rpc_only", remote().protocol("rpc_only").localBufferBytes(0).build().protocol());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "10.0.0.1:2379", "ftp://a", "P2P", "http:/a", "://a", "http://", "http://a b",
      "redis://a\0b"})
  @DisplayName("P4 unknown metadata schemes would abort the process, so they are refused")
  void metadataRefused(String text) {
    String message = refusal(b -> b.metadataServer(text));
    assertTrue(message.startsWith("metadataServer must be P2PHANDSHAKE or a URL"), message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"P2PHANDSHAKE", "http://10.0.0.9:8080/metadata", "https://a/b", "etcd://10.0.0.9:2379",
      "redis://:pw@10.0.0.9:6379"})
  @DisplayName("known metadata schemes are taken as they are")
  void metadataTaken(String text) {
    assertEquals(text, remote().metadataServer(text).build().metadataServer());
  }

  @ParameterizedTest
  @ValueSource(strings = {"etcd://10.0.0.9:2379", "etcd://10.0.0.8:2379,10.0.0.9:2379", "redis://10.0.0.9:6379",
      "k8s://namespace/lease"})
  @DisplayName("K8.05 addresses of a highly available master, lists of them too, are taken as they are")
  void highAvailability(String text) {
    assertEquals(text, remote().master(text).build().master());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "zookeeper://a:1", "host:0", "a b:1", "etcd://"})
  @DisplayName("P4 an empty or strange master would crash the library, so it is refused")
  void masterRefused(String text) {
    String message = refusal(b -> b.master(text));
    assertTrue(message.startsWith("master must be host"), message);
  }

  @ParameterizedTest
  @CsvSource({"1", "16777215", "-1", "16777217", "1125899906846720"})
  @DisplayName("K4.11 segments are 0 or at least 16 MiB in whole pages")
  void segmentRefused(long bytes) {
    String message = refusal(b -> b.segmentBytes(bytes));
    assertTrue(message.startsWith("segmentBytes must be") && message.endsWith(": " + bytes), message);
  }

  @Test
  @DisplayName("K4.11 an odd size is refused with the nearest legal values")
  void nearestLegalValue() {
    assertEquals("segmentBytes must be a multiple of 4096, such as 1073741824 or 1073745920: 1073741825",
        refusal(b -> b.segmentBytes((1L << 30) + 1)));
    assertEquals("localBufferBytes must be a multiple of 4096, such as 65536 or 69632: 65537",
        refusal(b -> b.localBufferBytes(65_537)));
    assertTrue(refusal(b -> b.localBufferBytes(4096)).startsWith("localBufferBytes must be 0, or 65536"));
  }

  @ParameterizedTest
  @ValueSource(strings = {",", "mlx5_0,", "mlx5_0,,mlx5_1", "mlx5 0", "mlx5_0, mlx5_1", "a\0b", "ä"})
  @DisplayName("device lists hold names, nothing else")
  void devicesRefused(String text) {
    assertTrue(refusal(b -> b.devices(text)).startsWith("devices must be empty or names separated by commas"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.9", "10.0.0.9:0", "ftp://a:1", "http://", "http://a:99999", "http://a:1/?x=1",
      "http://a b",
      "a:b"})
  @DisplayName("administration addresses are checked")
  void adminRefused(String text) {
    assertTrue(refusal(b -> b.masterAdmin(text)).startsWith("masterAdmin must be host:port or http"));
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"10.0.0.9:9003,http://10.0.0.9:9003", "http://10.0.0.9:9003/,http://10.0.0.9:9003",
      "https://admin.example/mooncake,https://admin.example/mooncake", "[::1]:9003,http://[::1]:9003", "'',''"})
  @DisplayName("administration addresses become base URLs")
  void adminTaken(String text, String url) {
    assertEquals(url, remote().masterAdmin(text).build().masterAdmin());
  }

  @Test
  @DisplayName("time limits are finite and not silly")
  void timeouts() {
    assertEquals("rpcTimeout must be 100ms to 10m: 99ms", refusal(b -> b.rpcTimeout(Duration.ofMillis(99))));
    assertEquals("adminTimeout must be 100ms to 10m: -1000ms", refusal(b -> b.adminTimeout(Duration.ofSeconds(-1))));
    assertEquals("closeTimeout must be 100ms to 10m: 660000ms", refusal(b -> b.closeTimeout(Duration.ofMinutes(11))));
  }

  @ParameterizedTest(name = "{0} -> {1}")
  @CsvSource({"segment_bytes,segmentBytes", "segmentByte,segmentBytes", "masterAdmn,masterAdmin", "MASTER,master",
      "localHostName,localHostname", "devces,devices"})
  @DisplayName("K8.05 K9.10 a misspelled option is refused with the one that was meant")
  void nearMisses(String name, String meant) {
    assertEquals("unknown option \"" + name + "\"; did you mean \"" + meant + "\"?", refusal(b -> b.set(name, "1")));
  }

  @Test
  @DisplayName("K2.08 no option, policy or limit assumes how long a lease lasts: only the master knows")
  void noLease() {
    assertTrue(refusal(b -> b.set("leaseTtl", "5s")).startsWith("unknown option"));
    for (Class<?> type : List.of(StoreOptions.class, dev.gatun.store.StorePolicy.class,
        dev.gatun.store.AsyncOptions.class, dev.gatun.refit.RefitPolicy.class)) {
      for (var component : type.getRecordComponents())
        assertFalse(component.getName().toLowerCase(Locale.ROOT).matches(".*(lease|ttl).*"), component::toString);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tenant", "tenantId", "tenant_id", "namespace"})
  @DisplayName("K10.04 there is no option for a tenant, and none is taken for one")
  void tenant(String name) {
    assertTrue(refusal(b -> b.set(name, "team-b")).startsWith("unknown option \"" + name + '"'));
  }

  @ParameterizedTest
  @CsvSource({"segmentBytes,-1", "segmentBytes,12abc", "localBufferBytes,''", "localPort,' 7 '",
      "masterPort,99999999999",
      "rpcTimeout,5", "adminTimeout,soon", "closeTimeout,''"})
  @DisplayName("K9.11 numeric options refuse garbage, each by its name")
  void numericText(String name, String text) {
    String message = refusal(b -> b.set(name, text));
    assertTrue(message.startsWith(name + " must be") && message.endsWith(": \"" + text + '"'), message);
  }
}

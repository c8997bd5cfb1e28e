package dev.gatun.rdma;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The shim and its bindings over the stand-in, which has the symbols of libibverbs. */
class RdmaDevicesTest {
  private static final String GOOD_PORT = "port state=4 link=2 mtu=5 mtu_max=5 width=2 speed=64 physical=5 gids=8\n";
  private static final String TWO_DEVICES = """
      device name=mlx5_0 guid=0x0c42a10300f0b1e2 firmware=28.39.1002 max_mr_size=1073741824 max_mr=1000
      port state=4 link=2 mtu=5 mtu_max=5 width=2 speed=64 physical=5 gids=8
      gid index=1 bytes=fe800000000000000e42a1fffef0b1e2 type=1 interface=4
      gid index=3 bytes=00000000000000000000ffff0a000001 type=2 interface=4
      device name=mlx5_1 firmware=28.39.1002
      port state=1 link=2 mtu=3 mtu_max=5 physical=3
      """;

  @TempDir
  private static Path folder;
  private static VerbsStandIn standIn;
  private static VerbsStandIn old;

  @BeforeAll
  static void copy() {
    standIn = VerbsStandIn.copyTo(folder, "libgatun_verbs_standin.so");
    old = VerbsStandIn.copyTo(folder, "libgatun_verbs_standin_old.so");
  }

  @AfterEach
  void nothingStaysOpen() {
    System.clearProperty(VerbsStandIn.PROPERTY);
    assertEquals(0, standIn.live());
  }

  @Test
  @DisplayName("each device is shown with its limits, and each port with state, link, rate, MTU and GIDs")
  void showsDevices() {
    standIn.show(TWO_DEVICES);
    RdmaReport report = RdmaDevices.probe();
    RdmaDevice first = report.devices().getFirst();
    assertAll(() -> assertEquals(standIn.library().toString(), report.library()),
        () -> assertTrue(report.registersDmabuf()),
        () -> assertEquals("", report.missing()),
        () -> assertEquals(0x0c42a10300f0b1e2L, first.guid()),
        () -> assertEquals(1L << 30, first.regionBytesMax()),
        () -> assertEquals(1000, first.regionCountMax()),
        () -> assertEquals(List.of(new RdmaPort(1, PortState.ACTIVE, LinkLayer.ETHERNET, 4096, 4096, 200_000, 0,
            List.of(new RdmaGid(1, "fe80:0:0:0:e42:a1ff:fef0:b1e2", GidType.ROCE_V1, 4),
                new RdmaGid(3, "10.0.0.1", GidType.ROCE_V2, 4)),
            "")), first.ports()),
        () -> assertEquals("firmware 28.39.1002, 1000 regions of up to 1 GiB; port 1 active, Ethernet, 200 Gb/s, MTU "
            + "4096, GID 1 RoCE v1 fe80:0:0:0:e42:a1ff:fef0:b1e2, GID 3 RoCE v2 10.0.0.1", first.describe()),
        () -> assertEquals(List.of("mlx5_0"), report.usable().stream().map(RdmaDevice::name).toList()),
        () -> assertEquals("", first.remedy()));
  }

  @Test
  @DisplayName("a port that is down is shown, with what to look at; its device is not usable")
  void portDown() {
    standIn.show(TWO_DEVICES);
    RdmaDevice device = RdmaDevices.probe().devices().getLast();
    assertEquals(RdmaDevice.NO_LIMIT, device.regionBytesMax());
    assertFalse(device.isUsable());
    assertTrue(device.describe().contains("regions of any size; port 1 down, Ethernet, MTU 1024"), device.describe());
    assertTrue(device.remedy().contains("ip link set"), device.remedy());
  }

  @ParameterizedTest
  @CsvSource({"0, UNKNOWN, look at", "2, INIT, subnet manager", "3, ARMED, subnet manager", "5, DEFERRED, look at",
      "99, UNKNOWN, look at", "-1, UNKNOWN, look at"})
  @DisplayName("every state of an InfiniBand port has a name and a remedy, numbers of newer libraries too")
  void portStates(int number, PortState state, String remedy) {
    standIn.show("device name=ib0\nport link=1 lid=7 state=" + number + '\n');
    RdmaDevice device = RdmaDevices.probe().devices().getFirst();
    assertEquals(state, device.ports().getFirst().state());
    assertFalse(device.isUsable());
    assertTrue(device.describe().contains("InfiniBand, LID 7"), device.describe());
    assertTrue(device.remedy().contains(remedy), device.remedy());
  }

  @Test
  @DisplayName("an active RoCE port without a GID needs an address")
  void portWithoutGid() {
    standIn.show("device name=mlx5_0\n" + GOOD_PORT);
    assertTrue(RdmaDevices.probe().devices().getFirst().remedy().contains("IP address"));
  }

  @Test
  @DisplayName("no device, and a kernel without RDMA, are said with what to do")
  void noDevices() {
    standIn.show("");
    RdmaReport none = RdmaDevices.probe();
    assertEquals("no RDMA devices", none.missing());
    assertTrue(none.fix().contains("driver") && none.fix().contains("/dev/infiniband"), none.fix());
    standIn.show("list error=38\n");
    assertEquals("no RDMA devices, the kernel has no RDMA", RdmaDevices.probe().missing());
    standIn.show("list error=5\n");
    assertTrue(RdmaDevices.probe().missing().endsWith("refused the list: EIO (5)"));
  }

  @ParameterizedTest
  @CsvSource({"open=13, opening the device: EACCES (13), /dev/infiniband", "open=1, EPERM (1), /dev/infiniband",
      "open=19, ENODEV (19), ibverbs-providers", "query=5, asking for its limits: EIO (5), dmesg"})
  @DisplayName("a device that cannot be opened or asked does not hide the others, and says why and what to do")
  void refusedDevice(String fault, String said, String fix) {
    standIn.show("device name=bad " + fault + '\n' + TWO_DEVICES);
    RdmaReport report = RdmaDevices.probe();
    RdmaDevice bad = report.devices().getFirst();
    assertTrue(bad.fault().contains(said), bad.fault());
    assertTrue(bad.fix().contains(fix), bad.fix());
    assertFalse(bad.isUsable());
    assertTrue(report.usable().stream().anyMatch(device -> device.name().equals("mlx5_0")));
    assertTrue(report.summary().contains("bad: " + bad.fault()), report.summary());
  }

  @Test
  @DisplayName("a port that cannot be asked does not hide its device")
  void refusedPort() {
    standIn.show("device name=mlx5_0\nport query=5\n" + GOOD_PORT);
    RdmaDevice device = RdmaDevices.probe().devices().getFirst();
    assertEquals("cannot be asked: EIO (5)", device.ports().getFirst().fault());
    assertTrue(device.isUsable());
  }

  @Test
  @DisplayName("K14.06 an older libibverbs works; GID types and dma-buf are then unknown")
  void oldLibrary() {
    old.show(TWO_DEVICES);
    RdmaReport report = RdmaDevices.probe();
    assertFalse(report.registersDmabuf());
    List<RdmaGid> gids = report.devices().getFirst().ports().getFirst().gids();
    assertEquals(List.of("fe80:0:0:0:e42:a1ff:fef0:b1e2", "10.0.0.1"), gids.stream().map(RdmaGid::address).toList());
    assertEquals(GidType.UNKNOWN, gids.getFirst().type());
    assertEquals(0, old.live());
  }

  @Test
  @DisplayName("K14.03 a library that is not there, is none or lacks functions is said, each time, and the next one works")
  void unusableLibraries() throws Exception {
    Path text = Files.writeString(folder.resolve("text.so"), "no library");
    for (int attempt = 0; attempt < 2; attempt++) {
      System.setProperty(VerbsStandIn.PROPERTY, folder.resolve("none.so").toString());
      assertTrue(RdmaDevices.probe().missing().contains("none.so"));
      assertTrue(RdmaDevices.probe().fix().contains(VerbsStandIn.PROPERTY));
      System.setProperty(VerbsStandIn.PROPERTY, text.toString());
      assertTrue(RdmaDevices.probe().missing().contains("text.so"));
      System.setProperty(VerbsStandIn.PROPERTY,
          Path.of(System.getProperty("gatun.native.out"), "libgatun_loopback.so").toString());
      RdmaReport lacking = RdmaDevices.probe();
      assertTrue(lacking.missing().contains("functions are missing") && lacking.missing().contains("ibv_reg_mr"),
          lacking.missing());
      assertEquals("", lacking.library());
      assertTrue(lacking.summary().contains(lacking.fix()));
      assertFalse(RdmaDevices.tryRegister("mlx5_0", 4096).worked());
    }
    standIn.show(TWO_DEVICES);
    assertEquals(2, RdmaDevices.probe().devices().size());
  }

  @Test
  @DisplayName("K5.09 a registration is tried and taken back; a refusal names the step, the error and what to do")
  void triesRegistrations() {
    standIn.show("""
        device name=mlx5_0 register_max=65536
        device name=gpu register=14
        device name=full domain=12
        device name=odd register=95
        """);
    assertEquals("a trial registration of 64 KiB worked", RdmaDevices.tryRegister("mlx5_0", 65_536).describe());
    RegistrationTrial large = RdmaDevices.tryRegister("mlx5_0", 65_537);
    assertEquals("registering: ENOMEM (12)", large.fault());
    assertTrue(large.fix().contains("ulimit -l unlimited"), large.fix());
    assertTrue(RdmaDevices.tryRegister("gpu", 1).fix().contains("nvidia-peermem"));
    assertTrue(RdmaDevices.tryRegister("odd", 1).fix().contains("does not offer"));
    assertEquals("allocating a protection domain: ENOMEM (12)", RdmaDevices.tryRegister("full", 1).fault());
    assertEquals("finding the device: ENODEV (19)", RdmaDevices.tryRegister("absent", 1).fault());
    assertEquals("mapping memory: ENOMEM (12)", RdmaDevices.tryRegister("mlx5_0", Long.MAX_VALUE).fault());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "mlx5_0\0", "\0"})
  @DisplayName("names and sizes that make no sense are refused before anything is asked")
  void refusesArguments(String device) {
    standIn.show(TWO_DEVICES);
    assertThrows(IllegalArgumentException.class, () -> RdmaDevices.tryRegister(device, 1));
    assertEquals("bytes must be positive: 0",
        assertThrows(IllegalArgumentException.class, () -> RdmaDevices.tryRegister("mlx5_0", 0)).getMessage());
    assertThrows(IllegalArgumentException.class, () -> RdmaDevices.tryRegister("mlx5_0", Long.MIN_VALUE));
    assertFalse(RdmaDevices.tryRegister("x".repeat(100_000), 1).worked());
    assertFalse(RdmaDevices.tryRegister("mlx5_0/../mlx5_0 é", 1).worked());
  }

  @Test
  @DisplayName("many virtual threads may ask at once")
  void virtualThreads() throws Exception {
    standIn.show(TWO_DEVICES);
    RdmaReport expected = RdmaDevices.probe();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<RdmaReport>> answers = new ArrayList<>();
      for (int i = 0; i < 64; i++)
        answers
            .add(threads.submit(() -> RdmaDevices.tryRegister("mlx5_0", 4096).worked() ? RdmaDevices.probe() : null));
      for (Future<RdmaReport> answer : answers)
        assertEquals(expected, answer.get());
    }
  }

  @Test
  @DisplayName("nothing named leads to the system's libibverbs, and whatever it shows is a report")
  void systemLibrary() {
    RdmaReport report = RdmaDevices.probe();
    assertEquals(report.devices().isEmpty(), !report.missing().isEmpty(), report.toString());
    assertEquals(report.missing().isEmpty(), report.fix().isEmpty(), report.toString());
    if (report.library().isEmpty()) assertTrue(report.fix().contains("libibverbs1"), report.fix());
    else
      assertEquals("libibverbs.so.1", report.library());
  }
}

package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.cli.GatunProcess.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What doctor says of RDMA, over the stand-in for libibverbs. */
class RdmaDoctorTest {
  @TempDir
  private Path folder;

  private static Outcome doctor(Path library, String... more) throws Exception {
    String[] arguments = new String[more.length + 1];
    arguments[0] = "doctor";
    System.arraycopy(more, 0, arguments, 1, more.length);
    return GatunProcess.run(List.of("-Dgatun.verbs.library=" + library), arguments).exits(0);
  }

  private Path standIn(String devices) throws Exception {
    String name = "libgatun_verbs_standin.so";
    Path copy = Files.copy(Path.of(System.getProperty("gatun.native.out"), name), folder.resolve(name));
    Files.writeString(folder.resolve(name + ".devices"), devices);
    return copy;
  }

  @Test
  @DisplayName("each device has a line with its ports and a tried registration, and what is missing another; JSON has fields")
  void devices() throws Exception {
    Path library = standIn("""
        device name=mlx5_0 guid=0x0c42a10300f0b1e2 firmware=28.39 max_mr_size=1073741824 max_mr=9
        port state=4 link=2 mtu=5 mtu_max=5 width=2 speed=64 gids=8
        gid index=3 bytes=00000000000000000000ffff0a000001 type=2 interface=4
        device name=mlx5_1 max_mr=9 firmware=1
        port state=1 link=2
        device name=mlx5_2 open=13
        device name=mlx5_3 max_mr=9 firmware=1 register=12
        port state=4 link=1 lid=7
        """);
    String text = doctor(library).out();
    for (String part : List.of("ok  RDMA devices         mlx5_0, mlx5_1, mlx5_2, mlx5_3, through " + library,
        "ok  RDMA mlx5_0          firmware 28.39, 9 regions of up to 1 GiB; port 1 active, Ethernet, 200 Gb/s, MTU 4096, "
            + "GID 3 RoCE v2 10.0.0.1; a trial registration of 1 MiB worked",
        "-   RDMA mlx5_1          firmware 1, 9 regions of any size; port 1 down, Ethernet; a trial",
        "-   RDMA mlx5_2          opening the device: EACCES (13)", "-> the process may not use the device",
        "a trial registration of 1 MiB failed, registering: ENOMEM (12)", "-> the locked-memory limit is too low")) {
      assertTrue(text.contains(part), part + " in " + text);
    }
    Outcome json = doctor(library, "--json");
    assertTrue(json.json().flag("healthy"));
    String flat = json.out().replaceAll("\\s+", "");
    for (String part : List.of("\"rdma\":{\"library\":\"" + library + '"', "\"registersDmabuf\":true",
        "{\"name\":\"mlx5_0\",\"usable\":true,\"guid\":\"0c42a10300f0b1e2\"", "\"regionBytesMax\":1073741824",
        "\"registers\":true", "\"megabitsPerSecond\":200000", "\"address\":\"10.0.0.1\",\"type\":\"RoCEv2\"",
        "{\"name\":\"mlx5_2\",\"usable\":false,\"fault\":\"openingthedevice:EACCES(13)\"}")) {
      assertTrue(flat.contains(part), part + " in " + flat);
    }
  }

  @Test
  @DisplayName("without a device there is one line, and how devices come to be seen another")
  void noDevices() throws Exception {
    String text = doctor(standIn("list error=38\n")).out();
    assertTrue(text.contains("-   RDMA devices         no RDMA devices, the kernel has no RDMA; transfers go over TCP"),
        text);
    assertEquals(1, text.lines().filter(line -> line.contains("RDMA devices")).count(), text);
  }

  @Test
  @DisplayName("a library that cannot be used is one line with what to do, and no error")
  void noLibrary() throws Exception {
    Path none = folder.resolve("libibverbs.so.1");
    String text = doctor(none).out();
    assertTrue(text.contains("names a file that does not exist: " + none), text);
    assertTrue(text.contains("-> correct or remove system property gatun.verbs.library"), text);
    assertFalse(text.contains("RDMA mlx5"), text);
  }
}

package dev.gatun.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContainerLimitTest {
  @TempDir
  Path root;

  private Path membership;
  private Path meminfo;

  @BeforeEach
  void files() {
    membership = root.resolve("cgroup");
    meminfo = root.resolve("meminfo");
    write(meminfo, "MemTotal:       1000 kB\nMemFree: 1 kB\n");
  }

  @Test
  @DisplayName("K13.12 version 2: the lowest limit on the way up counts, \"max\" does not")
  void version2() {
    write(membership, "0::/pod/container\n");
    write(root.resolve("pod/container/memory.max"), "max\n");
    write(root.resolve("pod/memory.max"), "500000\n");
    assertEquals(500_000, limit());
    write(root.resolve("pod/container/memory.max"), "400000\n");
    assertEquals(400_000, limit());
  }

  @Test
  @DisplayName("K13.12 version 1: the memory controller's limit counts; its \"unlimited\" is a huge number")
  void version1() {
    write(membership, "5:cpu,cpuacct:/other\n4:memory:/docker/abc\n");
    write(root.resolve("memory/docker/abc/memory.limit_in_bytes"), "300000\n");
    write(root.resolve("memory/docker/memory.limit_in_bytes"), "9223372036854771712\n");
    assertEquals(300_000, limit());
  }

  @Test
  @DisplayName("K13.12 a namespaced container, whose path does not exist here, is found at the top")
  void namespaced() {
    write(membership, "0::/../../elsewhere\n");
    write(root.resolve("memory.max"), "200000\n");
    assertEquals(200_000, limit());
  }

  @Test
  @DisplayName("K13.12 without control groups the machine's memory is the limit")
  void machine() {
    assertEquals(1000 * 1024, limit());
    assertTrue(ContainerLimit.bytes() > 0);
  }

  @Test
  @DisplayName("a group whose name no path can have here, as under LC_ALL=C, is passed over")
  void unnameable() {
    write(membership, "0::/a\0b\n4:memory:\n");
    write(root.resolve("memory.max"), "200000\n");
    assertEquals(200_000, limit());
  }

  private long limit() {
    return ContainerLimit.bytes(root, membership, meminfo);
  }

  private static void write(Path file, String text) {
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

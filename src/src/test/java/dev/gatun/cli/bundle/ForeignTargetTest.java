package dev.gatun.cli.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForeignTargetTest {
  private static final int MACHINE_AT = 18; // e_machine of an ELF header
  private static final int AARCH64 = 183;

  @TempDir
  Path folder;

  private ForeignTarget target(List<Path> jars) {
    Path jdk = PlainJdk.of(folder.resolve("jdk"), "linux-aarch64", Runtime.version().feature() + ".0.3");
    Path sources = Path.of(System.getProperty("gatun.root"), "native");
    return ForeignTarget.of("linux-aarch64", jdk, sources, jars);
  }

  @Test
  @DisplayName("jars with native code of this platform give way to the target's, the others stay")
  void replacesJars() {
    Path theirs = Path.of("lib-linux-aarch64", "lwjgl-natives-linux-arm64.jar");
    assertEquals(List.of(Path.of("lib", "lwjgl.jar"), theirs),
        target(List.of(theirs))
            .replaced(List.of(Path.of("lib", "lwjgl-natives-linux.jar"), Path.of("lib", "lwjgl.jar"))));
  }

  @Test
  @DisplayName("the runtime is linked from the target's modules, without the symbols that some come with")
  void links() {
    List<String> options = target(List.of()).linkOptions();
    assertEquals(List.of("--module-path", folder.resolve("jdk/jmods").toString(), "--strip-java-debug-attributes",
        "--exclude-files=**.debuginfo"), options);
  }

  @Test
  @DisplayName("the libraries in a jar and in a folder of classes become AArch64's, and nothing else changes")
  void replacesNative() throws IOException {
    Path modules = Files.createDirectory(folder.resolve("modules"));
    String here = ForeignTarget.here();
    try (FileSystem jar = FileSystems.newFileSystem(modules.resolve("a.jar"), Map.of("create", "true"))) {
      Files.write(Files.createDirectory(jar.getPath(here)).resolve("libgatun_marker.so"), new byte[]{1});
      Files.write(jar.getPath("other"), new byte[]{2});
    }
    Path classes = Files.createDirectory(modules.resolve("0-classes"));
    Files.write(Files.createDirectory(classes.resolve(here)).resolve("libgatun_marker.so"), new byte[]{3});
    target(List.of()).replaceNative(modules, folder.resolve("build"));
    requireAarch64(classes);
    try (FileSystem jar = FileSystems.newFileSystem(modules.resolve("a.jar"))) {
      requireAarch64(jar.getPath("/"));
      assertEquals(2, Files.readAllBytes(jar.getPath("other"))[0]);
    }
  }

  private static void requireAarch64(Path root) throws IOException {
    for (String name : List.of("libgatun_loopback.so", "libgatun_marker.so", "libgatun_verbs.so")) {
      byte[] library = Files.readAllBytes(root.resolve("linux-aarch64").resolve(name));
      assertEquals(AARCH64, ByteBuffer.wrap(library).order(ByteOrder.LITTLE_ENDIAN).getShort(MACHINE_AT), name);
    }
    if (!ForeignTarget.here().equals("linux-aarch64")) assertFalse(Files.exists(root.resolve(ForeignTarget.here())));
    assertTrue(Files.isDirectory(root.resolve("linux-aarch64")));
  }
}

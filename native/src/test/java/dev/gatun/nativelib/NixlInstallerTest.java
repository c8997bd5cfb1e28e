package dev.gatun.nativelib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@link MooncakeInstallerTest} shows of the installer itself is not shown again. */
@Tag("nixl")
class NixlInstallerTest {
  @TempDir
  static Path shared;
  private static Path wheel = Path.of("");

  @TempDir
  Path directory;
  private final List<String> steps = new ArrayList<>();

  @BeforeAll
  static void downloadOnce() throws IOException {
    wheel = NixlPackage.WHEEL.download(shared, step -> {});
  }

  private NixlRuntime install() {
    return NixlInstaller.install(cache(), wheel, steps::add);
  }

  private Path cache() {
    return CacheDirectory.owned(directory.resolve("cache"));
  }

  @Test
  @DisplayName("the package that pip delivers is the pinned one")
  void pinned() throws IOException {
    assertEquals(NixlPackage.WHEEL.sha256(), Hash.sha256Hex(wheel));
  }

  @Test
  @DisplayName("an installation starts agents with the plugins UCX and POSIX in a process that has no GPU, and nothing else was taken")
  void starts() throws IOException {
    NixlRuntime runtime = install();

    var child = ChildJvm.granted().flag("-Dgatun.cache.dir=" + cache()).environment("UCX_NET_DEVICES", "lo")
        .run("nixl");

    assertEquals("[POSIX, UCX]", child.value("plugins"), child::toString);
    assertEquals("0", child.value("UCX"), child::toString);
    assertEquals("0", child.value("POSIX"), child::toString);
    assertEquals(0, child.code(), child::toString);
    try (Stream<Path> files = Files.walk(runtime.root())) {
      assertEquals(List.of(),
          files.filter(file -> Files.isRegularFile(file) && !file.toString().contains(".so"))
              .filter(file -> !file.endsWith("manifest.sha256")).toList());
    }
  }

  @Test
  @DisplayName("a damaged installation is found, also in a folder of it, and replaced; what an interrupted one left goes")
  void damage() throws IOException {
    NixlRuntime first = install();
    Path plugin = first.library().resolveSibling("plugins").resolve("libplugin_UCX.so");
    byte[] bytes = Files.readAllBytes(plugin);
    bytes[bytes.length / 2] ^= 1;
    Files.write(plugin, bytes);
    Path unfinished = Files.createDirectories(first.root().resolveSibling(".unfinished-1").resolve("plugins"));
    Files.writeString(unfinished.resolve("libplugin_UCX.so"), "half");
    assertEquals(Optional.empty(), NixlRuntime.in(first.root(), NixlInstaller.VERSION));

    steps.clear();
    install();

    assertFalse(steps.isEmpty());
    assertTrue(NixlRuntime.in(first.root(), NixlInstaller.VERSION).isPresent());
    assertFalse(Files.exists(unfinished));
  }

  @Test
  @DisplayName("another package file is refused with both checksums; other machines are told what to do instead")
  void refusals() throws IOException {
    Path other = Files.writeString(directory.resolve("other.whl"), "other");

    var refused = assertThrows(LibraryUnavailableException.class,
        () -> NixlInstaller.install(cache(), other, steps::add));
    var machine = assertThrows(LibraryUnavailableException.class,
        () -> NixlPackage.WHEEL.requirePlatform("Linux", "aarch64"));

    assertTrue(refused.getMessage().contains(NixlPackage.WHEEL.sha256()), refused.getMessage());
    assertTrue(refused.getMessage().contains(Hash.sha256Hex(other)), refused.getMessage());
    assertTrue(machine.fix().contains("NIXL_LIBRARY"), machine.fix());
  }
}

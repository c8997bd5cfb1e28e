package dev.gatun.nativelib;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class PackedLibrariesTest {
  @TempDir
  Path directory;

  private Path cache() {
    return CacheDirectory.owned(directory.resolve("cache"));
  }

  private static PackedLibraries text(String content) {
    Map<String, byte[]> packed = new LinkedHashMap<>();
    packed.put("libone.so", content.getBytes(StandardCharsets.UTF_8));
    packed.put("libtwo.so", "two".getBytes(StandardCharsets.UTF_8));
    return PackedLibraries.of(packed);
  }

  @Test
  @DisplayName("K14.04 extracted libraries keep their names and find each other through $ORIGIN")
  void originHolds() throws IOException {
    Path built = Files.createDirectory(directory.resolve("built"));
    TinyLibrary.compilePair(built, "packed");
    Map<String, byte[]> packed = new LinkedHashMap<>();
    for (String name : List.of("libpackedinner.so", "libpackedouter.so"))
      packed.put(name, Files.readAllBytes(built.resolve(name)));
    Files.delete(built.resolve("libpackedinner.so"));

    Path outer = PackedLibraries.of(packed).extract(cache(), "libpackedouter.so");

    assertEquals("libpackedouter.so", outer.getFileName().toString());
    assertTrue(NativeLibraries.open(List.of(outer)).find("outer").isPresent());
    assertEquals(List.of("libpackedinner.so"), ElfFile.read(outer).needed());
  }

  @Test
  @DisplayName("what is extracted is for this user only")
  void permissions() throws IOException {
    Path file = text("one").extract(cache(), "libone.so");

    assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
  }

  @Test
  @DisplayName("other content goes to another directory, the same content to the same")
  void keyedByContent() {
    Path first = text("one").extract(cache(), "libone.so");

    assertEquals(first, text("one").extract(cache(), "libone.so"));
    assertTrue(!first.equals(text("other").extract(cache(), "libone.so")));
  }

  @Test
  @DisplayName("starts at the same moment share one file and leave nothing else")
  void concurrentStarts() throws Exception {
    int starters = 16;
    CountDownLatch ready = new CountDownLatch(starters);
    Path cache = cache();
    Callable<Object> start = () -> {
      PackedLibraries packed = text("one");
      ready.countDown();
      ready.await();
      return Files.getAttribute(packed.extract(cache, "libone.so"), "unix:ino");
    };
    Set<Object> inodes = new HashSet<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(starters)) {
      List<Future<Object>> started = new ArrayList<>();
      for (int i = 0; i < starters; i++)
        started.add(threads.submit(start));
      for (Future<Object> one : started)
        inodes.add(one.get());
    }

    assertEquals(1, inodes.size());
    try (Stream<Path> entries = Files.list(cache.resolve("native"))) {
      assertEquals(1, entries.count());
    }
  }

  @Test
  @DisplayName("a file that was changed, cut or opened to others is put right")
  void damageIsMended() throws IOException {
    Path file = text("one").extract(cache(), "libone.so");
    byte[] intact = Files.readAllBytes(file);

    Files.writeString(file, "bad");
    assertArrayEquals(intact, Files.readAllBytes(text("one").extract(cache(), "libone.so")));
    Files.delete(file);
    assertArrayEquals(intact, Files.readAllBytes(text("one").extract(cache(), "libone.so")));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxrwxrwx"));
    Path mended = text("one").extract(cache(), "libone.so");
    assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(mended)));
  }

  @Test
  @DisplayName("a cache directory that others may write to is refused by name")
  void openDirectory() throws IOException {
    Path open = Files.createDirectory(directory.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));

    var refused = assertThrows(LibraryUnavailableException.class,
        () -> CacheDirectory.root(open.toString(), null, null));

    assertTrue(refused.getMessage().contains(open.toString()), refused.getMessage());
    assertTrue(refused.getMessage().contains("rwxrwxrwx"), refused.getMessage());
    assertTrue(refused.fix().startsWith("chmod 700 "), refused.fix());
  }

  @Test
  @DisplayName("a link in place of the cache directory is refused")
  void linkedDirectory() throws IOException {
    Path link = Files.createSymbolicLink(directory.resolve("link"), Files.createDirectory(directory.resolve("else")));

    assertThrows(LibraryUnavailableException.class, () -> CacheDirectory.root(link.toString(), null, null));
  }

  @Test
  @DisplayName("cache directory: property, then XDG_CACHE_HOME if absolute, then the home directory")
  void order() throws IOException {
    String base = Files.createDirectory(directory.resolve("base")).toString();

    assertEquals(Path.of(base, "own"), CacheDirectory.root(base + "/own", base + "/xdg", base + "/home"));
    assertEquals(Path.of(base, "xdg/gatun"), CacheDirectory.root(null, base + "/xdg", base + "/home"));
    assertEquals(Path.of(base, "home/.cache/gatun"), CacheDirectory.root(null, "relative", base + "/home"));
    assertEquals(Path.of(base, "home/.cache/gatun"), CacheDirectory.root(" ", null, base + "/home"));
    assertThrows(LibraryUnavailableException.class, () -> CacheDirectory.root(null, null, "?"));
  }

  @Test
  @DisplayName("a cache directory whose name no path can have, as under LC_ALL=C, is said to be that")
  void unnameableCache() {
    String unnameable = "/a\0b";
    for (Executable look : List.<Executable>of(() -> CacheDirectory.root(unnameable, null, null),
        () -> CacheDirectory.root(null, unnameable, null), () -> CacheDirectory.root(null, null, unnameable))) {
      String refusal = String.valueOf(assertThrows(LibraryUnavailableException.class, look).getMessage());
      assertTrue(refusal.contains("LC_ALL=C.UTF-8"), refusal);
    }
  }
}

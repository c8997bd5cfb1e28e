package dev.gatun.nativelib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NixlLocatorTest {
  @TempDir
  Path directory;
  private final Map<String, String> properties = new HashMap<>();
  private final Map<String, String> environment = new HashMap<>();
  private Optional<NixlRuntime> installed = Optional.empty();

  private LibraryLocation locate() {
    return new NixlLocator(properties::get, environment::get, () -> installed).locate();
  }

  private Path library(String folder) throws IOException {
    Path file = Files.createDirectories(directory.resolve(folder)).resolve("libnixl_capi.so");
    return TinyLibrary.header(file);
  }

  @Test
  @DisplayName("property, then environment, then the installed runtime, then the library path")
  void order() throws IOException {
    Path root = CacheDirectory.owned(directory.resolve("runtime"));
    library("runtime");
    SealedDirectory.seal(root);
    library("l");
    properties.put("java.library.path", directory.resolve("empty") + ":" + directory.resolve("l"));
    assertEquals(List.of(library("l")), locate().loadOrder());
    installed = NixlRuntime.in(root, "1");
    assertTrue(locate().loadOrder().getFirst().startsWith(root));
    environment.put("NIXL_LIBRARY", library("e").toString());
    assertEquals(List.of(library("e")), locate().loadOrder());
    properties.put("gatun.nixl.library", library("p").toString());
    assertEquals(List.of(library("p")), locate().loadOrder());
    assertEquals("system property gatun.nixl.library", locate().chosenFrom());
  }

  @Test
  @DisplayName("a setting that names no file is an error, not a reason to look elsewhere; nowhere lists every place and the line to type")
  void refusals() throws IOException {
    properties.put("java.library.path", directory.resolve("empty").toString());
    var nowhere = assertThrows(LibraryUnavailableException.class, this::locate);
    for (String place : List.of("gatun.nixl.library", "NIXL_LIBRARY", "gatun nixl install", "java.library.path")) {
      assertTrue(nowhere.tried().stream().anyMatch(tried -> tried.contains(place)), place);
    }
    assertTrue(nowhere.fix().startsWith("gatun nixl install"), nowhere.fix());

    environment.put("NIXL_LIBRARY", "/absent/libnixl_capi.so");
    library("l");
    properties.put("java.library.path", directory.resolve("l").toString());
    var wrong = assertThrows(LibraryUnavailableException.class, this::locate);
    assertTrue(wrong.getMessage().contains("NIXL_LIBRARY"), wrong.getMessage());
  }
}

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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MooncakeLocatorTest {
  @TempDir
  Path directory;
  private final Map<String, String> properties = new HashMap<>();
  private final Map<String, String> environment = new HashMap<>();
  private Optional<MooncakeRuntime> installed = Optional.empty();

  @BeforeEach
  void noLibraryPath() {
    properties.put("java.library.path", directory.resolve("empty").toString());
  }

  private LibraryLocation locate() {
    return new MooncakeLocator(properties::get, environment::get, () -> installed).locate();
  }

  private Path file(String name) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    return TinyLibrary.header(file);
  }

  @Test
  @DisplayName("properties win over the environment, for store and engine together")
  void properties() throws IOException {
    Path store = file("p/libmooncake_store.so");
    properties.put("gatun.store.library", store.toString());
    environment.put("MOONCAKE_ENGINE_LIBRARY", file("e/libtransfer_engine.so").toString());

    LibraryLocation location = locate();

    assertEquals(List.of(store), location.loadOrder());
    assertEquals("system property gatun.store.library", location.chosenFrom());
  }

  @Test
  @DisplayName("the environment names both: the engine is loaded first, since the store is linked to it")
  void environment() throws IOException {
    Path store = file("e/libmooncake_store.so");
    Path engine = file("e/libtransfer_engine.so");
    environment.put("MOONCAKE_STORE_LIBRARY", store.toString());
    environment.put("MOONCAKE_ENGINE_LIBRARY", engine.toString());

    assertEquals(List.of(engine, store), locate().loadOrder());
  }

  @Test
  @DisplayName("a variable that names no file is an error, not a reason to look elsewhere")
  void wrongEnvironment() throws IOException {
    environment.put("MOONCAKE_STORE_LIBRARY", "/absent/libmooncake_store.so");
    installed = Optional.of(runtime());

    var refused = assertThrows(LibraryUnavailableException.class, this::locate);

    assertTrue(refused.getMessage().contains("MOONCAKE_STORE_LIBRARY"), refused.getMessage());
  }

  @Test
  @DisplayName("the installed runtime comes next, stand-ins first in load order")
  void installed() throws IOException {
    installed = Optional.of(runtime());

    List<String> names = locate().loadOrder().stream().map(path -> path.getFileName().toString()).toList();

    assertEquals(List.of("libascendcl.so", "libllm_datadist.so", "libmetadef.so", "libtransfer_engine.so",
        "libmooncake_store.so"), names);
  }

  @Test
  @DisplayName("last the library path, with the engine that lies beside the store")
  void libraryPath() throws IOException {
    Path store = file("l/libmooncake_store.so");
    Path engine = file("l/libtransfer_engine.so");
    properties.put("java.library.path", directory.resolve("empty") + ":" + store.getParent());

    assertEquals(List.of(engine, store), locate().loadOrder());
    Files.delete(engine);
    assertEquals(List.of(store), locate().loadOrder());
  }

  @Test
  @DisplayName("nowhere: every place is listed, and the line to type")
  void nowhere() {
    var refused = assertThrows(LibraryUnavailableException.class, this::locate);

    for (String place : List.of("gatun.store.library", "gatun.engine.library", "MOONCAKE_STORE_LIBRARY",
        "MOONCAKE_ENGINE_LIBRARY", "gatun mooncake install", "java.library.path")) {
      assertTrue(refused.tried().stream().anyMatch(tried -> tried.contains(place)), place);
    }
    assertTrue(refused.getMessage().endsWith(refused.fix()));
  }

  private MooncakeRuntime runtime() throws IOException {
    Path root = CacheDirectory.owned(directory.resolve("runtime"));
    Files.writeString(root.resolve("file"), "content");
    SealedDirectory.seal(root);
    return MooncakeRuntime.in(root, "1").orElseThrow();
  }
}

package dev.gatun.nativelib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerbsSettingTest {
  private final Map<String, String> properties = new HashMap<>();
  private final Map<String, String> environment = new HashMap<>();

  private String chosen() {
    return VerbsSetting.of(properties::get, environment::get);
  }

  @Test
  @DisplayName("property, then environment, then what the dynamic linker finds; a file that is named must be there")
  void order(@TempDir Path folder) throws IOException {
    assertEquals("libibverbs.so.1", chosen());
    environment.put("VERBS_LIBRARY", " ");
    assertEquals("libibverbs.so.1", chosen());
    Path first = TinyLibrary.header(folder.resolve("first.so"));
    Path second = TinyLibrary.header(folder.resolve("second.so"));
    environment.put("VERBS_LIBRARY", first.toString());
    assertEquals(first.toString(), chosen());
    properties.put("gatun.verbs.library", second.toString());
    assertEquals(second.toString(), chosen());
    Files.delete(second);
    LibraryUnavailableException refused = assertThrows(LibraryUnavailableException.class, this::chosen);
    assertTrue(refused.getMessage().contains("gatun.verbs.library") && refused.getMessage().contains(second.toString()),
        refused.getMessage());
  }
}

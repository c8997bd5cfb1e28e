package dev.gatun.nativelib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeEnvironmentTest {
  @TempDir
  Path directory;

  @Test
  @DisplayName("variables are set, replaced and removed for native code; Java's copy stays")
  void variables() {
    String name = "GATUN_TEST_VARIABLE";
    assertEquals(Optional.empty(), NativeEnvironment.getenv(name));
    NativeEnvironment.setenv(name, "one");
    assertEquals(Optional.of("one"), NativeEnvironment.getenv(name));
    NativeEnvironment.setenv(name, "zwei ä");
    assertEquals(Optional.of("zwei ä"), NativeEnvironment.getenv(name));
    NativeEnvironment.setenv(name, "");
    assertEquals(Optional.of(""), NativeEnvironment.getenv(name));
    NativeEnvironment.unsetenv(name);
    assertEquals(Optional.empty(), NativeEnvironment.getenv(name));
    assertEquals(null, System.getenv(name));
  }

  @Test
  @DisplayName("names and values that C cannot represent are refused")
  void refused() {
    for (String name : new String[]{"", "A=B", "A\0B"}) {
      assertThrows(IllegalArgumentException.class, () -> NativeEnvironment.setenv(name, "x"));
      assertThrows(IllegalArgumentException.class, () -> NativeEnvironment.unsetenv(name));
      assertThrows(IllegalArgumentException.class, () -> NativeEnvironment.getenv(name));
    }
    assertThrows(IllegalArgumentException.class, () -> NativeEnvironment.setenv("A", "x\0y"));
  }

  @Test
  @DisplayName("native standard error goes to the file while redirected, System.err never")
  void nativeLog() throws IOException {
    Path file = directory.resolve("native.log");

    var child = ChildJvm.granted().run("native-log", file.toString());

    assertEquals(0, child.code(), child::toString);
    assertEquals("native during\n", Files.readString(file));
    assertEquals("java before\njava during\njava after\nnative after\njava at the end\n", child.err());
  }

  @Test
  @DisplayName("a log that cannot be created is refused by name")
  void noLog() {
    Path file = directory.resolve("absent/native.log");

    var refused = assertThrows(IllegalArgumentException.class, () -> NativeLog.redirectTo(file));

    assertTrue(refused.toString().contains(file.toString()));
  }
}

package dev.gatun.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GuardedArenaTest {
  @ParameterizedTest
  @ValueSource(longs = {1, 64, 4096, 18_432, 65_537})
  @DisplayName("every byte of a guarded segment can be used, and it ends at a page")
  void usable(long bytes) {
    try (GuardedArena arena = new GuardedArena()) {
      MemorySegment guarded = arena.allocate(bytes);
      guarded.fill((byte) 7);
      assertEquals(7, guarded.get(ValueLayout.JAVA_BYTE, bytes - 1));
      assertEquals(0, (guarded.address() + bytes) % MemoryCalls.get().pageBytes());
    }
  }

  @Test
  @DisplayName("a write one byte past the end kills the process, the last byte does not")
  void overrunDies() throws Exception {
    assertEquals(0, exitCode("-1"));
    assertNotEquals(0, exitCode("0"));
  }

  private static int exitCode(String offsetFromEnd) throws Exception {
    String classes = Path.of("target/classes") + File.pathSeparator + Path.of("target/test-classes");
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
        "-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null", "--enable-native-access=ALL-UNNAMED", "-cp", classes,
        GuardedArena.Overrun.class.getName(), offsetFromEnd).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "child did not end");
    return process.exitValue();
  }
}

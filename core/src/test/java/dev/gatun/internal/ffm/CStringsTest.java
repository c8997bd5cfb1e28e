package dev.gatun.internal.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.testing.Thrown;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CStringsTest {
  @Test
  @DisplayName("text becomes UTF-8 that ends in NUL; a NUL inside is refused, since C would cut there")
  void encode() {
    try (Arena arena = Arena.ofConfined()) {
      assertArrayEquals(new byte[]{(byte) 0xC3, (byte) 0xA9, 0},
          CStrings.encode(arena, "name", "é").toArray(JAVA_BYTE));
      assertEquals("name must not contain NUL: found at index 1",
          Thrown.message(IllegalArgumentException.class, () -> CStrings.encode(arena, "name", "a\0b")));
    }
  }
}

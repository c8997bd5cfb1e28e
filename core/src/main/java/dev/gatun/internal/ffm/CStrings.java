package dev.gatun.internal.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Java strings as C strings, UTF-8. */
public final class CStrings {
  private CStrings() {}

  /**
   * {@return the text followed by NUL}
   *
   * @param arena owns the copy
   * @param field name for the message
   * @param text what to encode
   * @throws IllegalArgumentException if it contains NUL, where C would cut it off
   */
  public static MemorySegment encode(Arena arena, String field, String text) {
    int nul = text.indexOf('\0');
    if (nul >= 0) throw new IllegalArgumentException(field + " must not contain NUL: found at index " + nul);
    return arena.allocateFrom(text);
  }
}

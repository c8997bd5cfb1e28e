package dev.gatun.internal.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/** Checks before the crossing: C must never be the first to notice a bad pointer or a short buffer. */
public final class NativeArguments {
  private NativeArguments() {}

  /**
   * Refuses memory that C could not read or write in full.
   *
   * @param field name for the message
   * @param memory what will be passed
   * @param bytes how much of it C may touch
   * @throws IllegalArgumentException if it is on the heap, NULL or shorter than that
   */
  public static void readable(String field, MemorySegment memory, long bytes) {
    if (memory.isNative() && memory.address() != 0 && bytes >= 0 && memory.byteSize() >= bytes) return;
    throw refused(field, memory, bytes);
  }

  /**
   * Refuses memory that C could not write in full.
   *
   * @param field name for the message
   * @param memory what will be passed
   * @param bytes how much of it C may touch
   * @throws IllegalArgumentException if it is on the heap, NULL, read-only or shorter than that
   */
  public static void writable(String field, MemorySegment memory, long bytes) {
    readable(field, memory, bytes);
    if (memory.isReadOnly()) throw new IllegalArgumentException(field + " must not be read-only");
  }

  /**
   * Refuses what C could not read as a string.
   *
   * @param field name for the message
   * @param text bytes that must hold a NUL
   * @throws IllegalArgumentException if it is on the heap, NULL, or has no NUL within its bounds
   */
  public static void string(String field, MemorySegment text) {
    readable(field, text, 1);
    long bytes = text.byteSize();
    // an exact encoding ends in NUL, so this one look is the usual case
    if (text.get(JAVA_BYTE, bytes - 1) == 0) return;
    for (long i = 0; i < bytes; i++) {
      if (text.get(JAVA_BYTE, i) == 0) return;
    }
    throw new IllegalArgumentException(field + " must be NUL-terminated: no NUL in its " + bytes + " bytes");
  }

  /**
   * Refuses a count that is negative or beyond the most a call takes.
   *
   * @param field name for the message
   * @param count entries
   * @param max most entries
   * @throws IllegalArgumentException if it is out of range
   */
  public static void count(String field, int count, int max) {
    if (count < 0 || count > max) {
      throw new IllegalArgumentException(field + " must be 0 to " + max + ": " + count);
    }
  }

  private static IllegalArgumentException refused(String field, MemorySegment memory, long bytes) {
    if (!memory.isNative()) return new IllegalArgumentException(field + " must be off-heap: " + memory);
    if (memory.address() == 0) return new IllegalArgumentException(field + " must not be NULL");
    if (bytes < 0) return new IllegalArgumentException(field + " must not be of negative length: " + bytes);
    return new IllegalArgumentException(field + " must have at least " + bytes + " bytes: " + memory.byteSize());
  }
}

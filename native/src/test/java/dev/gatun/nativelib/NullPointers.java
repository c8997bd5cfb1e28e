package dev.gatun.nativelib;

import org.jspecify.annotations.Nullable;

/** Null dereferences in compiled code, which the JVM notices by SIGSEGV. */
final class NullPointers {
  private NullPointers() {}

  private static final class Box {
    int value;
  }

  /** Provokes {@code count} of them with garbage collections in between; answers how many were caught. */
  static int provoke(int count) {
    Box box = new Box();
    long sum = 0;
    for (int i = 0; i < 200_000; i++)
      sum += read(box); // compiled while it has never seen null
    int caught = 0;
    for (int i = 0; i < count; i++) {
      try {
        sum += read(null);
      } catch (NullPointerException e) {
        caught++;
      }
      if (i % (count / 10) == 0) System.gc();
    }
    if (sum != 0) throw new AssertionError(sum);
    return caught;
  }

  @SuppressWarnings("NullAway") // the point of it
  private static int read(@Nullable Box box) {
    return box.value;
  }
}

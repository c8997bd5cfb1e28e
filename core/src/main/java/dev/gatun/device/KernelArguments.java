package dev.gatun.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** 64-bit parameters in the form that a launch takes: an array of addresses, and what they point to. */
final class KernelArguments implements AutoCloseable {
  private static final int COUNT = 6; // of the kernel that has most

  @SuppressWarnings("MustBeClosedChecker") // closed with this
  private final Arena arena = Arena.ofShared();
  private final MemorySegment pointers = arena.allocate(JAVA_LONG, COUNT);
  private final MemorySegment values = arena.allocate(JAVA_LONG, COUNT);

  KernelArguments() {
    for (int i = 0; i < COUNT; i++)
      pointers.setAtIndex(JAVA_LONG, i, values.address() + (long) i * Long.BYTES);
  }

  /** Sets them and answers the address for the launch, which reads as many as the kernel has before it returns. */
  long set(long first, long second, long third, long fourth) {
    values.setAtIndex(JAVA_LONG, 0, first);
    values.setAtIndex(JAVA_LONG, 1, second);
    values.setAtIndex(JAVA_LONG, 2, third);
    values.setAtIndex(JAVA_LONG, 3, fourth);
    return pointers.address();
  }

  /** As the other, for kernels of six. */
  long set(long first, long second, long third, long fourth, long fifth, long sixth) {
    values.setAtIndex(JAVA_LONG, 4, fifth);
    values.setAtIndex(JAVA_LONG, 5, sixth);
    return set(first, second, third, fourth);
  }

  @Override
  public void close() {
    arena.close();
  }
}

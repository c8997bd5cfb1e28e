package dev.gatun.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** A native call that holds a segment as long as the test wants: a {@code write} of more than a pipe takes. */
final class BlockedWrite implements AutoCloseable {
  /** Bytes to write: more than any pipe buffer that needs no privilege. */
  static final long BYTES = 4 << 20;

  private static final MethodHandle PIPE = bind("pipe", FunctionDescriptor.of(JAVA_INT, ADDRESS));
  private static final MethodHandle READ = bind("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
  private static final MethodHandle WRITE = bind("write",
      FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
  private static final MethodHandle CLOSE = bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

  private final int readEnd;
  private final int writeEnd;
  private long readBytes;

  BlockedWrite() {
    try (Arena arena = Arena.ofConfined()) { // per call
      MemorySegment ends = arena.allocate(JAVA_INT, 2);
      if (call(PIPE, ends) != 0) throw new IllegalStateException("pipe failed");
      readEnd = ends.getAtIndex(JAVA_INT, 0);
      writeEnd = ends.getAtIndex(JAVA_INT, 1);
    }
  }

  /** Blocks until {@link #finish}. */
  void from(MemorySegment source) {
    if (call(WRITE, writeEnd, source, BYTES) != BYTES) throw new AssertionError("write ended early");
  }

  /** Returns when the write has begun, and so holds its segment. */
  void awaitBegun() {
    readSome();
  }

  void finish() {
    while (readBytes < BYTES)
      readSome();
  }

  private void readSome() {
    try (Arena arena = Arena.ofConfined()) { // per call
      long count = call(READ, readEnd, arena.allocate(JAVA_BYTE, 4096), 4096L);
      if (count <= 0) throw new IllegalStateException("read failed");
      readBytes += count;
    }
  }

  @Override
  public void close() {
    call(CLOSE, readEnd);
    call(CLOSE, writeEnd);
  }

  private static MethodHandle bind(String name, FunctionDescriptor descriptor) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
  }

  private static long call(MethodHandle function, Object... arguments) {
    try {
      return ((Number) function.invokeWithArguments(arguments)).longValue();
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}

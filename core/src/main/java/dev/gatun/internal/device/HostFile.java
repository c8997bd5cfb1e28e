package dev.gatun.internal.device;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.channels.FileChannel.MapMode;
import java.util.Arrays;
import java.util.HexFormat;

/** Memory without a name in any folder, which other processes of the user may map too: how a host device is shared. */
final class HostFile implements AutoCloseable {
  private static final int HANDLE_BYTES = 64; // as a GPU driver's
  private static final int CLOSE_ON_EXEC = 1;
  private static final MethodHandle CREATE = bind("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle CLOSE = bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

  private final int descriptor;
  private final Arena arena;
  private final MemorySegment memory;

  private HostFile(int descriptor, Arena arena, MemorySegment memory) {
    this.descriptor = descriptor;
    this.arena = arena;
    this.memory = memory;
  }

  @SuppressWarnings("MustBeClosedChecker") // device memory: closed with this
  static HostFile create(long bytes) {
    int descriptor;
    try (Arena call = Arena.ofConfined()) { // per call
      descriptor = (int) CREATE.invokeExact(call.allocateFrom("gatun host device"), CLOSE_ON_EXEC);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    if (descriptor < 0) throw HostError.OUT_OF_MEMORY.in("memfd_create(" + bytes + ")");
    Arena arena = Arena.ofShared();
    try {
      return new HostFile(descriptor, arena, map("/proc/self/fd/" + descriptor, bytes, arena));
    } catch (RuntimeException | Error e) {
      close(descriptor);
      arena.close();
      throw e;
    }
  }

  /** Maps what another process created; not this process's own, which a GPU driver refuses too. */
  @SuppressWarnings("MustBeClosedChecker") // device memory: closed with this
  static HostFile open(String handle) {
    String text = new String(HexFormat.of().parseHex(handle), US_ASCII).strip();
    if (!text.matches("/proc/\\d+/fd/\\d+") || text.startsWith("/proc/" + ProcessHandle.current().pid() + "/")) {
      throw HostError.INVALID_VALUE.in("cuIpcOpenMemHandle");
    }
    Arena arena = Arena.ofShared();
    try {
      return new HostFile(-1, arena, map(text, 0, arena));
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  private static MemorySegment map(String path, long growTo, Arena arena) {
    try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
      if (growTo > 0) file.setLength(growTo);
      return file.getChannel().map(MapMode.READ_WRITE, 0, file.length(), arena);
    } catch (IOException e) {
      if (growTo > 0) throw new UncheckedIOException(e);
      throw HostError.INVALID_VALUE.in("cuIpcOpenMemHandle");
    }
  }

  MemorySegment memory() {
    return memory;
  }

  String handle() {
    byte[] path = ("/proc/" + ProcessHandle.current().pid() + "/fd/" + descriptor).getBytes(US_ASCII);
    byte[] handle = new byte[HANDLE_BYTES];
    Arrays.fill(handle, (byte) ' ');
    System.arraycopy(path, 0, handle, 0, path.length);
    return HexFormat.of().formatHex(handle);
  }

  @Override
  public void close() {
    arena.close();
    if (descriptor >= 0) close(descriptor);
  }

  private static void close(int descriptor) {
    try {
      int ignored = (int) CLOSE.invokeExact(descriptor);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private static MethodHandle bind(String name, FunctionDescriptor shape) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), shape);
  }
}

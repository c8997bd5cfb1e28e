package dev.gatun.internal.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.channels.FileChannel.MapMode;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Memory without a name in any folder ({@code memfd_create}), which other processes of the user map by the path of its
 * descriptor, for as long as it is open. What is mapped stays when it closes, or its process ends.
 */
public final class SharedFile implements AutoCloseable {
  private static final int CLOSE_ON_EXEC = 1;
  private static final MethodHandle CREATE = bind("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle CLOSE = bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

  private final int descriptor;
  private final MemorySegment memory;
  private final AtomicBoolean closed = new AtomicBoolean();

  private SharedFile(int descriptor, MemorySegment memory) {
    this.descriptor = descriptor;
    this.memory = memory;
  }

  /**
   * Creates and maps it.
   *
   * @param name for {@code /proc}
   * @param bytes its size, above 0
   * @param arena of the mapping
   * @return it, of zeros; the caller closes it
   * @throws IOException if the system refuses
   */
  public static SharedFile create(String name, long bytes, Arena arena) throws IOException {
    int descriptor;
    try (Arena call = Arena.ofConfined()) { // per call
      descriptor = (int) CREATE.invokeExact(call.allocateFrom(name), CLOSE_ON_EXEC);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    if (descriptor < 0) throw new IOException("memfd_create " + name + " was refused");
    try (RandomAccessFile file = new RandomAccessFile("/proc/self/fd/" + descriptor, "rw")) {
      file.setLength(bytes);
      return new SharedFile(descriptor, file.getChannel().map(MapMode.READ_WRITE, 0, bytes, arena));
    } catch (IOException | RuntimeException | Error e) {
      close(descriptor);
      throw e;
    }
  }

  /**
   * Maps what another process created.
   *
   * @param path as {@link #path()} there; refused if it is something else
   * @param arena of the mapping
   * @return all of it
   * @throws IOException if there is none, or it is out of this process's reach
   */
  public static MemorySegment map(String path, Arena arena) throws IOException {
    if (!path.matches("/proc/\\d+/fd/\\d+")) throw new IOException("not the path of a descriptor: " + path);
    try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
      return file.getChannel().map(MapMode.READ_WRITE, 0, file.length(), arena);
    }
  }

  /** {@return the memory, for as long as the arena that it was mapped in} */
  public MemorySegment memory() {
    return memory;
  }

  /** {@return by which others map it, in 64 characters or less} */
  public String path() {
    return "/proc/" + ProcessHandle.current().pid() + "/fd/" + descriptor;
  }

  /** Nobody can map it any more. Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) close(descriptor);
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

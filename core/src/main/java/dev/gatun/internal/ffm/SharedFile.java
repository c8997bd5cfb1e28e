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
 * descriptor, for as long as it is open. What is mapped stays when it closes, or its process ends. Nobody can make it shorter:
 * that would be a fault in whoever has it mapped.
 */
public final class SharedFile implements AutoCloseable {
  // of linux/memfd.h and linux/fcntl.h
  private static final int CLOSE_ON_EXEC = 1;
  private static final int ALLOW_SEALING = 2;
  private static final int READ_WRITE_CLOSE_ON_EXEC = 0x80002;
  private static final int ADD_SEALS = 1033;
  private static final int GET_SEALS = 1034;
  private static final int NO_MORE_SEALS = 1;
  private static final int NOT_SHORTER = 2;
  private static final int NOT_LONGER = 4;
  private static final int FIXED_ARGUMENTS = 2; // of open and fcntl
  private static final MethodHandle CREATE = bind("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle OPEN = bind("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
      Linker.Option.firstVariadicArg(FIXED_ARGUMENTS));
  private static final MethodHandle CONTROL = bind("fcntl",
      FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(FIXED_ARGUMENTS));
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
      descriptor = (int) CREATE.invokeExact(call.allocateFrom(name), CLOSE_ON_EXEC | ALLOW_SEALING);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    if (descriptor < 0) throw new IOException("memfd_create " + name + " was refused");
    try (RandomAccessFile file = own(descriptor)) {
      file.setLength(bytes);
      if (control(descriptor, ADD_SEALS, NO_MORE_SEALS | NOT_SHORTER | NOT_LONGER) < 0) {
        throw new IOException("the size of " + name + " cannot be fixed");
      }
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
   * @throws IOException if there is none, it is out of this process's reach, or its size is not fixed
   */
  public static MemorySegment map(String path, Arena arena) throws IOException {
    if (!path.matches("/proc/\\d+/fd/\\d+")) throw new IOException("not the path of a descriptor: " + path);
    int descriptor = open(path);
    try (RandomAccessFile file = own(descriptor)) {
      return file.getChannel().map(MapMode.READ_WRITE, 0, file.length(), arena);
    } finally {
      close(descriptor);
    }
  }

  /** Opens what cannot become shorter once it was looked at. */
  private static int open(String path) throws IOException {
    int descriptor;
    try (Arena call = Arena.ofConfined()) { // per call
      descriptor = (int) OPEN.invokeExact(call.allocateFrom(path), READ_WRITE_CLOSE_ON_EXEC, 0);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    if (descriptor < 0) throw new IOException("cannot be opened: " + path);
    int seals = control(descriptor, GET_SEALS, 0); // below 0 of what is no such memory
    if (seals >= 0 && (seals & NOT_SHORTER) != 0) return descriptor;
    close(descriptor);
    throw new IOException("not memory of a fixed size: " + path);
  }

  private static RandomAccessFile own(int descriptor) throws IOException {
    return new RandomAccessFile("/proc/self/fd/" + descriptor, "rw");
  }

  private static int control(int descriptor, int command, int argument) {
    try {
      return (int) CONTROL.invokeExact(descriptor, command, argument);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
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

  private static MethodHandle bind(String name, FunctionDescriptor shape, Linker.Option... options) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), shape, options);
  }
}

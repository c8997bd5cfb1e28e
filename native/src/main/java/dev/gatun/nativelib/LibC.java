package dev.gatun.nativelib;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * The few functions of the C library that Java has no counterpart for. Made on first use, not in a static initialiser,
 * so that a refusal of native access is reported as such each time.
 */
final class LibC {
  static final int RTLD_NOW = 2;
  static final int RTLD_NOLOAD = 4;
  static final int SIGSTOP = 19;
  static final int SIGCONT = 18;

  private static @Nullable LibC instance;

  private final MethodHandle dlopen = bind("dlopen", ADDRESS, ADDRESS, JAVA_INT);
  private final MethodHandle dlsym = bind("dlsym", ADDRESS, ADDRESS, ADDRESS);
  private final MethodHandle dlclose = bind("dlclose", JAVA_INT, ADDRESS);
  private final MethodHandle dlerror = bind("dlerror", ADDRESS);
  private final MethodHandle setenv = bind("setenv", JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
  private final MethodHandle unsetenv = bind("unsetenv", JAVA_INT, ADDRESS);
  private final MethodHandle getenv = bind("getenv", ADDRESS, ADDRESS);
  private final MethodHandle dup = bind("dup", JAVA_INT, JAVA_INT);
  private final MethodHandle dup2 = bind("dup2", JAVA_INT, JAVA_INT, JAVA_INT);
  private final MethodHandle close = bind("close", JAVA_INT, JAVA_INT);
  private final MethodHandle creat = bind("creat", JAVA_INT, ADDRESS, JAVA_INT);
  private final MethodHandle write = bind("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private final MethodHandle kill = bind("kill", JAVA_INT, JAVA_INT, JAVA_INT);

  private LibC() {}

  static synchronized LibC get() {
    if (instance == null) {
      try {
        instance = new LibC();
      } catch (IllegalCallerException e) {
        throw NativeAccess.denied(LibC.class, e);
      }
    }
    return instance;
  }

  private static MethodHandle bind(String name, MemoryLayout result, MemoryLayout... arguments) {
    Linker linker = Linker.nativeLinker();
    MemorySegment symbol = linker.defaultLookup().find(name)
        .orElseThrow(
            () -> new IllegalStateException("the C library has no " + name + "; Gatun needs Linux with glibc"));
    return linker.downcallHandle(symbol, FunctionDescriptor.of(result, arguments));
  }

  /** The handle, or NULL; {@link #dlerror()} on the same thread then tells why. */
  MemorySegment dlopen(String file, int flags) {
    try (Arena call = Arena.ofConfined()) {
      return (MemorySegment) dlopen.invokeExact(call.allocateFrom(file), flags);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** The symbol's address, or NULL. A NULL handle searches what the process has made global. */
  MemorySegment dlsym(MemorySegment handle, String name) {
    try (Arena call = Arena.ofConfined()) {
      return (MemorySegment) dlsym.invokeExact(handle, call.allocateFrom(name));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int dlclose(MemorySegment handle) {
    try {
      return (int) dlclose.invokeExact(handle);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** What the last failed dl call of this thread had to say; clears it. */
  String dlerror() {
    try {
      String text = text((MemorySegment) dlerror.invokeExact());
      return text == null ? "no reason given" : text;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int setenv(String name, String value) {
    try (Arena call = Arena.ofConfined()) {
      return (int) setenv.invokeExact(call.allocateFrom(name), call.allocateFrom(value), 1);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int unsetenv(String name) {
    try (Arena call = Arena.ofConfined()) {
      return (int) unsetenv.invokeExact(call.allocateFrom(name));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Nullable
  String getenv(String name) {
    try (Arena call = Arena.ofConfined()) {
      return text((MemorySegment) getenv.invokeExact(call.allocateFrom(name)));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int dup(int descriptor) {
    try {
      return (int) dup.invokeExact(descriptor);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int dup2(int from, int to) {
    try {
      return (int) dup2.invokeExact(from, to);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int close(int descriptor) {
    try {
      return (int) close.invokeExact(descriptor);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int creat(String file, int mode) {
    try (Arena call = Arena.ofConfined()) {
      return (int) creat.invokeExact(call.allocateFrom(file), mode);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  long write(int descriptor, MemorySegment bytes) {
    try {
      return (long) write.invokeExact(descriptor, bytes, bytes.byteSize());
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int kill(long pid, int signal) {
    try {
      return (int) kill.invokeExact(Math.toIntExact(pid), signal);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static @Nullable String text(MemorySegment string) {
    return string.address() == 0 ? null : string.reinterpret(Long.MAX_VALUE).getString(0);
  }

  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof RuntimeException runtime) return runtime;
    if (e instanceof Error error) throw error;
    return new IllegalStateException(e);
  }
}

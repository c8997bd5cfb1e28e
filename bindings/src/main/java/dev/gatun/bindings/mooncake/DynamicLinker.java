package dev.gatun.bindings.mooncake;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** Asks the system's dynamic linker why it refuses a library, which the JDK's lookup does not tell. */
final class DynamicLinker {
  private static final int RTLD_LAZY = 1; // dlfcn.h, the mode in which the JDK opens libraries

  private DynamicLinker() {}

  static String refusal(Path library) {
    Linker linker = Linker.nativeLinker();
    MethodHandle dlopen = linker.downcallHandle(linker.defaultLookup().findOrThrow("dlopen"),
        FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT));
    MethodHandle dlerror = linker.downcallHandle(linker.defaultLookup().findOrThrow("dlerror"),
        FunctionDescriptor.of(ADDRESS));
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment handle = (MemorySegment) dlopen.invokeExact(call.allocateFrom(library.toString()), RTLD_LAZY);
      MemorySegment reason = (MemorySegment) dlerror.invokeExact();
      if (handle.address() != 0 || reason.address() == 0) {
        return "the dynamic linker refused it and then gave no reason";
      }
      return reason.reinterpret(Long.MAX_VALUE).getString(0);
    } catch (Error | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError("dlopen and dlerror throw nothing", e);
    }
  }
}

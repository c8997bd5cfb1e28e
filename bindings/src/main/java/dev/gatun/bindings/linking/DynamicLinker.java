package dev.gatun.bindings.linking;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Asks the system's dynamic linker why it refuses a library, which the JDK's lookup does not tell. */
public final class DynamicLinker {
  private static final int RTLD_LAZY = 1; // dlfcn.h, the mode in which the JDK opens libraries

  private DynamicLinker() {}

  /**
   * {@return the linker's reason for refusing a library}
   *
   * @param library
   *            a file, or a bare name to be looked for where the linker looks
   */
  public static String refusal(String library) {
    Linker linker = Linker.nativeLinker();
    MethodHandle dlopen = linker.downcallHandle(linker.defaultLookup().findOrThrow("dlopen"),
        FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT));
    MethodHandle dlerror = linker.downcallHandle(linker.defaultLookup().findOrThrow("dlerror"),
        FunctionDescriptor.of(ADDRESS));
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment handle = (MemorySegment) dlopen.invokeExact(call.allocateFrom(library), RTLD_LAZY);
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

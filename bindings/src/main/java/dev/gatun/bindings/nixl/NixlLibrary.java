package dev.gatun.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.gatun.bindings.linking.AllowedFunctions;
import dev.gatun.bindings.linking.LibraryVetting;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** NIXL's C interface behind {@link NixlC}, one library a process. */
public final class NixlLibrary {
  private static final String FIX = "use libnixl_capi.so of NIXL 1.5";
  private static @Nullable Path loaded;
  private static @Nullable MethodHandle free;

  private NixlLibrary() {}

  /**
   * Loads the library for the life of the process. Loading the same file again does nothing. Any thread. Blocks while the
   * dynamic linker maps the file and what it needs.
   *
   * @param library
   *            {@code libnixl_capi.so}; what it is linked to must be where its own search path leads
   * @throws IllegalStateException
   *             if this process has loaded another one: start another process for this
   * @throws UnsatisfiedLinkError
   *             if the file is missing, the dynamic linker refuses it (the message has the linker's reason) or it lacks
   *             functions (the message lists all of them): another may be tried
   */
  public static synchronized void load(Path library) {
    Path file = LibraryVetting.identity(library);
    if (loaded != null && !loaded.equals(file)) {
      throw new IllegalStateException("this process is bound to the NIXL library " + loaded + " and cannot be bound to "
          + file + " as well: use one a process");
    }
    LibraryVetting.require(List.of(file), functions(), FIX);
    if (loaded != null) return;
    loaded = file; // before loading: it counts as soon as it is mapped
    System.load(file.toString());
  }

  /**
   * Gives memory back that a call allocated for its caller.
   *
   * @param memory
   *            what the call left, not NULL; not to be used afterwards
   */
  public static void free(MemorySegment memory) {
    try {
      freeHandle().invokeExact(memory);
    } catch (Error | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError("free throws nothing", e);
    }
  }

  static List<String> functions() {
    return AllowedFunctions.of(NixlLibrary.class, "nixl_capi.includes");
  }

  private static synchronized MethodHandle freeHandle() {
    MethodHandle handle = free;
    if (handle == null) {
      Linker linker = Linker.nativeLinker();
      handle = linker.downcallHandle(linker.defaultLookup().findOrThrow("free"), FunctionDescriptor.ofVoid(ADDRESS));
      free = handle;
    }
    return handle;
  }
}

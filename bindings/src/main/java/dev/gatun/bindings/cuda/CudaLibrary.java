package dev.gatun.bindings.cuda;

import dev.gatun.bindings.linking.AllowedFunctions;
import dev.gatun.bindings.linking.DynamicLinker;
import dev.gatun.bindings.linking.LibraryVetting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The library of the CUDA driver behind {@link CudaC}, one a process. It comes with the driver, never with a CUDA toolkit.
 */
public final class CudaLibrary {
  /** What the driver's library is called wherever there is one. */
  public static final String NAME = "libcuda.so.1";

  private static final Set<String> OPTIONAL = Set.of("cuMemcpyBatchAsync"); // 12.8
  private static @Nullable Path loaded;

  private CudaLibrary() {}

  /**
   * Loads the driver's library for the life of the process and links every function, so that no later call finds
   * anything left to link. Repeating it does nothing. May be called from any thread. Blocks.
   *
   * @param library
   *            its file, or null to let the dynamic linker find {@link #NAME}
   * @return the file that is loaded
   * @throws IllegalStateException
   *             if this process has loaded another one: start another process for it
   * @throws UnsatisfiedLinkError
   *             if it is missing, the dynamic linker refuses it (the message has the linker's reason), or it lacks
   *             functions (the message lists all of them): nothing has been bound, and another may be tried
   */
  public static synchronized Path load(@Nullable Path library) {
    Path file = library == null ? find() : LibraryVetting.identity(library);
    if (loaded != null) {
      if (loaded.equals(file)) return loaded;
      throw new IllegalStateException("this process is bound to the CUDA driver " + loaded + " and cannot be bound to "
          + file + " as well: use one a process");
    }
    List<String> functions = new ArrayList<>(AllowedFunctions.of(CudaC.class, "gatun_cuda.includes"));
    functions.removeAll(OPTIONAL);
    LibraryVetting.require(List.of(file), functions, "install a driver of CUDA 12.4 or newer");
    loaded = file; // before loading: it counts as soon as it is mapped
    System.load(file.toString());
    functions.forEach(CudaLibrary::link);
    if (supportsBatchCopies()) link("cuMemcpyBatchAsync");
    return file;
  }

  /** {@return whether the loaded library has {@code cuMemcpyBatchAsync}} False before {@link #load}. */
  public static boolean supportsBatchCopies() {
    return SymbolLookup.loaderLookup().find("cuMemcpyBatchAsync").isPresent();
  }

  private static void link(String function) {
    try {
      CudaC.class.getMethod(function + "$handle").invoke(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("no binding of " + function + ": regenerate the bindings", e);
    }
  }

  /** Where the dynamic linker finds the library: it is opened by name, and one of its functions leads to the file. */
  private static Path find() {
    try {
      SymbolLookup opened = SymbolLookup.libraryLookup(NAME, Arena.global()); // process: drivers are never unmapped
      long address = opened.findOrThrow("cuInit").address();
      for (String mapping : Files.readAllLines(Path.of("/proc/self/maps"))) {
        int dash = mapping.indexOf('-');
        int path = mapping.indexOf('/');
        if (path < 0) continue;
        long first = Long.parseUnsignedLong(mapping, 0, dash, 16);
        long end = Long.parseUnsignedLong(mapping, dash + 1, mapping.indexOf(' '), 16);
        if (Long.compareUnsigned(first, address) <= 0 && Long.compareUnsigned(address, end) < 0) {
          return Path.of(mapping.substring(path)).toRealPath();
        }
      }
      throw new IllegalStateException(NAME + " was opened, but no mapping of this process holds its cuInit");
    } catch (IllegalArgumentException e) {
      UnsatisfiedLinkError error = new UnsatisfiedLinkError("cannot open " + NAME + ": " + DynamicLinker.refusal(NAME));
      error.initCause(e);
      throw error;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot find the file of " + NAME, e);
    }
  }
}
